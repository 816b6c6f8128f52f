//go:build unix

package workspace

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxListed is how many names of a directory are looked at for temporary files
// that were left there.
const maxListed = 20_000

// removeStale removes temporary files beside the place that were left by
// processes that were killed: those with such a name that belong to this user
// and that nobody has open.
func removeStale(p place) {
	list, err := openDirectoryFrom(p.fd(), ".", 0) // reading it moves its handle
	if err != nil {
		return
	}
	defer list.close() //nolint:errcheck // it was only read
	const batch = 1024
	for range maxListed / batch {
		names, err := list.handle.Readdirnames(batch)
		for _, name := range names {
			if digits, ok := strings.CutPrefix(name, "."+pendingMark); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
				removeIfStale(p, name)
			}
		}
		if err != nil { // the end, most likely
			return
		}
	}
}

func removeIfStale(p place, name string) {
	target, _ := p.lstat()
	p = p.at(name)
	found, err := p.lstat()
	if err != nil || !found.mode().IsRegular() || int(found.uid) != os.Geteuid() {
		return
	}
	if found.links() != 1 && !found.sameFile(target) { // it may have been linked to its name, but to no other
		return
	}
	f, err := openRegularIn(p)
	if err != nil {
		return
	}
	defer f.Close()
	if opened, err := stampOf(f); err == nil && opened == found && isAbandoned(f) {
		_ = removeName(p)
	}
}

// isAbandoned reports whether no other process has the file open, as far as
// locks tell it.
func isAbandoned(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && !isOpenElsewhere(f)
}
