package dirlock

import (
	"cmp"
	"slices"
	"time"
)

// A Held is a manual lock, as it is or was held.
type Held struct {
	Owner  Owner
	Dir    string // canonical
	Token  Token
	Waited time.Duration // before it was granted, of [Manager.LockManual]
	// ActiveTools is how many automatic locks of the owner were at or below it
	// when it was released.
	ActiveTools int
}

// Unlock releases the holder's manual lock on just this directory. Otherwise the
// error is [ErrNotHeld]; it consumes the notice of a lost lock.
func (t *Table) Unlock(h Holder, dir Dir, now int64) (Held, *Error) {
	if lock := t.of(h).locked.exactly(dir, isManual); lock != nil {
		held := t.describe(lock)
		t.end(now, lock)
		return held, nil
	}
	if n, ok := t.takeNotice(h, func(d Dir) bool { return d.Path == dir.Path }); ok {
		return Held{}, ErrNotHeld.with(Error{Agent: h.Agent, Requested: dir.Path, Reason: n.reason, ReleasedBy: n.by})
	}
	return Held{}, t.notHeld(h.Agent, dir, func(lock *record) bool { return lock.Holder == h })
}

func isManual(lock *record) bool { return lock.Manual }

// ForceUnlock releases the manual lock that an agent of this id has on just this
// directory, whatever its instance, and leaves its holder a notice. Otherwise the
// error is [ErrNotHeld].
func (t *Table) ForceUnlock(by, victim Owner, dir Dir, now int64) (Held, *Error) {
	lock := t.held.exactly(dir, func(lock *record) bool { return lock.Manual && lock.Agent == victim })
	if lock == nil {
		return Held{}, t.notHeld(victim, dir, func(lock *record) bool { return lock.Agent == victim })
	}
	return t.force([]*record{lock}, by, now)[0], nil
}

// ForceUnlockOverlapping releases all manual locks that overlap a directory and
// leaves their holders notices. The result is in the order of directories.
func (t *Table) ForceUnlockOverlapping(by Owner, dir Dir, now int64) []Held {
	var found []*record
	t.held.overlapping([]Dir{dir}, func(lock *record) bool {
		if lock.Manual {
			found = append(found, lock)
		}
		return true
	})
	slices.SortFunc(found, func(a, b *record) int {
		return cmp.Or(cmp.Compare(a.Dirs[0].Path, b.Dirs[0].Path), cmp.Compare(a.id, b.id))
	})
	return t.force(slices.Compact(found), by, now)
}

// force ends manual locks against the will of their holders. What their tools
// lock for themselves stays.
func (t *Table) force(locks []*record, by Owner, now int64) []Held {
	var all []Held
	for _, lock := range locks {
		all = append(all, t.describe(lock))
		t.addNotice(notice{lock.Holder, lock.Dirs[0], ReasonForced, by})
	}
	t.end(now, locks...)
	return all
}

func (t *Table) describe(lock *record) Held {
	return Held{
		Owner:       lock.Agent,
		Dir:         lock.Dirs[0].Path,
		Token:       Token{t.epoch, lock.token},
		ActiveTools: t.active(lock),
	}
}

// active returns how many automatic locks of its holder are under a manual lock.
func (t *Table) active(lock *record) int {
	tools := map[uint64]bool{}
	t.held.overlapping(lock.Dirs, func(r *record) bool {
		if !r.Manual && r.own == lock.own && slices.ContainsFunc(r.Dirs, lock.Dirs[0].covers) {
			tools[r.id] = true
		}
		return true
	})
	return len(tools)
}

// notHeld says that there is no such lock, and which one overlaps: one that is
// the agent's own, or else one of another.
func (t *Table) notHeld(agent Owner, dir Dir, own func(*record) bool) *Error {
	e := ErrNotHeld.with(Error{Agent: agent, Requested: dir.Path})
	t.held.overlapping([]Dir{dir}, func(lock *record) bool {
		switch path := lock.Dirs[0].Path; {
		case !lock.Manual:
		case own(lock):
			e.Held = smaller(e.Held, path)
		case smaller(e.Blocking, path) == path:
			e.Blocking, e.BlockingOwner = path, lock.Agent
		}
		return true
	})
	if e.Held != "" {
		e.Blocking, e.BlockingOwner = "", ""
	}
	return e
}
