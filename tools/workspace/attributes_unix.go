//go:build unix

package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// copyAttributes gives f the owner, the mode and the extended attributes of
// model, whose state is s, as far as it can; the error says what it could not.
// Access control lists are extended attributes where the system shows them so.
// The owner goes first: chown(2) clears bits of the mode.
func copyAttributes(f, model *os.File, s stamp) error {
	have, err := stampOf(f)
	if err != nil {
		return err
	}
	fd := int(f.Fd())
	var ownerErr error
	if have.uid != s.uid || have.gid != s.gid {
		ownerErr = unix.Fchown(fd, int(s.uid), int(s.gid))
	}
	modeErr := unix.Fchmod(fd, s.bits&keptMode)
	return errors.Join(ownerErr, modeErr, copyXattrs(fd, int(model.Fd())))
}
