package dirlock

import (
	"cmp"
	"slices"
)

// grantable reports whether r can have its lock now. Requests that wait are held
// back only by those that arrived earlier.
func (t *Table) grantable(r *record, stuck stuckMemo) bool {
	covered := r.covered()
	if t.blocked(r, covered) {
		return false
	}
	return covered || t.heldBack(r, stuck, func(*record) bool { return false })
}

// covered reports whether each directory of an automatic request or lock is
// equal to, or below, a manual lock of its holder.
func (r *record) covered() bool {
	manual := r.own.manual
	if r.Manual || len(manual) == 0 {
		return false
	}
	for _, d := range r.Dirs {
		if !slices.ContainsFunc(manual, func(lock *record) bool { return lock.Dirs[0].covers(d) }) {
			return false
		}
	}
	return true
}

// blocked reports whether a lock that is held keeps r from being granted. For a
// covered request, only what other owners hold does: as a manual lock excludes
// them, that happens only if a directory has been moved since.
func (t *Table) blocked(r *record, covered bool) bool {
	return !t.held.overlapping(r.Dirs, func(lock *record) bool {
		return covered && lock.Holder == r.Holder || !r.conflicts(lock)
	})
}

// conflicts reports whether a lock on an overlapping directory keeps r from being
// granted, unless r is covered.
func (r *record) conflicts(lock *record) bool {
	if lock.Holder != r.Holder {
		return true
	}
	return !lock.Manual && !r.Manual && !lock.covered()
}

// heldBack visits the earlier waiters that hold r back, some more than once,
// until visit returns false. That is what it returns then.
func (t *Table) heldBack(r *record, memo stuckMemo, visit func(*record) bool) bool {
	return t.queue.overlapping(r.Dirs, func(w *record) bool {
		if w.id >= r.id || t.stuck(w, r.Holder, memo) {
			return true
		}
		return visit(w)
	})
}

// stuckMemo remembers answers of stuck while the table does not change; nil
// remembers nothing beyond one question.
type stuckMemo map[stuckQuestion]bool

type stuckQuestion struct {
	waiter uint64
	holder Holder
}

// stuck reports whether w cannot be granted before holder h releases a manual
// lock: because w conflicts with it, or is held back by a waiter of which that is
// true. Such a waiter does not hold h back, as they would wait for each other.
func (t *Table) stuck(w *record, h Holder, memo stuckMemo) bool {
	manual := t.of(h).manual
	if w.Holder == h || len(manual) == 0 {
		return false
	}
	for _, lock := range manual {
		if overlapsAny(lock.Dirs[0], w.Dirs) {
			return true
		}
	}
	if memo == nil {
		memo = stuckMemo{}
	}
	q := stuckQuestion{w.id, h}
	if known, ok := memo[q]; ok {
		return known
	}
	memo[q] = !t.heldBack(w, memo, func(earlier *record) bool { return !t.stuck(earlier, h, memo) })
	return memo[q]
}

// A settling finds the waiters that a change may let go on, or may make wait for
// each other, and decides on them. It must begin before the change.
type settling struct {
	*Table
	// exempt: a holder has a manual lock and waits, before or after. Then what
	// holds back whom may change also where no directory of the change is.
	exempt bool
	dirty  []*record // to look at, in the order of arrival
}

func (t *Table) settling() *settling { return &settling{Table: t, exempt: t.exempting > 0} }

// settle looks at the waiters that the changed records can concern, in the order
// of arrival, until each is granted, refused, or has to wait. Then it refuses
// the youngest of those who wait for each other, if any, and begins again.
func (s *settling) settle(now int64, changed ...*record) {
	for _, r := range changed {
		s.touch(r)
	}
	for {
		for len(s.dirty) > 0 {
			r := s.dirty[0]
			s.dirty = s.dirty[1:]
			s.decide(r, now)
		}
		if !s.exempt {
			return
		}
		youngest, err := s.youngestInCycle()
		if youngest == nil {
			return
		}
		s.refuse(youngest, err)
		s.touch(youngest)
	}
}

func (s *settling) decide(r *record, now int64) {
	if r.Manual {
		if err := s.duplicate(r); err != nil {
			s.refuse(r, err)
			s.touch(r)
			return
		}
	}
	if s.grantable(r, nil) {
		s.grant(r, now)
		s.touch(r)
	}
}

// touch makes dirty what a change of r can concern: waiters for directories that
// overlap its own, or those of automatic locks that are covered now and were not
// before. If there are exemptions, then also those that overlap these, and so on.
func (s *settling) touch(r *record) {
	s.exempt = s.exempt || s.exempting > 0
	s.touchDirs(r.Dirs)
	if !r.Manual {
		return
	}
	for _, lock := range r.own.auto {
		if slices.ContainsFunc(lock.Dirs, r.Dirs[0].overlaps) {
			s.touchDirs(lock.Dirs)
		}
	}
}

func (s *settling) touchDirs(dirs []Dir) {
	s.queue.overlapping(dirs, func(w *record) bool {
		i, found := slices.BinarySearchFunc(s.dirty, w.id, func(r *record, id uint64) int { return cmp.Compare(r.id, id) })
		if !found {
			s.dirty = slices.Insert(s.dirty, i, w)
			if s.exempt {
				s.touchDirs(w.Dirs)
			}
		}
		return true
	})
}

// A blocker is why a request waits: a lock, or an earlier waiter.
type blocker struct {
	*record
	dir string // the smallest of its directories that overlap
}

// blockers returns the locks that r waits for, and those that hold it back if
// there are none, by directory.
func (t *Table) blockers(r *record) []blocker {
	var all []blocker
	found := func(b *record) bool {
		for _, d := range b.Dirs {
			if overlapsAny(d, r.Dirs) {
				all = append(all, blocker{b, d.Path})
			}
		}
		return true
	}
	t.held.overlapping(r.Dirs, func(lock *record) bool { return !r.conflicts(lock) || found(lock) })
	if len(all) == 0 {
		t.heldBack(r, stuckMemo{}, found)
	}
	slices.SortFunc(all, func(a, b blocker) int { return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.id, b.id)) })
	return slices.CompactFunc(all, func(a, b blocker) bool { return a.id == b.id && a.dir == b.dir })
}
