package artifact

import (
	"time"
)

const (
	// StaleAge is how long ago a directory must have changed before a Spool
	// takes it for the remains of a crash.
	StaleAge = 15 * time.Minute
	// MaxSwept is how many entries of the parent directory are examined.
	MaxSwept = 4096
)

// Sweep removes artifacts of this user in dir that dead processes have left,
// and returns how many. Empty strings stand for the defaults of [Options]; the
// Spool does it once by itself.
//
// An entry PREFIX-UID-… is removed only if all of this holds: it is a directory
// and no symbolic link, it belongs to this user, group and others have no
// permission for it, it is on the file system of dir, it did not change for
// minAge by the wall clock, and its owner.lock is absent or is a regular file of
// this user that has no other name and that nobody has locked. The lock decides
// whether a process is alive, not a process id, which can be reused.
//
// Of such a directory, the entries named output and owner.lock are unlinked, and
// then it is removed, unless it has anything else in it. Nothing is done
// recursively and no link is followed.
//
// Every doubt means that an entry is left, and is no error. The error says why
// dir could not be examined: [fs.ErrInvalid] for the prefix, [ErrUnsafeDir],
// [ErrUnsupported], or one of the system.
//
// A minAge of less than a few seconds can make another process fail that is just
// creating or removing an artifact. It never takes one from it that is saved.
func Sweep(dir, prefix string, minAge time.Duration) (removed int, err error) {
	dir, prefix = defaults(dir, prefix)
	if err := checkPrefix(prefix); err != nil {
		return 0, err
	}
	return sweep(dir, prefix, minAge)
}
