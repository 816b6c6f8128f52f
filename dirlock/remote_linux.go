package dirlock

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// refuseRemote refuses a directory on a network file system: locks there do not
// end as they must when a process dies.
func refuseRemote(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if isRemote(uint32(st.Type)) { // the types differ between architectures
		return fmt.Errorf("state directory %q is on a network file system", dir)
	}
	return nil
}

func isRemote(magic uint32) bool {
	switch magic {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return true
	}
	return false
}
