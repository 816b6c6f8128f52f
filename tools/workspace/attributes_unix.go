//go:build unix

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// copyAttributes gives f the owner, the mode and the extended attributes of
// model, whose state is s. Access control lists are extended attributes where
// the system shows them so. The owner goes first: chown(2) clears bits of the
// mode.
func copyAttributes(f, model *os.File, s stamp) error {
	have, err := stampOf(f)
	if err != nil {
		return err
	}
	fd := int(f.Fd())
	if have.Uid != s.Uid || have.Gid != s.Gid {
		if err := unix.Fchown(fd, int(s.Uid), int(s.Gid)); err != nil {
			return err
		}
	}
	if err := unix.Fchmod(fd, uint32(s.Mode)&keptMode); err != nil {
		return err
	}
	return copyXattrs(fd, int(model.Fd()))
}
