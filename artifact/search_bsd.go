//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import "golang.org/x/sys/unix"

// openSearch opens a directory to reach names in it. O_SEARCH is not known to
// all of these systems.
const openSearch = unix.O_RDONLY
