package workspace

import (
	"cmp"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// renameExclusive renames what has the name of a place to that of another one,
// unless that is taken. The error is [errors.ErrUnsupported] if the
// file system cannot do so.
func renameExclusive(from, to place) error {
	if err := cmp.Or(from.missingError(), to.missingError()); err != nil {
		return err
	}
	err := unix.Renameat2(from.fd(), from.base, to.fd(), to.base, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) {
		err = fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}
