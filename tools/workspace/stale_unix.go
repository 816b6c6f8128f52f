//go:build unix

package workspace

import (
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// staleDigits is how many digits at least a name must end in to be one that
// renameio made up. It draws from 63 bits: one in ten thousand names is shorter.
const staleDigits = 15

// removeStale removes temporary files of the place that were left by processes
// that were killed. A file is one of these if it has such a name, belongs to
// this user, and nobody has it open. What cannot be told stays.
func removeStale(p place) {
	list, err := p.root.Open(".")
	if err != nil {
		return
	}
	defer list.Close()
	prefix := "." + p.base
	for {
		names, err := list.Readdirnames(1024)
		for _, name := range names {
			if digits, ok := strings.CutPrefix(name, prefix); ok && isRandom(digits) {
				removeIfStale(p, name)
			}
		}
		if err == io.EOF || err != nil { //nolint:errorlint // any error ends the list
			return
		}
	}
}

// isRandom reports whether s is a number as renameio puts it in a name.
func isRandom(s string) bool {
	return len(s) >= staleDigits && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

func removeIfStale(p place, name string) {
	p.base = name
	found, err := p.lstat()
	if err != nil || !found.mode().IsRegular() || found.links() != 1 || int(found.uid) != os.Geteuid() {
		return
	}
	f, err := openRegularIn(p)
	if err != nil {
		return
	}
	defer f.Close()
	if opened, err := stampOf(f); err == nil && opened.equal(found) && isAbandoned(f) {
		_ = p.root.Remove(name)
	}
}

// isAbandoned reports whether no other process has the file open, as far as
// locks tell it.
func isAbandoned(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && !isOpenElsewhere(f)
}
