package artifact

import (
	"os"

	"golang.org/x/sys/unix"
)

// openSearch opens a directory to reach names in it. Unlike O_RDONLY it does
// not need the permission to list it.
const openSearch = unix.O_PATH

// isMountPoint reports whether something else is mounted on a name. The device
// does not tell for a directory of the same file system (a bind mount).
func isMountPoint(dir *os.File, name string) bool {
	var st unix.Statx_t
	err := at("statx", dir, name, func(dir int) error {
		return unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS, &st)
	})
	return err == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
