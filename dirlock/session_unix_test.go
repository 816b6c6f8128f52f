//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/locktest"
)

// leased is a Memory whose sessions can be lost, have a lease, and fail.
type leased struct {
	*dirlock.Memory
	clock *locktest.Clock

	mu       sync.Mutex
	sessions []*leasedSession
}

type leasedSession struct {
	dirlock.Session
	*leased
	lost chan struct{}

	err     error // of Update and View
	until   time.Time
	renewed int
	renewal time.Duration

	before func()                // the next Update or View
	after  func()                // the next Update
	wait   func(context.Context) // in the place of Wait
}

var errStore = errors.New("no space left on device")

func (l *leased) Attach(ctx context.Context) (dirlock.Session, error) {
	s, err := l.Memory.Attach(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ls := &leasedSession{Session: s, leased: l, lost: make(chan struct{}), until: l.clock.Now().Add(time.Hour)}
	l.sessions = append(l.sessions, ls)
	return ls, nil
}

func (s *leasedSession) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// once takes a hook away and calls it, if there is one.
func (s *leasedSession) once(hook *func()) {
	s.mu.Lock()
	do := *hook
	*hook = nil
	s.mu.Unlock()
	if do != nil {
		do()
	}
}

func (s *leasedSession) hook(hook *func(), do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*hook = do
}

func (s *leasedSession) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *leasedSession) Update(ctx context.Context, update func(*dirlock.Table) (bool, error)) error {
	s.once(&s.before)
	if err := s.failure(); err != nil {
		return err
	}
	defer s.once(&s.after)
	return s.Session.Update(ctx, update)
}

func (s *leasedSession) Wait(ctx context.Context, verdicts uint64) error {
	if s.wait == nil {
		return s.Session.Wait(ctx, verdicts)
	}
	s.wait(ctx)
	return context.Cause(ctx)
}

func (s *leasedSession) View(ctx context.Context, view func(*dirlock.Table) error) error {
	s.once(&s.before)
	if err := s.failure(); err != nil {
		return err
	}
	return s.Session.View(ctx, view)
}

func (s *leasedSession) Lost() <-chan struct{} { return s.lost }

func (s *leasedSession) Err() error {
	return &dirlock.Error{Code: dirlock.CodeLost, Reason: dirlock.ReasonExpired}
}

func (s *leasedSession) ValidUntil() time.Time { return s.until }

func (s *leasedSession) Renew(context.Context) error {
	s.renewed++
	s.until = s.clock.Now().Add(s.renewal)
	return s.failure()
}

// lose is the loss of the lease, as others see it and as the session does.
func (s *leasedSession) lose(t *testing.T) {
	t.Helper()
	require.NoError(t, s.Close(t.Context())) // the server drops the records
	close(s.lost)
}

func newLeased(t *testing.T) (*leased, *dirlock.Manager) {
	t.Helper()
	l := &leased{Memory: dirlock.NewMemory(), clock: locktest.NewClock()}
	m, err := dirlock.New(t.Context(), l, dirlock.Options{Clock: l.clock, Identify: pathOnly})
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return l, m
}

func pathOnly(dir string) dirlock.Dir { return dirlock.Dir{Path: dir} }

func request(agent dirlock.Owner, dirs ...string) dirlock.Request {
	return dirlock.Request{Owner: agent, Dirs: dirs}
}

// patience is after how much real time something that must happen has not.
const patience = 30 * time.Second

// within returns what comes soon.
func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		require.FailNow(t, "nothing happens")
		panic("not reached")
	}
}

// waits makes a request that must wait. The result comes later; a guard is
// released.
func waits(t *testing.T, ctx context.Context, m *dirlock.Manager, req dirlock.Request) <-chan error { //nolint:revive // t is first
	t.Helper()
	queued, failed := make(chan dirlock.Wait, 1), make(chan error, 1)
	req.OnWait = func(w dirlock.Wait) { queued <- w }
	go func() {
		g, err := m.LockAuto(ctx, req)
		if err == nil {
			g.Release()
		}
		failed <- err
	}()
	within(t, queued)
	return failed
}

func TestR32CheckDemandsAValidLease(t *testing.T) {
	l, m := newLeased(t)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	defer g.Release()
	s := l.sessions[0]
	require.NoError(t, g.Check(t.Context()))
	require.Zero(t, s.renewed)

	s.until = l.clock.Now().Add(dirlock.MinValidity - 1)
	s.renewal = dirlock.MinValidity
	require.NoError(t, g.Check(t.Context()))
	require.Equal(t, 1, s.renewed)

	s.set(errStore) // the server cannot be reached, but the lease holds
	require.NoError(t, g.Check(t.Context()))

	l.clock.Advance(1)
	err = g.Check(t.Context())
	require.ErrorIs(t, err, dirlock.ErrLost)
	require.ErrorIs(t, err, errStore)
	requireReason(t, err, dirlock.ReasonUnreachable)
	require.Equal(t, 2, s.renewed, "one attempt")

	s.set(nil)
	s.until, s.renewal = l.clock.Now(), 0
	err = g.Check(t.Context())
	requireReason(t, err, dirlock.ReasonExpired)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, g.Check(ctx), context.Canceled)
}

func requireReason(t *testing.T, err error, reason string) {
	t.Helper()
	var e *dirlock.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, reason, e.Reason)
}

func TestR32CheckFindsARecordThatIsGone(t *testing.T) {
	l, m := newLeased(t)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	ctx := g.Context()
	require.NoError(t, ctx.Err())
	require.NoError(t, l.sessions[0].Close(t.Context()))
	err = g.Check(t.Context())
	require.ErrorIs(t, err, dirlock.ErrLost)
	requireReason(t, err, dirlock.ReasonMissing)
	require.ErrorIs(t, context.Cause(ctx), dirlock.ErrLost)
	g.Release()
	g.Release()
	require.ErrorIs(t, g.Check(t.Context()), dirlock.ErrLost)
}

func TestALostSessionIsFinal(t *testing.T) {
	l, m := newLeased(t)
	for _, dir := range []string{"/a", "/b", "/c"} {
		_, err := m.LockManual(t.Context(), request("A", dir))
		require.NoError(t, err)
	}
	g, err := m.LockAuto(t.Context(), request("B", "/x"))
	require.NoError(t, err)
	ctx := g.Context()
	waits, failed := make(chan dirlock.Wait, 1), make(chan error, 1)
	go func() {
		req := request("C", "/a")
		req.OnWait = func(w dirlock.Wait) { waits <- w }
		_, err := m.LockAuto(t.Context(), req)
		failed <- err
	}()
	<-waits
	l.clock.AwaitTimers(1)
	l.sessions[0].lose(t)

	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), dirlock.ErrLost)
	requireReason(t, context.Cause(ctx), dirlock.ReasonExpired)
	require.ErrorIs(t, g.Check(t.Context()), dirlock.ErrLost)
	require.ErrorIs(t, <-failed, dirlock.ErrBackend)
	require.Error(t, g.Context().Err())
	g.Release()

	// The next request has a new instance. Each lock that is lost is told of
	// once, by whatever comes first.
	other, err := m.LockAuto(t.Context(), request("B", "/a"))
	require.NoError(t, err)
	other.Release()
	_, err = m.LockAuto(t.Context(), request("A", "/a/x"))
	require.ErrorIs(t, err, dirlock.ErrLost)
	requireReason(t, err, dirlock.ReasonExpired)
	_, err = m.Unlock(t.Context(), "A", "/b")
	require.ErrorIs(t, err, dirlock.ErrNotHeld)
	requireReason(t, err, dirlock.ReasonExpired)
	_, err = m.LockManual(t.Context(), request("A", "/c"))
	require.NoError(t, err)
	for _, dir := range []string{"/a", "/b", "/c"} {
		again, err := m.LockAuto(t.Context(), request("A", dir))
		require.NoError(t, err)
		again.Release()
	}
	require.Len(t, l.sessions, 2)
}

func TestR33WhatCannotBeReleasedIsReleasedLater(t *testing.T) {
	l, m := newLeased(t)
	s := l.sessions[0]
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	_, err = m.LockManual(t.Context(), request("C", "/c"))
	require.NoError(t, err)
	s.set(errStore)
	g.Release()
	m.ReleaseOwner("C")
	_, err = m.LockAuto(t.Context(), request("B", "/w"))
	require.ErrorIs(t, err, dirlock.ErrBackend)
	require.ErrorIs(t, err, errStore)
	require.Equal(t, "the lock service failed: no space left on device", err.Error())
	s.set(nil)
	for _, dir := range []string{"/w", "/c"} {
		g, err = m.LockAuto(t.Context(), request("B", dir))
		require.NoError(t, err)
		g.Release()
	}
	snapshot, err := m.Snapshot(t.Context())
	require.NoError(t, err)
	require.Empty(t, snapshot)
}

func TestR30AFailureOfTheStoreEndsAWait(t *testing.T) {
	l, m := newLeased(t)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	waits, failed := make(chan dirlock.Wait, 1), make(chan error, 1)
	go func() {
		req := request("B", "/w")
		req.OnWait = func(w dirlock.Wait) { waits <- w }
		_, err := m.LockAuto(t.Context(), req)
		failed <- err
	}()
	<-waits
	l.clock.AwaitTimers(1)
	l.sessions[0].set(errStore)
	l.clock.Advance(dirlock.DefaultLivenessInterval)
	require.ErrorIs(t, <-failed, dirlock.ErrBackend)
	l.sessions[0].set(nil)
	g.Release()
	snapshot, err := m.Snapshot(t.Context())
	require.NoError(t, err)
	require.Empty(t, snapshot)
}

func TestCloseWhileTheStoreFails(t *testing.T) {
	l, m := newLeased(t)
	_, err := m.LockManual(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	g, err := m.LockAuto(t.Context(), request("A", "/x"))
	require.NoError(t, err)
	l.sessions[0].set(errStore)
	require.ErrorIs(t, m.Close(t.Context()), errStore)
	require.NoError(t, m.Close(t.Context()))
	l.sessions[0].set(nil)
	g.Release() // and what is pending

	other, err := dirlock.New(t.Context(), l, dirlock.Options{Identify: pathOnly})
	require.NoError(t, err)
	snapshot, err := other.Snapshot(t.Context())
	require.NoError(t, err)
	require.Empty(t, snapshot)
	require.NoError(t, other.Close(t.Context()))
}

func TestRequestsThatNoCallerShouldMake(t *testing.T) {
	_, m := newLeased(t)
	long := dirlock.Owner(make([]byte, dirlock.MaxOwnerBytes+1))
	for _, req := range []dirlock.Request{
		request("", "/w"), request("a b", "/w"), request("a\n", "/w"), request("\xff", "/w"), request(long, "/w"), request("a\u2028", "/w"),
		request("A"), request("A", "w"), request("A", "/w/"), request("A", "/w/../x"), request("A", "/w\x00"),
		request("A", "/"+string(make([]byte, dirlock.MaxPathBytes))),
	} {
		_, err := m.LockAuto(t.Context(), req)
		require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal}, "%q", req)
		_, err = m.LockManual(t.Context(), req)
		require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal}, "%q", req)
	}
	for _, by := range []dirlock.Owner{"", "\xff", "a b", long} {
		_, err := m.ForceUnlock(t.Context(), by, "A", "/w")
		require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal}, "%q", by)
		_, err = m.ForceUnlock(t.Context(), "A", by, "/w")
		require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal}, "%q", by)
		_, err = m.ForceUnlockOverlapping(t.Context(), by, "/w")
		require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal}, "%q", by)
		_, err = m.Unlock(t.Context(), by, "/w")
		require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal}, "%q", by)
	}
	_, err := m.LockManual(t.Context(), request("A", "/w", "/x"))
	require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal})
	_, err = m.Unlock(t.Context(), "A", "w")
	require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal})
}

func TestAContextThatHasEnded(t *testing.T) {
	_, m := newLeased(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := m.LockAuto(ctx, request("A", "/w"))
	require.ErrorIs(t, err, cause)
	_, err = m.LockManual(ctx, request("A", "/w"))
	require.ErrorIs(t, err, cause)
	_, err = dirlock.Disabled{}.LockAuto(ctx, request("A", "/w"))
	require.ErrorIs(t, err, cause)
}

func TestDisabled(t *testing.T) {
	var locker dirlock.Locker = dirlock.Disabled{}
	for range 2 {
		g, err := locker.LockAuto(t.Context(), request("A", "/w", "/w/x"))
		require.NoError(t, err)
		require.Equal(t, []string{"/w"}, g.Dirs())
		require.NoError(t, g.Check(t.Context()))
		require.NoError(t, g.Context().Err())
		defer g.Release()
	}
	_, err := locker.LockCovered(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	_, err = locker.LockResolved(t.Context(), request("A"), func() ([]string, error) { panic("not called") })
	require.NoError(t, err)
}

func TestR6AFailureToResolveIsReturnedAsItIs(t *testing.T) {
	_, m := newLeased(t)
	_, err := m.LockResolved(t.Context(), request("A"), func() ([]string, error) { return nil, errStore })
	require.Equal(t, errStore, err)
}

func TestR1APanicOfOnWaitLeavesNothing(t *testing.T) {
	_, m := newLeased(t)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	req := request("B", "/w")
	req.OnWait = func(dirlock.Wait) { panic("a fault of the UI") }
	require.Panics(t, func() { _, _ = m.LockAuto(t.Context(), req) })
	g.Release()
	s, err := m.Snapshot(t.Context())
	require.NoError(t, err)
	require.Empty(t, s)
}

func TestR14VeryManyDirectories(t *testing.T) {
	_, m := newLeased(t)
	var dirs []string
	for n := range dirlock.MaxDirs + 1 {
		dirs = append(dirs, fmt.Sprint("/w/a/", n))
	}
	g, err := m.LockAuto(t.Context(), request("A", dirs...))
	require.NoError(t, err)
	defer g.Release()
	require.Equal(t, []string{"/w/a"}, g.Dirs())
}
