package dirlock

import "cmp"

// Owners wait for each other if there is a cycle in this graph: a waiter of X
// makes an edge to each other owner of a manual lock that it conflicts with, and
// to each other owner of an earlier waiter that holds it back. Automatic locks
// end by themselves and make none.

// edges visits the locks and waiters to whose holders r makes an edge, until
// visit returns false. That is what it returns then.
func (t *Table) edges(r *record, visit func(*record) bool) bool {
	other := func(b *record) bool { return b.own == r.own || visit(b) }
	return t.held.overlapping(r.Dirs, func(lock *record) bool { return !lock.Manual || other(lock) }) &&
		t.heldBack(r, other)
}

// deadlock returns the refusal of a new request that would close a cycle if it
// waited, or nil.
func (t *Table) deadlock(r *record) *Error {
	if len(r.own.waiting) == 0 && !t.awaited(r.own) {
		return nil // nobody waits for this owner
	}
	return t.cycle(r)
}

// cycle returns the refusal of a request that is on a cycle, or nil. It need not
// be in the queue.
func (t *Table) cycle(r *record) *Error {
	ahead, waitedBy := t.ahead(r)
	lead := map[*holdings]bool{} // to the owner
	for next := waitedBy[r.own]; len(next) > 0; {
		h := next[len(next)-1]
		next = next[:len(next)-1]
		if !lead[h] {
			lead[h] = true
			next = append(next, waitedBy[h]...)
		}
	}
	if len(lead) == 0 {
		return nil
	}
	var first *blocker
	t.edges(r, func(b *record) bool {
		if !lead[b.own] {
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
	return ErrDeadlock.with(Error{Blocking: first.dir, BlockingOwner: first.Agent, Held: t.cycleEnd(r.own, ahead)})
}

// ahead returns the holders that r would wait for, directly or through others,
// and who of these waits for whom, or for the holder of r.
func (t *Table) ahead(r *record) (found map[*holdings]bool, waitedBy map[*holdings][]*holdings) {
	found, waitedBy = map[*holdings]bool{}, map[*holdings][]*holdings{}
	var next []*holdings
	find := func(b *record) bool {
		if b.own != r.own && !found[b.own] {
			found[b.own] = true
			next = append(next, b.own)
		}
		return true
	}
	t.edges(r, find)
	for len(next) > 0 {
		h := next[len(next)-1]
		next = next[:len(next)-1]
		for _, w := range h.waiting {
			t.edges(w, func(b *record) bool {
				if by := waitedBy[b.own]; len(by) == 0 || by[len(by)-1] != h {
					waitedBy[b.own] = append(by, h)
				}
				return find(b)
			})
		}
	}
	return found, waitedBy
}

// before reports whether b is the one to name: a lock rather than a waiter, then
// the smaller directory.
func (b blocker) before(c blocker) bool {
	if (b.token == 0) != (c.token == 0) {
		return c.token == 0
	}
	return cmp.Or(cmp.Compare(b.dir, c.dir), cmp.Compare(b.id, c.id)) < 0
}

// cycleEnd returns the smallest manual lock of a holder for which one of others
// waits, or "" if they only wait in the queue.
func (t *Table) cycleEnd(own *holdings, others map[*holdings]bool) string {
	dir := ""
	for _, lock := range own.manual {
		if !t.queue.overlapping(lock.Dirs, func(w *record) bool { return !others[w.own] }) {
			dir = smaller(dir, lock.Dirs[0].Path)
		}
	}
	return dir
}

// youngestInCycle returns the youngest waiter that is on a cycle, and its
// refusal; nil if there is no cycle.
func (t *Table) youngestInCycle() (*record, *Error) {
	k := knots{Table: t, order: map[*holdings]int{}, low: map[*holdings]int{}, knot: map[*holdings]int{}}
	for _, own := range t.holders {
		// A cycle goes through an owner that is waited for by one thing and
		// waits with another: what waits for waiters arrived later than they.
		if k.order[own] == 0 && len(own.waiting) > 0 && (len(own.waiting) > 1 || t.awaited(own)) {
			k.enter(own)
		}
	}
	if !k.tied {
		return nil, nil
	}
	var youngest *record
	for own, knot := range k.knot {
		for _, w := range own.waiting {
			if youngest != nil && w.id < youngest.id {
				continue
			}
			if !t.edges(w, func(b *record) bool { return k.knot[b.own] != knot }) {
				youngest = w
			}
		}
	}
	return youngest, t.cycle(youngest)
}

// knots finds the sets of holders that all wait for each other, directly or
// through others: the strongly connected components of the graph, by Tarjan's
// algorithm (SIAM Journal on Computing 1, 1972).
type knots struct {
	*Table
	order, low map[*holdings]int // when a holder was found, and the earliest that it leads back to
	open       []*holdings       // whose knot is not known yet
	knot       map[*holdings]int // the order of the first of each
	tied       bool              // one has more than one holder
}

func (k *knots) enter(h *holdings) {
	k.order[h] = len(k.order) + 1
	k.low[h] = k.order[h]
	position := len(k.open)
	k.open = append(k.open, h)
	for _, w := range h.waiting {
		k.edges(w, func(b *record) bool {
			if k.order[b.own] == 0 {
				k.enter(b.own)
			}
			if k.knot[b.own] == 0 {
				k.low[h] = min(k.low[h], k.low[b.own])
			}
			return true
		})
	}
	if k.low[h] < k.order[h] {
		return
	}
	for _, member := range k.open[position:] {
		k.knot[member] = k.order[h]
	}
	k.tied = k.tied || len(k.open) > position+1
	k.open = k.open[:position]
}
