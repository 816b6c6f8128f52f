package diff

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
)

// Bounds of the search for a shortest script. They are counts, never times, so
// that equal input gives equal output on every machine.
const (
	maxChanges = 20_000      // removed plus added lines up to which the script is shortest
	maxSteps   = 500_000_000 // of one search
	anchorings = 8           // times that each item is looked at for anchors
)

// A block is a maximal run of changes: old[oldLo:oldHi] became
// new[newLo:newHi].
type block struct{ oldLo, oldHi, newLo, newHi int }

// shortest returns the blocks of a shortest script that turns old into new: of
// any valid one if that would take too long.
func shortest(old, new items) []block {
	return bounded(old, new, maxChanges, maxSteps)
}

// bounded is shortest with other bounds.
func bounded(old, new items, changes, steps int) []block {
	for {
		seed := maphash.MakeSeed() // no result depends on it
		s := &search{
			old: newSide(seed, old), new: newSide(seed, new),
			changes: changes, steps: steps, anchoring: anchorings * (old.len() + new.len()),
		}
		s.compare(0, old.len(), 0, new.len())
		if s.isTrue() {
			return slide(s.blocks, s.old, s.new)
		}
	}
}

// A side is the items of one side of a comparison: lines with their endings,
// or tokens. The search compares their hashes, which is several times faster,
// and looks at the items themselves only once, at its end.
type side struct {
	items
	hashes []uint64
}

func newSide(seed maphash.Seed, items items) side {
	hashes := make([]uint64, items.len())
	for i := range hashes {
		hashes[i] = maphash.Bytes(seed, items.at(i))
	}
	return side{items, hashes}
}

// A search finds a shortest script in linear space: it looks for a point in the
// middle of one from both ends at once, and then on both sides of that point
// (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986).
type search struct {
	old, new          side
	forward, backward []int // how far each diagonal has got, from either end
	changes           int   // up to which a script is searched for
	steps             int   // that may still be made
	anchoring         int   // items that may still be looked at for anchors
	blocks            []block
}

// compare appends the blocks of old[oldLo:oldHi] and new[newLo:newHi].
func (s *search) compare(oldLo, oldHi, newLo, newHi int) {
	for oldLo < oldHi && newLo < newHi && s.same(oldLo, newLo) {
		oldLo++
		newLo++
	}
	for oldLo < oldHi && newLo < newHi && s.same(oldHi-1, newHi-1) {
		oldHi--
		newHi--
	}
	if oldLo == oldHi || newLo == newHi {
		s.add(block{oldLo, oldHi, newLo, newHi})
		return
	}
	if x, y, ok := s.middle(oldLo, oldHi, newLo, newHi); ok {
		s.compare(oldLo, x, newLo, y)
		s.compare(x, oldHi, y, newHi)
		return
	}
	anchors := s.anchors(oldLo, oldHi, newLo, newHi)
	if len(anchors) == 0 {
		s.add(block{oldLo, oldHi, newLo, newHi})
		return
	}
	for _, p := range anchors {
		s.compare(oldLo, p.old, newLo, p.new)
		oldLo, newLo = p.old+1, p.new+1
	}
	s.compare(oldLo, oldHi, newLo, newHi)
}

// same reports whether item i of old is item j of new, as far as their hashes
// tell.
func (s *search) same(i, j int) bool { return s.old.hashes[i] == s.new.hashes[j] }

// isTrue reports whether all items that count as equal are. Otherwise two that
// differ have one hash, which another seed will mend.
func (s *search) isTrue() bool {
	i, j := 0, 0
	for _, b := range append(s.blocks, block{s.old.len(), 0, s.new.len(), 0}) {
		for ; i < b.oldLo; i, j = i+1, j+1 {
			if !bytes.Equal(s.old.at(i), s.new.at(j)) {
				return false
			}
		}
		i, j = b.oldHi, b.newHi
	}
	return true
}

// add appends a block, joined to the one before it if nothing is between.
func (s *search) add(b block) {
	if b.oldLo == b.oldHi && b.newLo == b.newHi {
		return
	}
	if n := len(s.blocks); n > 0 && s.blocks[n-1].oldHi == b.oldLo && s.blocks[n-1].newHi == b.newLo {
		s.blocks[n-1].oldHi, s.blocks[n-1].newHi = b.oldHi, b.newHi
		return
	}
	s.blocks = append(s.blocks, b)
}

// middle returns a point on a shortest path from (oldLo, newLo) to (oldHi,
// newHi), about half way, unless the path or the search for it is too long.
// Neither range is empty, and they differ at both ends.
func (s *search) middle(oldLo, oldHi, newLo, newHi int) (x, y int, ok bool) {
	n, m := oldHi-oldLo, newHi-newLo
	limit := min((n+m+1)/2, s.changes/2)
	zero := limit + 1 // where diagonal 0 is
	if need := 2*zero + 1; len(s.forward) < need {
		s.forward, s.backward = make([]int, need), make([]int, need)
	}
	s.forward[zero+1], s.backward[zero+1] = 0, 0

	delta := n - m
	for d := 0; d <= limit && s.steps > 0; d++ {
		// Diagonals that have left the rectangle are of no use.
		low, high := -d+2*max(0, d-m), d-2*max(0, d-n)
		for k := low; k <= high; k += 2 {
			x := step(s.forward, zero, k, d)
			start := x
			for x < n && x-k < m && s.same(oldLo+x, newLo+x-k) {
				x++
			}
			s.forward[zero+k] = x
			s.steps -= 1 + x - start
			if r := delta - k; delta&1 != 0 && -d < r && r < d && x+s.backward[zero+r] >= n {
				return oldLo + x, newLo + x - k, true
			}
		}
		for k := low; k <= high; k += 2 {
			x := step(s.backward, zero, k, d)
			start := x
			for x < n && x-k < m && s.same(oldHi-1-x, newHi-1-(x-k)) {
				x++
			}
			s.backward[zero+k] = x
			s.steps -= 1 + x - start
			if r := delta - k; delta&1 == 0 && -d <= r && r <= d && x+s.forward[zero+r] >= n {
				return oldHi - x, newHi - (x - k), true
			}
		}
	}
	return 0, 0, false
}

// step returns how far diagonal k gets with its d-th change: down from the one
// above it or right from the one below, whichever is further.
func step(reach []int, zero, k, d int) int {
	if k == -d || k != d && reach[zero+k-1] < reach[zero+k+1] {
		return reach[zero+k+1]
	}
	return reach[zero+k-1] + 1
}

// A pair is an item of old and the same item of new.
type pair struct{ old, new int }

// anchors returns items that stand once in either range, as many as can be
// matched in order. They split a problem that is too large.
func (s *search) anchors(oldLo, oldHi, newLo, newHi int) []pair {
	if s.anchoring -= oldHi - oldLo + newHi - newLo; s.anchoring < 0 {
		return nil
	}
	type count struct{ inOld, inNew, at int }
	counts := make(map[uint64]count)
	for i := oldLo; i < oldHi; i++ {
		c := counts[s.old.hashes[i]]
		counts[s.old.hashes[i]] = count{c.inOld + 1, 0, i}
	}
	for j := newLo; j < newHi; j++ {
		if c, ok := counts[s.new.hashes[j]]; ok {
			c.inNew++
			counts[s.new.hashes[j]] = c
		}
	}
	var unique []pair
	for j := newLo; j < newHi; j++ {
		c := counts[s.new.hashes[j]]
		if c.inOld == 1 && c.inNew == 1 {
			unique = append(unique, pair{c.at, j})
		}
	}
	return increasing(unique)
}

// increasing returns a longest subsequence of pairs, which ascend in new, that
// ascends in old as well.
func increasing(pairs []pair) []pair {
	var ends []int                    // ends[n] is the pair that a subsequence of n+1 ends with
	before := make([]int, len(pairs)) // the pair before each in its subsequence
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p.old, func(at, old int) int { return cmp.Compare(pairs[at].old, old) })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	list := make([]pair, len(ends))
	for i, at := len(ends)-1, ends[len(ends)-1]; i >= 0; i-- {
		list[i] = pairs[at]
		at = before[at]
	}
	return list
}

// slide moves each pure removal or addition as far down as it goes, as diff
// and git do: what was added is then shown as one thing with its own end, not
// with that of its neighbour. It joins blocks that meet.
func slide(blocks []block, old, new side) []block {
	var list []block // from the last one to the first
	for _, b := range slices.Backward(blocks) {
		for {
			limit := old.len()
			if n := len(list); n > 0 {
				limit = list[n-1].oldLo
			}
			for b.oldHi < limit && slides(b, old, new) {
				b = block{b.oldLo + 1, b.oldHi + 1, b.newLo + 1, b.newHi + 1}
			}
			n := len(list)
			if n == 0 || b.oldHi < limit {
				break
			}
			b.oldHi, b.newHi = list[n-1].oldHi, list[n-1].newHi
			list = list[:n-1]
		}
		list = append(list, b)
	}
	slices.Reverse(list)
	return list
}

// slides reports whether b can be shown one item further down: the item behind
// it is the same as its first one.
func slides(b block, old, new side) bool {
	switch {
	case b.newLo == b.newHi:
		return bytes.Equal(old.at(b.oldLo), old.at(b.oldHi))
	case b.oldLo == b.oldHi:
		return bytes.Equal(new.at(b.newLo), new.at(b.newHi))
	default:
		return false
	}
}
