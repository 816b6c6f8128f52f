package dirlock

import "time"

// A Clock tells a [Manager] the time. It is safe for concurrent use.
type Clock interface {
	// Now is the wall clock, which may be set.
	Now() time.Time
	// Monotonic is the time since some moment. It is never set.
	Monotonic() time.Duration
	// NewTimer returns a timer of the monotonic clock.
	NewTimer(time.Duration) Timer
}

// A Timer sends once when its time is up.
type Timer interface {
	C() <-chan time.Time
	Stop() bool
}

// systemClock is the default. Its zero value is not valid.
type systemClock struct{ start time.Time }

func newSystemClock() systemClock { return systemClock{time.Now()} }

func (systemClock) Now() time.Time                 { return time.Now() }
func (c systemClock) Monotonic() time.Duration     { return time.Since(c.start) }
func (systemClock) NewTimer(d time.Duration) Timer { return systemTimer{time.NewTimer(d)} }

type systemTimer struct{ *time.Timer }

func (t systemTimer) C() <-chan time.Time { return t.Timer.C }
