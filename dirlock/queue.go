package dirlock

import (
	"cmp"
	"math/big"
	"slices"
)

// grantable reports whether r can have its lock now. Requests that wait are held
// back only by those that arrived earlier.
func (t *Table) grantable(r *record) bool {
	covered := r.covered()
	if t.blocked(r, covered) {
		return false
	}
	return covered || t.heldBack(r, func(*record) bool { return false })
}

// covered reports whether each directory of an automatic request or lock is
// equal to, or below, a manual lock of its holder.
func (r *record) covered() bool {
	if r.Manual || len(r.own.manual) == 0 {
		return false
	}
	return !slices.ContainsFunc(r.Dirs, func(d Dir) bool {
		return r.own.covering(d, func(*record) bool { return false })
	})
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
func (t *Table) heldBack(r *record, visit func(*record) bool) bool {
	return t.queue.overlapping(r.Dirs, func(w *record) bool {
		return w.id >= r.id || t.stuck(w, r.own) || visit(w)
	})
}

// stuck reports whether w cannot be granted before the holder o releases a manual
// lock: because w conflicts with it, or is held back by a waiter of which that is
// true. Such a waiter does not hold o back, as they would wait for each other.
func (t *Table) stuck(w *record, o *holdings) bool {
	return w.own != o && t.awaited(o) && t.behind(w).Bit(t.known().number(o)) == 1
}

// awaited reports whether another holder waits for a manual lock of o.
func (t *Table) awaited(o *holdings) bool {
	if len(o.manual) == 0 {
		return false
	}
	known := t.known().awaited
	yes, ok := known[o]
	if !ok {
		yes = !t.unawaited(o)
		known[o] = yes
	}
	return yes
}

// unawaited looks at the manual locks of o, or if they are fewer, at the waiters.
func (t *Table) unawaited(o *holdings) bool {
	own := func(w *record) bool { return w.own == o }
	if len(o.manual) <= t.waiting {
		return !slices.ContainsFunc(o.manual, func(lock *record) bool { return !t.queue.overlapping(lock.Dirs, own) })
	}
	return t.queue.all(func(w *record) bool {
		return own(w) || o.locked.overlapping(w.Dirs, func(*record) bool { return false })
	})
}

// behind returns the holders before whose release of a manual lock w cannot be
// granted, as a set of their numbers: see [Table.stuck].
func (t *Table) behind(w *record) *big.Int {
	known := t.known()
	set := known.behind[w]
	if set != nil {
		return set
	}
	set = new(big.Int)
	t.held.overlapping(w.Dirs, func(lock *record) bool {
		if lock.Manual && lock.own != w.own {
			set.SetBit(set, known.number(lock.own), 1)
		}
		return true
	})
	t.heldBack(w, func(earlier *record) bool {
		set.Or(set, t.behind(earlier))
		return true
	})
	known.behind[w] = set
	return set
}

// A memo is what was worked out about the waiters at one revision of the table.
type memo struct {
	revision uint64
	awaited  map[*holdings]bool
	numbers  map[*holdings]int
	behind   map[*record]*big.Int
}

// known returns the memo of the table as it is now.
func (t *Table) known() *memo {
	if t.memo == nil || t.memo.revision != t.revision {
		t.memo = &memo{t.revision, map[*holdings]bool{}, map[*holdings]int{}, map[*record]*big.Int{}}
	}
	return t.memo
}

// number returns a small number for a holder.
func (m *memo) number(o *holdings) int {
	n, ok := m.numbers[o]
	if !ok {
		n = len(m.numbers)
		m.numbers[o] = n
	}
	return n
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
	if len(s.dirty) == 0 {
		return // so who waits for whom is as it was
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
	if s.grantable(r) {
		s.grant(r, now)
		s.touch(r)
	}
}

// touch makes dirty what a change of r can concern: waiters for directories that
// overlap its own, or those of automatic locks that are covered now and were not
// before. If there are exemptions, then also those that overlap these, and so on.
func (s *settling) touch(r *record) {
	var done map[string][]Dir
	if s.exempt = s.exempt || s.exempting > 0; s.exempt {
		done = map[string][]Dir{}
	}
	s.touchDirs(r.Dirs, done)
	if !r.Manual {
		return
	}
	s.held.overlapping(r.Dirs, func(lock *record) bool {
		if !lock.Manual && lock.own == r.own {
			s.touchDirs(lock.Dirs, done)
		}
		return true
	})
}

// touchDirs goes on from waiter to waiter if there are exemptions. Then it passes
// over what is done: very many may wait for the same directory.
func (s *settling) touchDirs(dirs []Dir, done map[string][]Dir) {
	for _, d := range dirs {
		if slices.ContainsFunc(done[d.Path], func(e Dir) bool { return slices.Equal(e.Chain, d.Chain) }) {
			continue
		}
		if s.exempt {
			done[d.Path] = append(done[d.Path], d)
		}
		s.queue.overlapping([]Dir{d}, func(w *record) bool {
			i, found := slices.BinarySearchFunc(s.dirty, w.id, func(r *record, id uint64) int { return cmp.Compare(r.id, id) })
			if !found {
				s.dirty = slices.Insert(s.dirty, i, w)
			}
			if s.exempt {
				s.touchDirs(w.Dirs, done)
			}
			return true
		})
	}
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
		t.heldBack(r, found)
	}
	slices.SortFunc(all, func(a, b blocker) int { return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.id, b.id)) })
	return slices.CompactFunc(all, func(a, b blocker) bool { return a.id == b.id && a.dir == b.dir })
}
