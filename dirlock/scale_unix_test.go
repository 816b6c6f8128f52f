//go:build unix

package dirlock

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pace returns the median duration of what is done often.
func pace(do func()) time.Duration {
	var all []time.Duration
	for range 51 {
		start := time.Now()
		do()
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// requireAlike requires that something takes about as long as something else. The
// machine may be busy: what grows with the table would take hundreds of times as
// long.
func requireAlike(t *testing.T, base, got time.Duration) {
	t.Helper()
	t.Logf("%v, at first %v", got, base)
	require.Less(t, got, 30*max(base, 10*time.Microsecond))
}

func (s *script) pair(agent Owner, dir string) func() {
	return func() { s.release(s.edit(agent, dir)) }
}

// TestSection7WaitersDoNotSlowDownOthers has very many waiters of which some, or
// all, own locks.
func TestSection7WaitersDoNotSlowDownOthers(t *testing.T) {
	const waiters = DefaultMaxWaiters
	own := func(n int) string { return fmt.Sprint("/own/", n) }
	for name, owns := range map[string]func(n int) bool{
		"none owns a lock":     func(int) bool { return false },
		"the last owns a lock": func(n int) bool { return n == waiters-1 },
		"all own locks":        func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			base := pace(s.pair("O", "/elsewhere"))
			first := s.update("A", "/w")
			var slowest time.Duration
			for n := range waiters {
				agent := Owner(fmt.Sprint("w", n))
				if owns(n) {
					s.update(agent, own(n))
				}
				start := time.Now()
				s.waits(s.claim(agent, false, "/w"))
				slowest = max(slowest, time.Since(start))
			}
			require.Less(t, slowest, time.Second)
			requireAlike(t, base, pace(s.pair("O", "/elsewhere")))
			t.Logf("%v if all are looked at", pace(s.pair("A", "/w/covered")))
			s.release(first)
		})
	}
}

// TestSection7AKnotOfManyWaiters has owners that all wait and are all waited for,
// so that each request and each release has to be looked at for a deadlock.
func TestSection7AKnotOfManyWaiters(t *testing.T) {
	const owners = DefaultMaxWaiters / 2
	s := newScript(t)
	first := s.update("A", "/w")
	start := time.Now()
	var ids []uint64
	for n := range owners {
		agent := Owner(fmt.Sprint("o", n))
		s.update(agent, fmt.Sprint("/own/", n))
		ids = append(ids, s.waits(s.claim(agent, false, "/w")))
		s.waits(s.claim(Owner(fmt.Sprint("x", n)), false, fmt.Sprint("/own/", n)))
	}
	s.refused(s.claim("A", true, "/own/7"), ErrDeadlock)
	s.release(first)
	for _, id := range ids[:20] {
		s.is(id, Granted)
		s.release(id)
	}
	t.Log(time.Since(start))
	require.Less(t, time.Since(start), 20*time.Second)
}

// TestSection7OwnLocksDoNotSlowDown has an owner with very many manual locks.
func TestSection7OwnLocksDoNotSlowDown(t *testing.T) {
	const locks = 10_000
	s := newScript(t)
	s.update("A", "/w")
	s.update("H", "/h")
	for name, pair := range map[string]func(){
		"covered":     s.pair("A", "/w/x"),
		"not covered": s.pair("A", "/x"),
		"manual":      func() { s.release(s.update("A", "/y")) },
		"unlock": func() {
			s.update("A", "/y")
			_, err := s.Unlock(s.holder("A"), Dir{Path: "/y"}, 0)
			require.Nil(t, err)
		},
		"refused": func() { s.refused(s.claim("A", true, "/w/x"), ErrDuplicate) },
		"force": func() {
			s.update("A", "/y")
			_, err := s.ForceUnlock("B", "A", Dir{Path: "/y"}, 0)
			require.Nil(t, err)
		},
		"waiting": func() { s.release(s.waits(s.claim("A", false, "/h"))) },
	} {
		t.Run(name, func(t *testing.T) {
			base := pace(pair)
			var ids []uint64
			for n := range locks {
				ids = append(ids, s.update("A", fmt.Sprintf("/own/%d/%d", n%100, n)))
			}
			got := pace(pair)
			for _, id := range ids {
				s.release(id)
			}
			requireAlike(t, base, got)
		})
	}
}
