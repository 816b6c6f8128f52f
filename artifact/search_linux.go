package artifact

import "golang.org/x/sys/unix"

// openSearch opens a directory to reach names in it. Unlike O_RDONLY it does
// not need the permission to list it.
const openSearch = unix.O_PATH
