package workspace

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// renameExclusive renames the file with a name in the directory of p to the
// name of p, unless that is taken. The error is [errors.ErrUnsupported] if the
// file system cannot do so.
func renameExclusive(p place, name string) error {
	dir := int(p.handle.Fd())
	err := unix.Renameat2(dir, name, dir, p.base, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) {
		err = fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}
