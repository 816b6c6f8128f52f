//go:build unix

package dirlock

import "golang.org/x/sys/unix"

const separators = "/"

func rootIdentity(string) Identity { return identityOf("/") }

func identityOf(path string) Identity {
	var st unix.Stat_t
	for {
		err := unix.Lstat(path, &st)
		if err == nil {
			return Identity{uint64(st.Dev), uint64(st.Ino)} // the types differ between systems
		}
		if err != unix.EINTR { //nolint:errorlint // a bare errno
			return Identity{}
		}
	}
}
