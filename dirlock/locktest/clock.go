package locktest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/taukit/taukit/dirlock"
)

// A Clock is a [dirlock.Clock] that goes only when told to. It is safe for
// concurrent use. Its zero value is not valid: see [NewClock].
type Clock struct {
	mu     sync.Mutex
	wall   time.Time
	mono   time.Duration
	timers []*timer // that have neither fired nor been stopped
	more   chan struct{}
}

type timer struct {
	clock *Clock
	at    time.Duration
	c     chan time.Time
}

// NewClock returns a clock that stands.
func NewClock() *Clock {
	return &Clock{wall: time.Now().Round(0), more: make(chan struct{})}
}

// Now returns the wall clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// Monotonic returns how far the clock has been advanced.
func (c *Clock) Monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono
}

// NewTimer returns a timer that fires when the clock is advanced so far.
func (c *Clock) NewTimer(d time.Duration) dirlock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{clock: c, at: c.mono + d, c: make(chan time.Time, 1)}
	if d <= 0 {
		t.c <- c.wall
		return t
	}
	c.timers = append(c.timers, t)
	close(c.more)
	c.more = make(chan struct{})
	return t
}

func (t *timer) C() <-chan time.Time { return t.c }

func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	i := slices.Index(t.clock.timers, t)
	if i >= 0 {
		t.clock.timers = slices.Delete(t.clock.timers, i, i+1)
	}
	return i >= 0
}

// Advance moves both clocks on and fires the timers that are due.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mono += d
	c.wall = c.wall.Add(d)
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool {
		if t.at > c.mono {
			return false
		}
		t.c <- c.wall
		return true
	})
}

// SetWall moves only the wall clock, forward or back.
func (c *Clock) SetWall(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

// AwaitTimers returns when at least n timers are running. It panics if that does
// not happen within half a minute of real time.
func (c *Clock) AwaitTimers(n int) {
	late := time.After(patience)
	for {
		c.mu.Lock()
		running, more := len(c.timers), c.more
		c.mu.Unlock()
		if running >= n {
			return
		}
		select {
		case <-more:
		case <-late:
			panic(fmt.Sprintf("locktest: %d timers are running, not %d", running, n))
		}
	}
}
