//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
)

// TestR33APendingReleaseIsMadeOnce lets a change that makes a pending release wait
// for the store while another one grants the same owner a lock.
func TestR33APendingReleaseIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := newLeased(t)
		s := l.sessions[0]
		s.set(errStore)
		m.ReleaseOwner("A")
		s.set(nil)
		turn := make(chan struct{})
		s.hook(&s.before, func() { <-turn })
		var both sync.WaitGroup
		both.Go(func() {
			_, err := m.Unlock(t.Context(), "X", "/x")
			require.ErrorIs(t, err, dirlock.ErrNotHeld)
		})
		synctest.Wait()
		both.Go(func() {
			_, err := m.LockManual(t.Context(), request("A", "/w"))
			require.NoError(t, err)
		})
		synctest.Wait()
		close(turn)
		both.Wait()
		_, err := m.Unlock(t.Context(), "A", "/w")
		require.NoError(t, err)
	})
}

// TestR33WhoWaitsForAPendingReleaseCanBeCancelled is the other side of that.
func TestR33WhoWaitsForAPendingReleaseCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := newLeased(t)
		s := l.sessions[0]
		s.set(errStore)
		m.ReleaseOwner("A")
		s.set(nil)
		turn := make(chan struct{})
		s.hook(&s.before, func() { <-turn })
		var first sync.WaitGroup
		first.Go(func() { _, _ = m.Unlock(t.Context(), "X", "/x") })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.LockAuto(ctx, request("B", "/w"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(turn)
		first.Wait()
	})
}

// TestR33AReleaseIsRetriedByItself leaves the Manager alone after the store has
// failed: another one gets the lock nevertheless.
func TestR33AReleaseIsRetriedByItself(t *testing.T) {
	l, m := newLeased(t)
	other := newManager(t, l)
	s := l.sessions[0]
	_, err := m.LockManual(t.Context(), request("C", "/c"))
	require.NoError(t, err)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	s.set(errStore)
	g.Release()
	m.ReleaseOwner("C")
	failed := waits(t, t.Context(), other, request("B", "/w", "/c"))
	for delay := dirlock.RetryMin; delay < dirlock.RetryMax; delay *= 2 {
		l.clock.AwaitTimers(1)
		l.clock.Advance(delay)
	}
	l.clock.AwaitTimers(1)
	s.set(nil)
	l.clock.Advance(dirlock.RetryMax)
	require.NoError(t, within(t, failed))
}

// TestR33ARetryEndsWithTheInstance is required by TestMain too: no goroutine is
// left.
func TestR33ARetryEndsWithTheInstance(t *testing.T) {
	l, m := newLeased(t)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	l.sessions[0].set(errStore)
	g.Release()
	l.clock.AwaitTimers(1)
	require.ErrorIs(t, m.Close(t.Context()), errStore)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		l.clock.AwaitTimers(0)
	}()
	within(t, stopped)
}

// TestWhatIsPendingWritesNothingThatIsReturned needs the race detector.
func TestWhatIsPendingWritesNothingThatIsReturned(t *testing.T) {
	l, m := newLeased(t)
	s := l.sessions[0]
	for range 50 {
		s.set(errStore)
		var both sync.WaitGroup
		both.Go(func() { m.ReleaseOwner("A") })
		both.Go(func() {
			s.set(nil)
			_, err := m.OthersHeld(t.Context(), "A")
			require.NoError(t, err)
			_, _ = m.Unlock(t.Context(), "X", "/x")
		})
		both.Wait()
	}
}

// TestR29ACallIsCancelledAsSoonAsItIsInTheQueue cancels in the moment in which the
// store has the request, and the caller does not know it yet.
func TestR29ACallIsCancelledAsSoonAsItIsInTheQueue(t *testing.T) {
	for name, held := range map[string]string{"waiting": "/w", "granted": "/x"} {
		t.Run(name, func(t *testing.T) {
			l, m := newLeased(t)
			g, err := m.LockAuto(t.Context(), request("A", held))
			require.NoError(t, err)
			s := l.sessions[0]
			found := false
			s.hook(&s.after, func() { found = m.Cancel("call 7") })
			req := request("B", "/w")
			req.Call = "call 7"
			_, err = m.LockManual(t.Context(), req)
			require.ErrorIs(t, err, context.Canceled)
			require.True(t, found)
			g.Release()
			snapshot, err := m.Snapshot(t.Context())
			require.NoError(t, err)
			require.Empty(t, snapshot)
		})
	}
}

// TestScenario16TheDeadlinePassesInALook lets the store fail for it.
func TestScenario16TheDeadlinePassesInALook(t *testing.T) {
	l, m := newLeased(t)
	_, err := m.LockManual(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := waits(t, ctx, m, request("B", "/w/x"))
	l.clock.AwaitTimers(1)
	s := l.sessions[0]
	s.hook(&s.before, func() {
		cancel(context.DeadlineExceeded)
		s.set(errStore)
		s.hook(&s.before, func() { s.set(nil) })
	})
	l.clock.Advance(dirlock.DefaultLivenessInterval)
	err = within(t, failed)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var e *dirlock.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "/w", e.Blocking)
	require.Equal(t, dirlock.Owner("A"), e.BlockingOwner)
	require.Equal(t, dirlock.DefaultLivenessInterval, e.Waited)
}

// TestR1APanicAfterAWaitLeavesNothing lets what is called then panic.
func TestR1APanicAfterAWaitLeavesNothing(t *testing.T) {
	identifies := false
	for name, resolve := range map[string]func() []string{
		"resolve":  func() []string { panic("a fault of the tool") },
		"Identify": func() []string { identifies = true; return []string{"/w"} },
	} {
		t.Run(name, func(t *testing.T) {
			identifies = false
			backend := dirlock.NewMemory()
			identify := func(dir string) dirlock.Dir {
				if identifies {
					panic("a fault of the file system")
				}
				return pathOnly(dir)
			}
			m, err := dirlock.New(t.Context(), backend, dirlock.Options{Identify: identify})
			require.NoError(t, err)
			g, err := m.LockAuto(t.Context(), request("A", "/w"))
			require.NoError(t, err)
			queued, panicked := make(chan dirlock.Wait, 1), make(chan any, 1)
			go func() {
				defer func() { panicked <- recover() }()
				calls := 0
				req := dirlock.Request{Owner: "B", OnWait: func(w dirlock.Wait) { queued <- w }}
				_, _ = m.LockResolved(t.Context(), req, func() ([]string, error) {
					if calls++; calls == 1 {
						return []string{"/w"}, nil
					}
					return resolve(), nil
				})
			}()
			within(t, queued)
			g.Release()
			require.NotNil(t, within(t, panicked))
			snapshot, err := m.Snapshot(t.Context())
			require.NoError(t, err)
			require.Empty(t, snapshot)
			require.NoError(t, m.Close(t.Context()))
		})
	}
}

// TestAPanicInAnUpdateChangesNothing: what is in memory is not taken for what is
// on disk.
func TestAPanicInAnUpdateChangesNothing(t *testing.T) {
	f := newFile(t)
	s, err := f.Attach(t.Context())
	require.NoError(t, err)
	m := newManager(t, f)
	_, err = m.LockManual(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	require.Panics(t, func() {
		_ = s.Update(t.Context(), func(table *dirlock.Table) (bool, error) {
			table.ForceUnlockOverlapping("B", pathOnly("/w"), 0)
			panic("a fault")
		})
	})
	snapshot, err := m.Snapshot(t.Context())
	require.NoError(t, err)
	require.Len(t, snapshot.Held, 1)
	require.NoError(t, s.Close(t.Context()))
}
