//go:build unix

package dirlock

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// naive is the rules written out, each as the page says it, over plain lists.
type naive struct {
	held, queue, refused []*naiveRequest // in the order of arrival
	notices              []notice
	limits               Limits
}

type naiveRequest struct {
	id uint64
	Claim
	code string
}

func naiveOverlap(a, b *naiveRequest) bool {
	return slices.ContainsFunc(a.Dirs, func(d Dir) bool { return slices.ContainsFunc(b.Dirs, d.overlaps) })
}

func (n *naive) manual(h Holder) []*naiveRequest {
	var all []*naiveRequest
	for _, l := range n.held {
		if l.Manual && l.Holder == h {
			all = append(all, l)
		}
	}
	return all
}

// R7
func (n *naive) covered(r *naiveRequest) bool {
	if r.Manual {
		return false
	}
	for _, d := range r.Dirs {
		if !slices.ContainsFunc(n.manual(r.Holder), func(l *naiveRequest) bool { return l.Dirs[0].covers(d) }) {
			return false
		}
	}
	return true
}

// R8, R17, R19
func (n *naive) grantable(r *naiveRequest) bool {
	for _, l := range n.held {
		if !naiveOverlap(r, l) {
			continue
		}
		if l.Holder != r.Holder {
			return false
		}
		if !l.Manual && !r.Manual && !n.covered(l) && !n.covered(r) {
			return false
		}
	}
	return n.covered(r) || len(n.heldBack(r)) == 0
}

func (n *naive) heldBack(r *naiveRequest) []*naiveRequest {
	var by []*naiveRequest
	for _, w := range n.queue {
		if w.id < r.id && naiveOverlap(w, r) && !n.stuck(w, r.Holder) {
			by = append(by, w)
		}
	}
	return by
}

// R20
func (n *naive) stuck(w *naiveRequest, h Holder) bool {
	if w.Holder != h && slices.ContainsFunc(n.manual(h), func(l *naiveRequest) bool { return naiveOverlap(l, w) }) {
		return true
	}
	return slices.ContainsFunc(n.heldBack(w), func(e *naiveRequest) bool { return n.stuck(e, h) })
}

// R22
func (n *naive) edges(w *naiveRequest) map[Holder]bool {
	to := map[Holder]bool{}
	for _, l := range n.held {
		if l.Manual && l.Holder != w.Holder && naiveOverlap(l, w) {
			to[l.Holder] = true
		}
	}
	for _, e := range n.heldBack(w) {
		if e.Holder != w.Holder {
			to[e.Holder] = true
		}
	}
	return to
}

func (n *naive) inCycle(r *naiveRequest) bool {
	reached := n.edges(r)
	for changed := true; changed; {
		changed = false
		for _, w := range n.queue {
			if !reached[w.Holder] {
				continue
			}
			for h := range n.edges(w) {
				changed = changed || !reached[h]
				reached[h] = true
			}
		}
	}
	return reached[r.Holder]
}

func (n *naive) duplicate(r *naiveRequest) bool {
	return r.Manual && slices.ContainsFunc(n.manual(r.Holder), func(l *naiveRequest) bool { return naiveOverlap(l, r) })
}

// R23
func (n *naive) settle() {
	for n.step() {
	}
}

func (n *naive) step() bool {
	for i, w := range n.queue {
		switch {
		case n.duplicate(w):
			n.refuse(i, CodeDuplicate)
			return true
		case n.grantable(w):
			n.queue = slices.Delete(n.queue, i, i+1)
			n.grant(w)
			return true
		}
	}
	for i, w := range slices.Backward(n.queue) {
		if n.inCycle(w) {
			n.refuse(i, CodeDeadlock)
			return true
		}
	}
	return false
}

func (n *naive) refuse(i int, code string) {
	w := n.queue[i]
	n.queue = slices.Delete(n.queue, i, i+1)
	w.code = code
	n.refused = append(n.refused, w)
}

func (n *naive) grant(r *naiveRequest) {
	n.held = append(n.held, r)
	if r.Manual {
		n.notices = slices.DeleteFunc(n.notices, func(m notice) bool { return m.holder == r.Holder && overlapsAny(m.dir, r.Dirs) })
	}
}

// acquire returns the code of a refusal, or whether the request waits.
func (n *naive) acquire(id uint64, c Claim) (State, string) {
	r := &naiveRequest{id: id, Claim: c}
	if !c.Manual {
		for i, m := range n.notices {
			if m.holder == c.Holder && overlapsAny(m.dir, c.Dirs) {
				n.notices = slices.Delete(n.notices, i, i+1)
				return Refused, CodeLost
			}
		}
	}
	waiting := len(n.queue) + len(n.refused)
	full := waiting >= n.limits.MaxWaiters || waiting+len(n.held) >= n.limits.MaxWaiters+n.limits.MaxHeld
	switch {
	case n.duplicate(r):
		return Refused, CodeDuplicate
	case c.Covered && (!n.covered(r) || !n.grantable(r)):
		return Refused, CodeNotCovered
	case n.grantable(r) && len(n.held) >= n.limits.MaxHeld:
		return Refused, CodeBusy
	case n.grantable(r):
		n.grant(r)
		n.settle()
		return Granted, ""
	}
	n.queue = append(n.queue, r)
	if n.inCycle(r) || full {
		code := CodeBusy
		if n.inCycle(r) {
			code = CodeDeadlock
		}
		n.queue = n.queue[:len(n.queue)-1]
		return Refused, code
	}
	return Waiting, ""
}

func (n *naive) end(which func(*naiveRequest) bool) {
	for _, list := range []*[]*naiveRequest{&n.held, &n.queue, &n.refused} {
		*list = slices.DeleteFunc(*list, which)
	}
	n.settle()
}

func (n *naive) state(id uint64) (State, string) {
	is := func(r *naiveRequest) bool { return r.id == id }
	if slices.ContainsFunc(n.held, is) {
		return Granted, ""
	}
	if slices.ContainsFunc(n.queue, is) {
		return Waiting, ""
	}
	if i := slices.IndexFunc(n.refused, is); i >= 0 {
		return Refused, n.refused[i].code
	}
	return Gone, ""
}

// A world is a small tree with other names of the same directories in it: a bind
// mount at /m of /a, and /A, that the file system takes for /a. What is at /b
// changes now and then.
type world struct{ moved uint64 }

var worldPaths = []string{"/", "/a", "/a/x", "/a/x/y", "/a/z", "/b", "/b/x", "/b/x/y", "/m", "/m/x", "/A", "/A/x", "/c"}

func (w world) dir(path string) Dir {
	d := Dir{Path: path, Chain: []Identity{{1, 1}}}
	for _, end := range components(path) {
		d.Chain = append(d.Chain, w.identity(path[:end]))
	}
	return d
}

func (w world) identity(path string) Identity {
	switch path[:2] {
	case "/m", "/A":
		path = "/a" + path[2:]
	case "/b":
		if w.moved%4 == 3 && len(path) > 2 {
			return Identity{} // gone
		}
		return Identity{2 + w.moved%4, uint64(slices.Index(worldPaths, path))}
	}
	return Identity{1, 100 + uint64(slices.Index(worldPaths, path))}
}

// tableTest runs operations on a table and on the naive one.
type tableTest struct {
	t     *testing.T
	world world
	table *Table
	naive naive
	ids   []uint64
	token uint64 // the highest so far
	plain bool   // paths only
	stats map[string]int

	granted map[uint64]bool // so far
}

var (
	testInstances = []string{fmt.Sprintf("%032x", 1), fmt.Sprintf("%032x", 2)}
	testLimits    = Limits{MaxWaiters: 7, MaxHeld: 9}
)

func newTableTest(t *testing.T) *tableTest {
	return &tableTest{t: t, table: NewTable(), naive: naive{limits: testLimits}, stats: map[string]int{}, granted: map[uint64]bool{}}
}

// run decodes operations: three bytes each.
func (tt *tableTest) run(data []byte) {
	for now := int64(1); len(data) >= 3; now++ {
		op, a, b := int(data[0]), int(data[1]), int(data[2])
		data = data[3:]
		tt.do(op, a, b, now)
		tt.check()
	}
	tt.drain()
}

func (tt *tableTest) dirs(choice ...int) []Dir {
	var paths []string
	for _, c := range choice {
		paths = append(paths, worldPaths[c%len(worldPaths)])
	}
	var dirs []Dir
	for _, path := range Normalize(paths) {
		if d := tt.world.dir(path); tt.plain {
			dirs = append(dirs, Dir{Path: path})
		} else {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

func (tt *tableTest) do(op, a, b int, now int64) {
	h := Holder{testInstances[a>>2&1], Owner([]string{"A", "B", "C"}[a%3])}
	n := &tt.naive
	switch op % 12 {
	case 0, 1, 2:
		tt.acquire(Claim{Holder: h, Manual: true, Dirs: tt.dirs(b)}, now)
	case 3, 4:
		tt.acquire(Claim{Holder: h, Dirs: tt.dirs(b, a>>3)}, now)
	case 5:
		tt.acquire(Claim{Holder: h, Dirs: tt.dirs(b), Covered: a&8 != 0}, now)
	case 6, 7:
		if len(tt.ids) > 0 {
			id := tt.ids[b%len(tt.ids)]
			state, _ := n.state(id)
			require.Equal(tt.t, state != Gone, tt.table.Release(id, now))
			n.end(func(r *naiveRequest) bool { return r.id == id })
		}
	case 8:
		tt.unlock(h, tt.dirs(b)[0], now)
	case 9:
		tt.force(h.Agent, tt.dirs(b)[0], now)
	case 10:
		tt.endMany(h, a>>3, now)
	case 11:
		if a&8 != 0 {
			tt.world.moved++
		} else {
			var err error
			tt.table, err = DecodeTable(tt.table.Encode())
			require.NoError(tt.t, err)
		}
	}
}

func (tt *tableTest) acquire(c Claim, now int64) {
	state, code := tt.naive.acquire(tt.table.nextID, c)
	v := tt.table.Acquire(c, now, testLimits)
	require.Equal(tt.t, state, v.State, "%v: want %q, got %v", c, code, v.Err)
	if v.Err != nil {
		require.Equal(tt.t, code, v.Err.Code)
		tt.stats[code]++
		return
	}
	tt.stats[fmt.Sprint(state)]++
	tt.ids = append(tt.ids, v.ID)
}

func (tt *tableTest) unlock(h Holder, dir Dir, now int64) {
	n := &tt.naive
	exact := func(r *naiveRequest) bool { return r.Manual && r.Holder == h && r.Dirs[0].Path == dir.Path }
	had := slices.ContainsFunc(n.held, exact)
	_, err := tt.table.Unlock(h, dir, now)
	require.Equal(tt.t, had, err == nil)
	if had {
		n.held = slices.DeleteFunc(n.held, exact)
		n.settle()
		return
	}
	i := slices.IndexFunc(n.notices, func(m notice) bool { return m.holder == h && m.dir.Path == dir.Path })
	require.Equal(tt.t, i >= 0, err.Reason != "")
	if i >= 0 {
		n.notices = slices.Delete(n.notices, i, i+1)
	}
}

func (tt *tableTest) force(victim Owner, dir Dir, now int64) {
	n := &tt.naive
	exact := func(r *naiveRequest) bool { return r.Manual && r.Agent == victim && r.Dirs[0].Path == dir.Path }
	i := slices.IndexFunc(n.held, exact)
	_, err := tt.table.ForceUnlock("D", victim, dir, now)
	require.Equal(tt.t, i >= 0, err == nil)
	if i >= 0 {
		n.notices = append(n.notices, notice{n.held[i].Holder, n.held[i].Dirs[0], ReasonForced, "D"})
		n.held = slices.Delete(n.held, i, i+1)
		n.settle()
		tt.stats["forced"]++
	}
}

func (tt *tableTest) endMany(h Holder, how int, now int64) {
	n := &tt.naive
	dead := func(m notice) bool { return m.holder.Instance == h.Instance }
	switch how % 3 {
	case 0:
		tt.table.ReleaseOwner(h, now)
		n.notices = slices.DeleteFunc(n.notices, func(m notice) bool { return m.holder == h })
		waits := func(r *naiveRequest) bool { return slices.Contains(n.queue, r) || slices.Contains(n.refused, r) }
		n.end(func(r *naiveRequest) bool { return r.Holder == h && (r.Manual || waits(r)) })
	case 1:
		tt.table.Reap(func(id string) bool { return id != h.Instance }, now)
		n.notices = slices.DeleteFunc(n.notices, dead)
		n.end(func(r *naiveRequest) bool { return r.Instance == h.Instance })
		require.NotContains(tt.t, tt.table.Instances(), h.Instance, "I7")
		require.NotContains(tt.t, string(tt.table.Encode()), h.Instance, "I7")
	default:
		tt.table.ForceUnlockOverlapping(User, tt.dirs(how)[0], now)
		var found []*naiveRequest
		for _, l := range n.held {
			if l.Manual && l.Dirs[0].overlaps(tt.dirs(how)[0]) {
				found = append(found, l)
			}
		}
		slices.SortFunc(found, func(a, b *naiveRequest) int {
			if c := compareStrings(a.Dirs[0].Path, b.Dirs[0].Path); c != 0 {
				return c
			}
			return int(a.id) - int(b.id)
		})
		for _, l := range found {
			n.notices = append(n.notices, notice{l.Holder, l.Dirs[0], ReasonForced, User})
		}
		n.end(func(r *naiveRequest) bool { return slices.Contains(found, r) })
	}
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// check compares the tables, and looks at what must be true of any.
func (tt *tableTest) check() {
	t := tt.t
	highest := tt.token
	for _, id := range tt.ids {
		state, code := tt.naive.state(id)
		v := tt.table.Verdict(id)
		if v.State == Granted && !tt.granted[id] {
			tt.granted[id] = true
			require.Greater(t, v.Token.Number, tt.token, "I9: a grant since the last check")
		}
		require.Equal(t, state, v.State, "request %d\n%s", id, tt.table.Encode())
		if v.Err != nil {
			require.Equal(t, code, v.Err.Code)
			tt.stats["late "+code]++
		}
		highest = max(highest, v.Token.Number)
	}
	tt.token = highest
	require.Equal(t, len(tt.naive.notices), len(tt.table.notices))
	for i, m := range tt.naive.notices {
		require.Equal(t, m.holder, tt.table.notices[i].holder)
		require.Equal(t, m.dir.Path, tt.table.notices[i].dir.Path)
	}
	require.Equal(t, len(tt.naive.held), tt.table.heldCount)
	require.LessOrEqual(t, len(tt.table.records), testLimits.MaxHeld+testLimits.MaxWaiters)
	require.Equal(t, len(tt.naive.queue)+len(tt.naive.refused), tt.table.waiting)
	for i, a := range tt.naive.held {
		for _, b := range tt.naive.held[:i] {
			if a.Holder != b.Holder {
				require.False(t, naiveOverlap(a, b), "I1")
			} else if a.Manual && b.Manual {
				require.False(t, naiveOverlap(a, b), "I2")
			}
		}
	}
	tokens := map[uint64]bool{}
	for _, r := range tt.table.records {
		if r.token != 0 {
			require.False(t, tokens[r.token], "I9")
			tokens[r.token] = true
		}
	}
	for _, w := range tt.naive.queue {
		require.False(t, tt.naive.grantable(w), "I3")
		require.False(t, tt.plain && tt.naive.covered(w), "I6")
		require.False(t, tt.naive.inCycle(w), "I5")
	}
	for h, own := range tt.table.holders {
		require.False(t, own.empty(), h)
	}
}

// drain releases what is held until nothing waits (I8).
func (tt *tableTest) drain() {
	for tt.table.heldCount > 0 {
		for _, id := range tt.ids {
			if tt.table.Verdict(id).State == Granted {
				tt.table.Release(id, 0)
			}
		}
	}
	for _, id := range tt.ids {
		require.NotEqual(tt.t, Waiting, tt.table.Verdict(id).State, "I8")
		tt.table.Release(id, 0)
	}
	tt.table.dropNotices(func(notice) bool { return true })
	require.Empty(tt.t, tt.table.records)
	require.Empty(tt.t, tt.table.Instances())
	require.Empty(tt.t, tt.table.holders)
	require.Zero(tt.t, tt.table.exempting)
	for _, x := range []index{tt.table.held, tt.table.queue} {
		require.Zero(tt.t, x.alias)
		require.Empty(tt.t, x.nodes)
		require.Empty(tt.t, x.paths)
		require.True(tt.t, x.root == nil || x.root.first == nil && len(x.root.records)+len(x.root.idents) == 0)
	}
}
