package workspace

import "golang.org/x/sys/unix"

// renameExclusive renames the file with a name in the directory of p to the
// name of p, unless that is taken. The error is [errors.ErrUnsupported] if the
// file system cannot do so.
func renameExclusive(p place, name string) error {
	dir := int(p.handle.Fd())
	return unix.RenameatxNp(dir, name, dir, p.base, unix.RENAME_EXCL)
}
