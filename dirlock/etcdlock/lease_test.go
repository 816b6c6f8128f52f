package etcdlock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/locktest"
)

func TestLeaseIsValidByTheClockThatMovedOnMore(t *testing.T) {
	const s = time.Second
	wall := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		ttl, mono, wall time.Duration
		left            time.Duration
	}{
		"when it is sent":              {15 * s, 0, 0, 13500 * time.Millisecond},
		"the margin of a short one":    {5 * s, 0, 0, 4500 * time.Millisecond},
		"later":                        {15 * s, 3 * s, 3 * s, 10500 * time.Millisecond},
		"the system slept":             {15 * s, 3 * s, time.Hour, 13500*time.Millisecond - time.Hour},
		"the wall clock was set back":  {15 * s, 3 * s, -time.Hour, 10500 * time.Millisecond},
		"the wall clock is a bit slow": {15 * s, 13500 * time.Millisecond, 13 * s, 0},
		"the wall clock is a bit fast": {15 * s, 13 * s, 13500 * time.Millisecond, 0},
		"at the end by both":           {15 * s, 15 * s, 15 * s, -1500 * time.Millisecond},
	} {
		v := validity{moment{wall, 100 * s}, c.ttl}
		require.Equal(t, c.left, v.left(moment{wall.Add(c.wall), 100*s + c.mono}), name)
	}
}

func TestLeaseIsRenewedInTime(t *testing.T) {
	const s = time.Second
	v := validity{moment{}, 15 * s}
	for name, c := range map[string]struct {
		mono   time.Duration
		failed bool
		in     time.Duration
	}{
		"at a third":            {0, false, 5 * s},
		"rather late":           {7 * s, false, 0},
		"again after a failure": {7 * s, true, s},
		"not after its end":     {13 * s, true, 500 * time.Millisecond},
		"at its end":            {14 * s, true, 0},
	} {
		require.Equal(t, c.in, v.renewIn(moment{time.Time{}.Add(time.Hour), c.mono}, c.failed), name)
	}
}

// fakeLease answers renewals as a test says.
type fakeLease struct {
	clientv3.Lease
	renew func() (ttl int64, err error)
}

func (f fakeLease) KeepAliveOnce(context.Context, clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	ttl, err := f.renew()
	return &clientv3.LeaseKeepAliveResponse{TTL: ttl}, err
}

func (fakeLease) Revoke(context.Context, clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	return nil, rpctypes.ErrLeaseNotFound
}

// leased returns a session that needs no server to renew its lease of 15 s.
func leased(t *testing.T, clock *locktest.Clock, renew func() (int64, error)) *session {
	t.Helper()
	client := &clientv3.Client{Lease: fakeLease{renew: renew}}
	b, err := New(client, Options{Root: t.TempDir(), Scope: "test", Clock: clock})
	require.NoError(t, err)
	s := newSession(b, 1, validity{readClock(clock), DefaultTTL})
	go s.keepAlive()
	t.Cleanup(func() {
		s.endNow()
		<-s.done
	})
	clock.AwaitTimers(1)
	return s
}

func left(s *session) time.Duration { return s.ValidUntil().Sub(s.clock.Now()) }

func requireLost(t *testing.T, s *session, reason string) {
	t.Helper()
	<-s.Lost()
	var e *dirlock.Error
	require.ErrorAs(t, s.Err(), &e)
	require.ErrorIs(t, e, dirlock.ErrLost)
	require.Equal(t, reason, e.Reason)
}

func requireHeld(t *testing.T, s *session) {
	t.Helper()
	require.NoError(t, s.Err())
	select {
	case <-s.Lost():
		t.Fatal("lost")
	default:
	}
}

var errDown = errors.New("the server is down")

func down() (int64, error) { return 0, errDown }

func TestRenewalCountsFromBeforeItWasSent(t *testing.T) {
	clock := locktest.NewClock()
	s := leased(t, clock, func() (int64, error) {
		clock.Advance(4 * time.Second) // until the answer
		return 20, nil
	})
	clock.Advance(5 * time.Second)
	clock.AwaitTimers(1)
	require.Equal(t, (20-2-4)*time.Second, left(s), "the server has given a longer TTL")
}

func TestRenewalGoesOn(t *testing.T) {
	clock := locktest.NewClock()
	renewals := 0
	s := leased(t, clock, func() (int64, error) {
		renewals++
		return 15, nil
	})
	for range 100 {
		clock.Advance(5 * time.Second)
		clock.AwaitTimers(1)
	}
	require.Equal(t, 100, renewals)
	requireHeld(t, s)
}

// TestAnEarlierRenewalDoesNotShorten is of one whose answer comes after that of a
// later one.
func TestAnEarlierRenewalDoesNotShorten(t *testing.T) {
	clock := locktest.NewClock()
	var s *session
	first := true
	s = leased(t, clock, func() (int64, error) {
		if first {
			first = false
			clock.Advance(2 * time.Second)
			require.NoError(t, s.Renew(t.Context()))
		}
		return 15, nil
	})
	require.NoError(t, s.Renew(t.Context()))
	require.Equal(t, 13500*time.Millisecond, left(s))
}

func TestLeaseEndsWithoutAnAnswer(t *testing.T) {
	clock := locktest.NewClock()
	s := leased(t, clock, down)
	clock.Advance(5 * time.Second)
	for range 8 { // it tries every second
		clock.AwaitTimers(1)
		clock.Advance(time.Second)
	}
	clock.AwaitTimers(1)
	requireHeld(t, s)
	require.Equal(t, 500*time.Millisecond, left(s))
	clock.Advance(500 * time.Millisecond)
	requireLost(t, s, dirlock.ReasonExpired)
	require.ErrorIs(t, s.Renew(t.Context()), dirlock.ErrLost, "it is final")
	require.ErrorIs(t, s.Update(t.Context(), nil), dirlock.ErrLost)
	require.ErrorIs(t, s.View(t.Context(), nil), dirlock.ErrLost)
	require.ErrorIs(t, s.Wait(t.Context(), 0), dirlock.ErrLost)
	require.NoError(t, s.Close(t.Context()))
}

func TestLeaseEndsWhenTheServerSaysSo(t *testing.T) {
	clock := locktest.NewClock()
	s := leased(t, clock, func() (int64, error) { return 0, rpctypes.ErrLeaseNotFound })
	require.ErrorIs(t, s.Renew(t.Context()), dirlock.ErrLost)
	requireLost(t, s, dirlock.ReasonExpired)
}

// TestWallClockAhead is scenario 34: whether the system has slept or the clock was
// set, the server knows.
func TestWallClockAhead(t *testing.T) {
	clock := locktest.NewClock()
	s := leased(t, clock, func() (int64, error) { return 15, nil })
	clock.SetWall(time.Hour)
	require.Negative(t, left(s))
	requireHeld(t, s)
	require.NoError(t, s.Renew(t.Context()))
	require.Equal(t, 13500*time.Millisecond, left(s))

	clock.SetWall(time.Hour)
	clock.Advance(5 * time.Second) // it asks by itself, too
	clock.AwaitTimers(1)
	require.Equal(t, 13500*time.Millisecond, left(s))
	requireHeld(t, s)
}

func TestWallClockAheadWithoutAnAnswer(t *testing.T) {
	clock := locktest.NewClock()
	s := leased(t, clock, down)
	clock.SetWall(time.Hour)
	require.ErrorIs(t, s.Renew(t.Context()), errDown)
	requireHeld(t, s)
	clock.Advance(5 * time.Second)
	requireLost(t, s, dirlock.ReasonExpired)
}

func TestWallClockBack(t *testing.T) {
	clock := locktest.NewClock()
	s := leased(t, clock, down)
	clock.SetWall(-time.Hour)
	require.Equal(t, 13500*time.Millisecond, left(s))
	clock.Advance(14 * time.Second)
	requireLost(t, s, dirlock.ReasonExpired)
}

func TestRenewEndsWithItsContext(t *testing.T) {
	clock := locktest.NewClock()
	cause := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := leased(t, clock, func() (int64, error) {
		cancel(cause)
		return 0, context.Canceled
	})
	require.ErrorIs(t, s.Renew(ctx), cause)
	requireHeld(t, s)
}
