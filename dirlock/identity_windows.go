package dirlock

import "golang.org/x/sys/windows"

const separators = `\/`

// rootIdentity is not known: what is above the volumes is no directory.
func rootIdentity(string) Identity { return Identity{} }

func identityOf(path string) Identity {
	if len(path) > 0 && path[len(path)-1] == ':' {
		path += `\` // the root of a volume
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Identity{}
	}
	// No access is needed to ask for this, and a directory needs the flag.
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return Identity{}
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing was written
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &info) != nil {
		return Identity{}
	}
	return Identity{uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}
}
