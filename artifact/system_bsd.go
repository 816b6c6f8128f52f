//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"os"

	"golang.org/x/sys/unix"
)

// openSearch opens a directory to reach names in it. O_SEARCH is not known to
// all of these systems.
const openSearch = unix.O_RDONLY

// isMountPoint reports whether something else is mounted on a name. These
// systems have no bind mounts: the device tells.
func isMountPoint(*os.File, string) bool { return false }
