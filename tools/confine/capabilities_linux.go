package confine

import (
	"errors"

	"golang.org/x/sys/unix"
)

// noNewPrivileges makes sure that no program started from this thread, set-user-id
// root for one, has more rights than the thread.
func noNewPrivileges() error {
	return setup("no_new_privs", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
}

// escapes are the capabilities that lead out of a mount namespace: to undo its
// mounts or enter another, to use another process's root or directory in /proc,
// and to open a file by handle on a mount of one's choice. The last is no loss to
// root: CAP_DAC_OVERRIDE gives the rest of it.
var escapes = []int{unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_DAC_READ_SEARCH}

// dropEscapes takes the escapes from all capability sets of this thread, for good.
func dropEscapes() error {
	for _, c := range escapes {
		// Without CAP_SETPCAP it is no_new_privs alone that keeps root from
		// regaining at the next exec what is in the bounding set.
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EPERM) {
			return setup("drop capabilities", err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return setup("capget", err)
	}
	for _, c := range escapes {
		set, bit := &sets[c/32], uint32(1)<<(c%32)
		set.Effective &^= bit
		set.Permitted &^= bit
		set.Inheritable &^= bit // and with it the ambient set
	}
	return setup("capset", unix.Capset(&header, &sets[0]))
}

// dropAll empties all capability sets of this thread, for good.
func dropAll() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return setup("clear ambient capabilities", err)
	}
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) { // the kernel has no more
			break
		}
		if err != nil {
			return setup("drop capabilities", err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return setup("capset", unix.Capset(&header, &none[0]))
}
