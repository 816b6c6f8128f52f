package etcdlock

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/taukit/taukit/dirlock"
)

// A moment is what both clocks show.
type moment struct {
	wall time.Time // without a monotonic reading
	mono time.Duration
}

func readClock(c dirlock.Clock) moment { return moment{c.Now().Round(0), c.Monotonic()} }

// A validity is for how long a lease is certain to be one. The server counts the
// TTL from some moment after the renewal was sent.
type validity struct {
	sent moment
	ttl  time.Duration
}

// usable is the TTL without what clocks and timers may be wrong by.
func (v validity) usable() time.Duration { return v.ttl - max(MinMargin, v.ttl/marginPart) }

// left returns how long the lease is still valid, by the clock that has moved on
// more.
func (v validity) left(now moment) time.Duration {
	return min(v.monoLeft(now), v.usable()-now.wall.Sub(v.sent.wall))
}

// monoLeft is left by the monotonic clock alone.
func (v validity) monoLeft(now moment) time.Duration { return v.usable() - (now.mono - v.sent.mono) }

// renewIn returns after which time of the monotonic clock the next renewal is due,
// or the lease is at its end.
func (v validity) renewIn(now moment, failed bool) time.Duration {
	due := v.ttl/3 - (now.mono - v.sent.mono)
	if failed {
		due = v.ttl / 15
	}
	return max(0, min(due, v.monoLeft(now)))
}

// keepAlive renews the lease until the session has ended, which it does if that
// is not possible in time.
func (s *session) keepAlive() {
	defer close(s.done)
	var err error // of the last renewal
	for {
		timer := s.clock.NewTimer(s.validity().renewIn(readClock(s.clock), err != nil))
		select {
		case <-timer.C():
		case <-s.life.Done():
			timer.Stop()
			return
		}
		if s.validity().monoLeft(readClock(s.clock)) <= 0 {
			_ = s.lose(dirlock.ReasonExpired)
			return
		}
		err = s.Renew(s.life)
		// The wall clock may have been set, or the system have slept. Without an
		// answer that says which, it is the latter.
		if err != nil && s.validity().left(readClock(s.clock)) <= 0 {
			_ = s.lose(dirlock.ReasonExpired)
		}
	}
}

// Renew asks the server to keep the lease for another TTL from now.
func (s *session) Renew(ctx context.Context) error {
	limit := s.attempt
	if left := s.validity().monoLeft(readClock(s.clock)); left > 0 {
		limit = min(limit, left)
	}
	renewing, end := s.within(ctx, limit)
	defer end()
	sent := readClock(s.clock)
	resp, err := s.client.KeepAliveOnce(renewing, s.lease)
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return s.lose(dirlock.ReasonExpired)
	case err != nil:
		return s.explain(ctx, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sent.mono >= s.valid.sent.mono {
		s.valid = validity{sent, time.Duration(resp.TTL) * time.Second}
	}
	return nil
}

func (s *session) validity() validity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.valid
}

// ValidUntil is in terms of the clock as it is now: it may be earlier the next
// time, if the clock was set.
func (s *session) ValidUntil() time.Time {
	left := s.validity().left(readClock(s.clock))
	return s.clock.Now().Add(left)
}

// systemClock is the default.
type systemClock struct{ start time.Time }

func (systemClock) Now() time.Time                         { return time.Now() }
func (c systemClock) Monotonic() time.Duration             { return time.Since(c.start) }
func (systemClock) NewTimer(d time.Duration) dirlock.Timer { return systemTimer{time.NewTimer(d)} }

type systemTimer struct{ *time.Timer }

func (t systemTimer) C() <-chan time.Time { return t.Timer.C }
