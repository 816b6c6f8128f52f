package search

import (
	"context"
	"sync"
	"unsafe"
)

// Limits of what is found before the consumer comes to it.
const (
	// aheadBytes is what the results that wait for the consumer may take, in
	// bytes. The one that it waits for may take more: all the lines selected in
	// one file, or in one segment of a large file.
	aheadBytes = 64 << 20

	// reserveBytes is how many bytes a worker collects at least between two
	// reservations, unless a chunk ends.
	reserveBytes = 64 << 10

	lineBytes = int(unsafe.Sizeof(Line{}))
)

// A lookahead bounds the memory for the results that wait for the consumer.
// Each is known by its address: a *result or a *segment.
type lookahead struct {
	limit int // bytes

	mu      sync.Mutex
	used    int           // bytes that are reserved
	awaited any           // the result that the consumer waits for
	changed chan struct{} // closed when used is less or awaited another one; nil if nobody waits
}

// try reserves n bytes for a result, and reports whether there was room.
func (a *lookahead) try(n int, of any) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reserve(n, of)
}

func (a *lookahead) reserve(n int, of any) bool {
	if a.used+n > a.limit && a.awaited != of {
		return false
	}
	a.used += n
	return true
}

// wait reserves n bytes for a result when there is room. It is false if the
// context ends before.
func (a *lookahead) wait(ctx context.Context, n int, of any) bool {
	for {
		a.mu.Lock()
		if a.reserve(n, of) {
			a.mu.Unlock()
			return true
		}
		if a.changed == nil {
			a.changed = make(chan struct{})
		}
		changed := a.changed
		a.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// release gives n bytes back.
func (a *lookahead) release(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used -= n
	a.wake()
}

// await tells which result the consumer waits for.
func (a *lookahead) await(of any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.awaited = of
	a.wake()
}

func (a *lookahead) wake() {
	if a.changed != nil {
		close(a.changed)
		a.changed = nil
	}
}

// A tally adds up the matches in the jobs that are done and have none before
// them that is not.
type tally struct {
	mu    sync.Mutex
	next  int         // the first job that is not done
	ahead map[int]int // the matches in the jobs behind that one that are done
	total int
}

// add notes the matches in a job and returns the total.
func (t *tally) add(job, matches int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ahead == nil {
		t.ahead = make(map[int]int)
	}
	t.ahead[job] = matches
	for {
		n, ok := t.ahead[t.next]
		if !ok {
			return t.total
		}
		delete(t.ahead, t.next)
		t.total += n
		t.next++
	}
}
