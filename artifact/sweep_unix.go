//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func sweep(dir, prefix string, minAge time.Duration) (removed int, err error) {
	return sweepWith(sweepEntry, dir, prefix, minAge)
}

// sweepWith hands each directory of the prefix to remove, which reports whether it
// has removed it.
func sweepWith(remove func(parent *os.File, name string, minAge time.Duration) bool, dir, prefix string, minAge time.Duration) (removed int, err error) {
	parent, err := openParent(dir, unix.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer parent.Close()
	names, err := parent.Readdirnames(MaxSwept)
	if errors.Is(err, io.EOF) { // empty
		return 0, nil
	}
	begin := namePrefix(prefix)
	for _, name := range names {
		if len(name) > len(begin) && strings.HasPrefix(name, begin) && remove(parent, name, minAge) {
			removed++
		}
	}
	return removed, err
}

// sweepEntry removes one entry if there is no doubt that it is ours and that
// its process is dead.
//
// What can be checked by name is checked before anything is opened; as parent
// is safe, nobody else can exchange the entry in between.
//
// Other processes may be at work on the same entry, to create or to sweep it.
// All hold its lock while they do, so it cannot be lost by a race, whatever the
// age: the age saves a process that has not got so far from having to fail.
func sweepEntry(parent *os.File, name string, minAge time.Duration) bool {
	if !stale(parent, name, minAge) {
		return false
	}
	st, err := lstatAt(parent, name+"/"+outputName)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return false // some systems let root unlink it
	}
	lock, err := lockDead(parent, name+"/"+lockName)
	if err != nil {
		return false
	}
	defer lock.Close()
	return unlinkAll(parent, name, outputName, lockName) == nil
}

// stale reports whether name is a private directory of this user that did not
// change for minAge.
func stale(parent *os.File, name string, minAge time.Duration) bool {
	in, err := stat(parent)
	if err != nil {
		return false
	}
	st, err := lstatAt(parent, name)
	return err == nil &&
		st.Mode&unix.S_IFMT == unix.S_IFDIR &&
		st.Mode&0o077 == 0 &&
		int(st.Uid) == os.Geteuid() &&
		st.Dev == in.Dev && !isMountPoint(parent, name) &&
		time.Since(time.Unix(st.Mtim.Unix())) >= minAge
}

var errDoubt = errors.New("artifact: not a lock file of ours")

// lockDead locks a lock file that nobody has locked. If there is none it makes
// one, which keeps a process out that would create it just now.
func lockDead(parent *os.File, name string) (*os.File, error) {
	flags := unix.O_RDWR | unix.O_NONBLOCK
	// Look before opening: opening a device or FIFO may have effects, and a
	// second name of some other file is not ours to lock.
	st, err := lstatAt(parent, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		flags |= unix.O_CREAT | unix.O_EXCL
	case err != nil:
		return nil, err
	case !isLock(&st):
		return nil, errDoubt
	}
	lock, err := openAt(parent, name, flags, modeFile)
	if err != nil {
		return nil, err
	}
	if err = flock(lock); err == nil {
		st, err = stat(lock) // again: it may have been unlinked by who had the lock
	}
	if err == nil && !isLock(&st) {
		err = errDoubt
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// isLock reports whether this can be the lock file of an artifact.
func isLock(st *unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFREG && int(st.Uid) == os.Geteuid() && st.Nlink == 1
}
