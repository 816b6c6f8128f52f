//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/locktest"
)

// TestR32ALookThatTakesLongIsNoProof lets the lease run out during it.
func TestR32ALookThatTakesLongIsNoProof(t *testing.T) {
	for name, fails := range map[string]error{"and fails": errStore, "and succeeds": nil} {
		t.Run(name, func(t *testing.T) {
			l, m := newLeased(t)
			g, err := m.LockAuto(t.Context(), request("A", "/w"))
			require.NoError(t, err)
			defer g.Release()
			s := l.sessions[0]
			s.until = l.clock.Now().Add(10 * time.Second)
			s.hook(&s.before, func() {
				l.clock.Advance(9 * time.Second)
				s.set(fails)
			})
			require.ErrorIs(t, g.Check(t.Context()), dirlock.ErrLost)
			require.Equal(t, 1, s.renewed)
			s.set(nil)
		})
	}
}

// TestR32TheEndOfTheContextIsNoProof either.
func TestR32TheEndOfTheContextIsNoProof(t *testing.T) {
	l, m := newLeased(t)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	defer g.Release()
	ctx, cancel := context.WithCancel(t.Context())
	s := l.sessions[0]
	s.hook(&s.before, func() {
		cancel()
		s.set(errStore)
	})
	require.ErrorIs(t, g.Check(ctx), context.Canceled)
	s.set(nil)
}

func TestR32AReleasedGuardIsNotLost(t *testing.T) {
	_, m := newLeased(t)
	for name, context := range map[string]func(*dirlock.Guard) context.Context{
		"before": func(g *dirlock.Guard) context.Context { ctx := g.Context(); g.Release(); return ctx },
		"after":  func(g *dirlock.Guard) context.Context { g.Release(); return g.Context() },
	} {
		g, err := m.LockAuto(t.Context(), request("A", "/w"))
		require.NoError(t, err)
		requireReleased(t, context(g), name)
		require.ErrorIs(t, g.Check(t.Context()), dirlock.ErrLost)
	}
}

func requireReleased(t *testing.T, ctx context.Context, name string) { //nolint:revive // t is first
	t.Helper()
	require.ErrorIs(t, context.Cause(ctx), context.Canceled, name)
	require.NotErrorIs(t, context.Cause(ctx), dirlock.ErrLost, name)
}

// TestR28ALookFindsAVerdictThatWasMissed has a session that never wakes.
func TestR28ALookFindsAVerdictThatWasMissed(t *testing.T) {
	l, m := newLeased(t)
	l.sessions[0].wait = func(ctx context.Context) { <-ctx.Done() }
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	failed := waits(t, t.Context(), m, request("B", "/w"))
	l.clock.AwaitTimers(1)
	g.Release()
	l.clock.Advance(dirlock.DefaultLivenessInterval)
	require.NoError(t, within(t, failed))
}

// removeRegistry does what a cleaner of old files does.
func removeRegistry(t *testing.T, f *dirlock.File) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(f.Dir(), "registry.json")))
}

// TestR32TheTableIsRemoved: with it, all that instances have had is lost, though
// their leases are there.
func TestR32TheTableIsRemoved(t *testing.T) {
	clock := locktest.NewClock()
	f := openFile(t, filepath.Join(t.TempDir(), "state"), clock)
	m, other := newManager(t, f), newManager(t, f)
	_, err := m.LockManual(t.Context(), request("A", "/a"))
	require.NoError(t, err)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	ctx := g.Context()
	failed := waits(t, t.Context(), other, request("B", "/w"))
	clock.AwaitTimers(3) // of the waiter and the sessions
	removeRegistry(t, f)

	// Its numbers are those of others now.
	third := newManager(t, f)
	_, err = third.LockManual(t.Context(), request("C", "/c"))
	require.NoError(t, err)
	next, err := third.LockAuto(t.Context(), request("C", "/w"))
	require.NoError(t, err)
	clock.AwaitTimers(4)
	clock.Advance(dirlock.PollMax)
	require.ErrorIs(t, within(t, failed), dirlock.ErrBackend)
	within(t, ctx.Done())
	require.ErrorIs(t, context.Cause(ctx), dirlock.ErrLost)
	g.Release()
	require.NoError(t, next.Check(t.Context()))
	next.Release()

	_, err = m.LockAuto(t.Context(), request("A", "/a"))
	require.ErrorIs(t, err, dirlock.ErrLost)
	requireReason(t, err, dirlock.ReasonMissing)
}

// TestR32TheContextOfACommandEndsByItself: nobody asks for its lock while it runs.
func TestR32TheContextOfACommandEndsByItself(t *testing.T) {
	clock := locktest.NewClock()
	f := openFile(t, filepath.Join(t.TempDir(), "state"), clock)
	for name, remove := range map[string]func(){
		"the state directory": func() { require.NoError(t, os.RemoveAll(f.Dir())) },
		"the table":           func() { removeRegistry(t, f) },
		"the leases":          func() { require.NoError(t, os.RemoveAll(filepath.Join(f.Dir(), "instances"))) },
	} {
		m := newManager(t, f)
		g, err := m.LockAuto(t.Context(), request("A", "/w"))
		require.NoError(t, err)
		ctx := g.Context()
		clock.AwaitTimers(1)
		clock.Advance(dirlock.PollMax)
		clock.AwaitTimers(1)
		require.NoError(t, ctx.Err())
		remove()
		clock.Advance(dirlock.PollMax)
		within(t, ctx.Done())
		require.ErrorIs(t, context.Cause(ctx), dirlock.ErrLost, name)
		g.Release()
		require.NoError(t, m.Close(t.Context()))
	}
}

// TestR26OnlyWhatIsBelievedToBeHeldIsToldOf ends locks in all ways before the
// session is lost.
func TestR26OnlyWhatIsBelievedToBeHeldIsToldOf(t *testing.T) {
	lock := func(t *testing.T, m *dirlock.Manager, dir string) {
		t.Helper()
		_, err := m.LockManual(t.Context(), request("A", dir))
		require.NoError(t, err)
	}
	force := func(t *testing.T, m *dirlock.Manager, dir string) {
		t.Helper()
		_, err := m.ForceUnlock(t.Context(), "B", "A", dir)
		require.NoError(t, err)
	}
	for name, tt := range map[string]struct {
		do   func(t *testing.T, m, other *dirlock.Manager)
		told int
	}{
		"held": {func(t *testing.T, m, _ *dirlock.Manager) { lock(t, m, "/w") }, 1},
		"unlocked": {func(t *testing.T, m, _ *dirlock.Manager) {
			lock(t, m, "/w")
			_, err := m.Unlock(t.Context(), "A", "/w")
			require.NoError(t, err)
		}, 0},
		"forced, and not told yet": {func(t *testing.T, m, other *dirlock.Manager) {
			for range 5 {
				lock(t, m, "/w")
				force(t, other, "/w")
			}
		}, 1},
		"forced, and told by a call": {func(t *testing.T, m, _ *dirlock.Manager) {
			for n := range 5 {
				dir := fmt.Sprint("/w/", n)
				lock(t, m, dir)
				force(t, m, dir)
				_, err := m.LockAuto(t.Context(), request("A", dir))
				require.ErrorIs(t, err, dirlock.ErrLost)
			}
		}, 0},
		"forced, and told by unlock": {func(t *testing.T, m, other *dirlock.Manager) {
			lock(t, m, "/w")
			force(t, other, "/w")
			_, err := m.Unlock(t.Context(), "A", "/w")
			require.ErrorIs(t, err, dirlock.ErrNotHeld)
		}, 0},
		"forced, and settled by an update": {func(t *testing.T, m, _ *dirlock.Manager) {
			for n := range 5 {
				dir := fmt.Sprint("/w/", n)
				lock(t, m, dir)
				force(t, m, dir)
			}
			lock(t, m, "/w")
		}, 1},
		"of an agent that has ended": {func(t *testing.T, m, _ *dirlock.Manager) {
			lock(t, m, "/w")
			m.ReleaseOwner("A")
		}, 0},
		"cancelled": {func(t *testing.T, m, other *dirlock.Manager) {
			g, err := other.LockAuto(t.Context(), request("B", "/w"))
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			req := request("A", "/w")
			req.OnWait = func(dirlock.Wait) { cancel(); g.Release() }
			_, err = m.LockManual(ctx, req)
			require.ErrorIs(t, err, context.Canceled)
		}, 0},
		"after a wait": {func(t *testing.T, m, other *dirlock.Manager) {
			g, err := other.LockAuto(t.Context(), request("B", "/w"))
			require.NoError(t, err)
			req := request("A", "/w")
			req.OnWait = func(dirlock.Wait) { g.Release() }
			_, err = m.LockManual(t.Context(), req)
			require.NoError(t, err)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l, m := newLeased(t)
			tt.do(t, m, newManager(t, l))
			l.sessions[0].lose(t)
			told := 0
			for range 7 {
				g, err := m.LockAuto(t.Context(), request("A", "/w"))
				if err == nil {
					g.Release()
					continue
				}
				require.ErrorIs(t, err, dirlock.ErrLost)
				told++
			}
			require.Equal(t, tt.told, told)
		})
	}
}

func TestR26NoticesOfALostSessionAreLimited(t *testing.T) {
	l, m := newLeased(t)
	const more = 10
	owner := func(n int) dirlock.Owner { return dirlock.Owner(fmt.Sprint("a", n)) }
	for n := range dirlock.MaxNotices + more {
		_, err := m.LockManual(t.Context(), request(owner(n), fmt.Sprint("/w/", n)))
		require.NoError(t, err)
	}
	l.sessions[0].lose(t)
	for n := range more { // of the next instance
		_, err := m.LockManual(t.Context(), request("B", fmt.Sprint("/b/", n)))
		require.NoError(t, err)
	}
	l.sessions[1].lose(t)
	for n := range dirlock.MaxNotices + more {
		g, err := m.LockAuto(t.Context(), request(owner(n), fmt.Sprint("/w/", n)))
		if n < 2*more { // the oldest
			require.NoError(t, err, n)
			g.Release()
			continue
		}
		require.ErrorIs(t, err, dirlock.ErrLost, n)
	}
	for n := range more {
		_, err := m.LockAuto(t.Context(), request("B", fmt.Sprint("/b/", n)))
		require.ErrorIs(t, err, dirlock.ErrLost)
	}
}

// TestALostInstanceIsWaitedFor: who leaves it last waits for what still runs.
func TestALostInstanceIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := newLeased(t)
		s := l.sessions[0]
		slow := make(chan struct{})
		s.wait = func(ctx context.Context) { <-ctx.Done(); <-slow }
		g, err := m.LockAuto(t.Context(), request("A", "/w"))
		require.NoError(t, err)
		failed := waits(t, t.Context(), m, request("B", "/w"))
		synctest.Wait()
		s.lose(t)
		require.ErrorIs(t, within(t, failed), dirlock.ErrBackend)
		g.Release()
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			require.NoError(t, m.Close(t.Context()))
		}()
		synctest.Wait()
		select {
		case <-closed:
			require.Fail(t, "closed, while a goroutine of the instance runs")
		default:
		}
		close(slow)
		<-closed
	})
}
