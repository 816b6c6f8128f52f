//go:build unix

package dirlock

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// script runs requests on a table. Agents are those of one instance.
type script struct {
	*testing.T
	*Table
	now int64
}

func newScript(t *testing.T) *script { return &script{T: t, Table: NewTable()} }

func (s *script) holder(agent Owner) Holder { return Holder{testInstances[0], agent} }

func (s *script) claim(agent Owner, manual bool, dirs ...string) Verdict {
	s.Helper()
	c := Claim{Holder: s.holder(agent), Manual: manual}
	for _, dir := range dirs {
		c.Dirs = append(c.Dirs, Dir{Path: dir})
	}
	return s.Acquire(c, s.now, Limits{DefaultMaxWaiters, 100_000})
}

func (s *script) update(agent Owner, dir string) uint64 {
	s.Helper()
	return s.granted(s.claim(agent, true, dir))
}

func (s *script) edit(agent Owner, dirs ...string) uint64 {
	s.Helper()
	return s.granted(s.claim(agent, false, dirs...))
}

func (s *script) granted(v Verdict) uint64 {
	s.Helper()
	require.Equal(s, Granted, v.State, v.Err)
	return v.ID
}

func (s *script) waits(v Verdict) uint64 {
	s.Helper()
	require.Equal(s, Waiting, v.State, v.Err)
	return v.ID
}

func (s *script) refused(v Verdict, err *Error) *Error {
	s.Helper()
	require.Equal(s, Refused, v.State)
	require.ErrorIs(s, v.Err, err)
	return v.Err
}

func (s *script) is(id uint64, state State) {
	s.Helper()
	require.Equal(s, state, s.Verdict(id).State)
}

func (s *script) release(id uint64) {
	s.Helper()
	require.True(s, s.Release(id, s.now))
}

func TestR12DirectoriesWithTheSameIdentityOverlap(t *testing.T) {
	id := func(n ...uint64) []Identity {
		chain := []Identity{{1, 1}}
		for _, n := range n {
			chain = append(chain, Identity{1, n})
		}
		return chain
	}
	for _, tt := range []struct {
		name    string
		a, b    Dir
		overlap bool
	}{
		{"another spelling", Dir{"/w/A", id(2, 3)}, Dir{"/w/a", id(2, 3)}, true},
		{"below another spelling", Dir{"/w/A", id(2, 3)}, Dir{"/w/a/b", id(2, 3, 4)}, true},
		{"a bind mount of a parent", Dir{"/w/a", id(2, 3)}, Dir{"/m/b", id(3, 5)}, true},
		{"the same parent", Dir{"/w/a", id(2, 3)}, Dir{"/m/b", id(2, 5)}, false},
		{"unknown ones", Dir{"/w/a", []Identity{{}, {}, {}}}, Dir{"/w/b", []Identity{{}, {}, {}}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, order := range [][2]Dir{{tt.a, tt.b}, {tt.b, tt.a}} {
				s := newScript(t)
				first := s.Acquire(Claim{Holder: s.holder("A"), Manual: true, Dirs: order[:1]}, 0, testLimits)
				s.granted(first)
				v := s.Acquire(Claim{Holder: s.holder("B"), Dirs: order[1:]}, 0, testLimits)
				require.Equal(t, tt.overlap, v.State == Waiting)
				s.release(first.ID)
				s.is(v.ID, Granted)
			}
		})
	}
}

func TestR8CoveredIsNeverHeldBack(t *testing.T) {
	s := newScript(t)
	a := s.update("A", "/w/a")
	s.waits(s.claim("B", true, "/w"))
	s.waits(s.claim("C", false, "/w/a/x"))
	for range 3 {
		s.edit("A", "/w/a/x", "/w/a/y")
	}
	s.release(a)
	require.Equal(t, 0, len(s.of(s.holder("A")).manual))
}

func TestR17AnAutomaticLockIsCoveredLater(t *testing.T) {
	s := newScript(t)
	s.update("A", "/p/a")
	s.edit("A", "/p/a", "/b") // not covered in /b
	wider := s.waits(s.claim("A", false, "/p"))
	s.update("A", "/b") // now it is, and no conflict any more
	s.is(wider, Granted)
}

func TestR20StuckBehindMeIsTransitive(t *testing.T) {
	s := newScript(t)
	s.update("A", "/w/a")
	b := s.waits(s.claim("B", false, "/w/a", "/x"))
	c := s.waits(s.claim("C", false, "/x", "/y")) // held back by B, who waits for A
	s.edit("A", "/y")                             // not held back by C
	d := s.claim("D", false, "/y")                // but D is
	s.waits(d)
	s.is(b, Waiting)
	s.is(c, Waiting)
}

// TestR20AnExemptionBeginsElsewhere grants a request by a release that has no
// directory in common with it: P's waiter is held back by X's from then on, who
// waits for O, and so it does not hold back O any more.
func TestR20AnExemptionBeginsElsewhere(t *testing.T) {
	s := newScript(t)
	m := s.update("P", "/m")
	s.update("O", "/o")
	s.update("C", "/c")
	s.waits(s.claim("X", false, "/m", "/o", "/s"))
	s.waits(s.claim("P", false, "/c", "/s", "/t"))
	r := s.waits(s.claim("O", false, "/t"))
	s.release(m)
	s.is(r, Granted)
}

func TestR22OneReleaseClosesTwoCycles(t *testing.T) {
	s := newScript(t)
	a := s.update("A", "/x")
	for _, n := range []string{"1", "2"} {
		s.update("A", "/o"+n)
		s.update(Owner("C"+n), "/r"+n+"/b")
		s.waits(s.claim(Owner("B"+n), false, "/x", "/r"+n))
		s.waits(s.claim(Owner("B"+n), true, "/o"+n))
	}
	var ids []uint64
	for _, n := range []string{"1", "2"} {
		ids = append(ids, s.waits(s.claim("A", true, "/r"+n+"/b")))
	}
	s.release(a)
	for _, id := range ids {
		require.ErrorIs(t, s.Verdict(id).Err, ErrDeadlock)
	}
}

func TestR22TheYoungestIsRefusedAfterARelease(t *testing.T) {
	s := newScript(t)
	a1 := s.update("A", "/a")
	s.update("A", "/o")
	c := s.update("C", "/r/b")
	s.waits(s.claim("B", true, "/a"))
	b2 := s.waits(s.claim("B", false, "/a", "/r"))
	b3 := s.waits(s.claim("B", true, "/o"))
	a := s.waits(s.claim("A", true, "/r/b"))
	s.release(a1)
	err := s.Verdict(a).Err
	require.ErrorIs(t, err, ErrDeadlock)
	require.Equal(t, "/o", err.Held)
	s.is(b2, Waiting)
	s.is(b3, Waiting)
	s.release(a) // the verdict is read
	s.is(a, Gone)
	s.release(c)
	s.is(b2, Granted)
}

func TestR23RefusedHoldsNobodyBack(t *testing.T) {
	s := newScript(t)
	x := s.update("X", "/w")
	first := s.waits(s.claim("A", true, "/w/a/b"))
	second := s.waits(s.claim("A", true, "/w/a"))
	other := s.waits(s.claim("B", false, "/w/a/c"))
	s.release(x)
	s.is(first, Granted)
	require.ErrorIs(t, s.Verdict(second).Err, ErrDuplicate)
	s.is(other, Granted)
	require.Equal(t, 1, s.waiting, "it stays until it is read")
}

func TestR26NoticesAreLimited(t *testing.T) {
	s := newScript(t)
	for n := range MaxNotices + 2 {
		agent := Owner(fmt.Sprint("a", n))
		dir := fmt.Sprintf("/w/d%d", n)
		s.update(agent, dir)
		_, err := s.ForceUnlock("B", agent, Dir{Path: dir}, 0)
		require.Nil(t, err)
	}
	require.Len(t, s.notices, MaxNotices)
	s.edit("a1", "/w/d1")
	s.refused(s.claim("a2", false, "/w/d2"), ErrLost)
}

func TestR26ARefusedUpdateDoesNotSettleANotice(t *testing.T) {
	s := newScript(t)
	s.update("A", "/w/a")
	s.update("A", "/w/b")
	_, err := s.ForceUnlock(User, "A", Dir{Path: "/w/a"}, 0)
	require.Nil(t, err)
	s.refused(s.claim("A", true, "/w"), ErrDuplicate)
	_, err = s.Unlock(s.holder("A"), Dir{Path: "/w/a"}, 0)
	require.ErrorIs(t, err, ErrNotHeld)
	require.Equal(t, ReasonForced, err.Reason)
	require.Equal(t, User, err.ReleasedBy)
	_, err = s.Unlock(s.holder("A"), Dir{Path: "/w/a"}, 0)
	require.Empty(t, err.Reason, "it was settled")
}

func TestSection6TheSmallestBlockerIsNamed(t *testing.T) {
	s := newScript(t)
	s.update("C", "/w/c")
	s.update("B", "/w/b")
	v := s.claim("A", true, "/w")
	s.waits(v)
	require.Equal(t, Wait{[]string{"/w"}, "/w/b", "B"}, s.wait(v.ID))
	_, err := s.Unlock(s.holder("A"), Dir{Path: "/w"}, 0)
	require.Equal(t, "/w/b", err.Blocking)
	require.Equal(t, Owner("B"), err.BlockingOwner)
	_, err = s.ForceUnlock("A", "C", Dir{Path: "/w"}, 0)
	require.Equal(t, "/w/c", err.Held)
	require.Empty(t, err.Blocking)
	require.Equal(t, Owner("C"), err.Agent)
	snapshot := s.Snapshot(5000)
	require.Len(t, snapshot.Held, 2)
	require.Equal(t, 5*time.Second, snapshot.Held[0].Idle)
	require.Equal(t, []Blocker{{s.holder("B"), "/w/b", true, false}, {s.holder("C"), "/w/c", true, false}}, snapshot.Waiting[0].Blockers)
}

func TestSection7TheTableIsLimited(t *testing.T) {
	s := newScript(t)
	limits := Limits{MaxWaiters: 2, MaxHeld: 3}
	acquire := func(agent Owner, dir string) Verdict {
		return s.Acquire(Claim{Holder: s.holder(agent), Dirs: []Dir{{Path: dir}}}, 0, limits)
	}
	for n := range 3 {
		s.granted(acquire("A", fmt.Sprint("/", n)))
	}
	s.refused(acquire("A", "/3"), ErrQueueFull)
	s.waits(acquire("B", "/0"))
	s.waits(acquire("B", "/1"))
	s.refused(acquire("B", "/2"), ErrQueueFull)
}

// TestSection7WhoWaitsIsGrantedInAFullTable: the limits bound the sum.
func TestSection7WhoWaitsIsGrantedInAFullTable(t *testing.T) {
	s := newScript(t)
	limits := Limits{MaxWaiters: 50, MaxHeld: 3}
	acquire := func(n int, dir string) Verdict {
		return s.Acquire(Claim{Holder: s.holder(Owner(fmt.Sprint("a", n))), Dirs: []Dir{{Path: dir}}}, 0, limits)
	}
	root := s.granted(acquire(0, "/w"))
	var ids []uint64
	for n := range 50 {
		ids = append(ids, s.waits(acquire(n, fmt.Sprint("/w/", n))))
	}
	s.release(root)
	for _, id := range ids {
		s.is(id, Granted)
	}
	s.refused(acquire(0, "/x"), ErrQueueFull)
	for n := range 3 {
		s.waits(acquire(n, "/w"))
	}
	s.refused(acquire(3, "/w"), ErrQueueFull)
	s.release(ids[0])
	s.waits(acquire(3, "/w"))
}

func TestR28Look(t *testing.T) {
	const minute = time.Minute
	for _, tt := range []struct {
		name string
		idle time.Duration // when the wait begins
		use  []int         // before the look of these minutes
		want int           // the look that ends the wait
	}{
		{"idle for long", 10 * minute, nil, 1},
		{"idle for a minute", minute, nil, 1},
		{"idle for less", 59 * time.Second, nil, 2},
		{"just taken", 0, nil, 2},
		{"used in the first minute", 10 * minute, []int{1}, 3},
		{"used again and again", 0, []int{1, 2, 3, 4, 5}, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t)
			s.update("A", "/w")
			s.now = tt.idle.Milliseconds()
			id := s.waits(s.claim("B", false, "/w/a"))
			look := func(w Watch, at time.Duration) (Watch, *Error) {
				return s.Look(id, w, s.now, at, DefaultLivenessInterval, DefaultAbandonedAfter)
			}
			w, err := look(Watch{}, 0)
			require.Nil(t, err)
			for n := 1; n <= tt.want; n++ {
				s.now += minute.Milliseconds()
				for _, use := range tt.use {
					if use == n {
						s.release(s.edit("A", "/w/x"))
					}
				}
				w, err = look(w, time.Duration(n)*minute)
				require.Equal(t, n == tt.want, err != nil, "look %d", n)
			}
			require.Equal(t, "/w", err.Blocking)
		})
	}
}

func TestAConvoyIsServedInOrder(t *testing.T) {
	s := newScript(t)
	next := s.update("A", "/w")
	s.update("H", "/h") // there are exemptions to look for
	s.waits(s.claim("H", false, "/w"))
	var ids []uint64
	for n := range 200 {
		ids = append(ids, s.waits(s.claim(Owner(fmt.Sprint("a", n)), false, "/w")))
	}
	s.release(next)
	for _, own := range s.of(s.holder("H")).auto {
		next = own.id
	}
	for _, id := range ids {
		s.is(id, Waiting)
		s.release(next)
		s.is(id, Granted)
		next = id
	}
}
