package dirlock

import (
	"cmp"
	"slices"
)

// Owners wait for each other if there is a cycle in this graph: a waiter of X
// makes an edge to each other owner of a manual lock that it conflicts with, and
// to each other owner of an earlier waiter that holds it back. Automatic locks
// end by themselves and make none.

// edges visits the locks and waiters to whose holders r makes an edge, until
// visit returns false. That is what it returns then.
func (t *Table) edges(r *record, memo stuckMemo, visit func(*record) bool) bool {
	other := func(b *record) bool { return b.Holder == r.Holder || visit(b) }
	return t.held.overlapping(r.Dirs, func(lock *record) bool { return !lock.Manual || other(lock) }) &&
		t.heldBack(r, memo, other)
}

// deadlock returns the refusal of a new request that would close a cycle if it
// waited, or nil.
func (t *Table) deadlock(r *record) *Error {
	if len(r.own.manual)+len(r.own.waiting) == 0 {
		return nil // nobody waits for this owner
	}
	return t.cycle(r)
}

// cycle returns the refusal of a request that is on a cycle, or nil. It need not
// be in the queue.
func (t *Table) cycle(r *record) *Error {
	memo := stuckMemo{}
	var first *blocker // of those that lead back to the owner
	t.edges(r, memo, func(b *record) bool {
		if first != nil && first.record == b || !t.reaches(b.Holder, r.Holder, memo) {
			return true
		}
		for _, d := range b.Dirs {
			next := blocker{b, d.Path}
			if overlapsAny(d, r.Dirs) && (first == nil || next.before(*first)) {
				first = &next
			}
		}
		return true
	})
	if first == nil {
		return nil
	}
	return ErrDeadlock.with(Error{Blocking: first.dir, BlockingOwner: first.Agent, Held: t.cycleEnd(r, memo)})
}

// before reports whether b is the one to name: a lock rather than a waiter, then
// the smaller directory.
func (b blocker) before(c blocker) bool {
	if (b.token == 0) != (c.token == 0) {
		return c.token == 0
	}
	return cmp.Or(cmp.Compare(b.dir, c.dir), cmp.Compare(b.id, c.id)) < 0
}

// reaches reports whether there is a path from one holder to another.
func (t *Table) reaches(from, to Holder, memo stuckMemo) bool {
	found := from == to
	t.reachable(from, memo, func(_, b *record) bool {
		found = found || b.Holder == to
		return !found
	})
	return found
}

// reachable visits the edges of a holder and of all that it reaches, until visit
// returns false.
func (t *Table) reachable(from Holder, memo stuckMemo, visit func(waiter, target *record) bool) {
	seen := map[Holder]bool{from: true}
	next := []Holder{from}
	for len(next) > 0 {
		h := next[len(next)-1]
		next = next[:len(next)-1]
		for _, w := range t.of(h).waiting {
			ok := t.edges(w, memo, func(b *record) bool {
				if !seen[b.Holder] {
					seen[b.Holder] = true
					next = append(next, b.Holder)
				}
				return visit(w, b)
			})
			if !ok {
				return
			}
		}
	}
}

// cycleEnd returns the smallest manual lock of r's holder for which those wait
// whom r would wait for, or "" if they only wait in the queue.
func (t *Table) cycleEnd(r *record, memo stuckMemo) string {
	dir := ""
	t.edges(r, memo, func(b *record) bool {
		t.reachable(b.Holder, memo, func(w, target *record) bool {
			if target.Holder == r.Holder && target.token != 0 && w.Holder != r.Holder {
				dir = smaller(dir, target.Dirs[0].Path)
			}
			return true
		})
		return true
	})
	return dir
}

// youngestInCycle returns the youngest waiter that is on a cycle, and its
// refusal; nil if there is no cycle.
func (t *Table) youngestInCycle() (*record, *Error) {
	memo := stuckMemo{}
	if !t.cyclic(memo) {
		return nil, nil
	}
	var waiters []*record
	for _, own := range t.holders {
		waiters = append(waiters, own.waiting...)
	}
	slices.SortFunc(waiters, func(a, b *record) int { return cmp.Compare(b.id, a.id) })
	for _, r := range waiters {
		if err := t.cycle(r); err != nil {
			return r, err
		}
	}
	return nil, nil
}

// cyclic reports whether the graph has a cycle.
func (t *Table) cyclic(memo stuckMemo) bool {
	const (
		entered = 1
		left    = 2
	)
	state := map[Holder]int{}
	var enter func(Holder) bool
	enter = func(h Holder) bool {
		state[h] = entered
		for _, w := range t.of(h).waiting {
			ok := t.edges(w, memo, func(b *record) bool {
				return state[b.Holder] == left || state[b.Holder] == 0 && !enter(b.Holder)
			})
			if !ok {
				return true
			}
		}
		state[h] = left
		return false
	}
	for h, own := range t.holders {
		// A cycle goes through an owner that is waited for by one thing and
		// waits with another: what waits for waiters arrived later than they.
		if len(own.waiting) > 0 && len(own.manual)+len(own.waiting) > 1 && state[h] == 0 && enter(h) {
			return true
		}
	}
	return false
}
