package image

import (
	"context"
	"slices"
	"sync"

	"github.com/taukit/taukit/framing"
)

// MaxWaiting is how many calls wait for the one that decodes.
const MaxWaiting = 8

// turns lets one call work, and others wait in the order of their coming.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting []chan struct{} // each is closed when it has got the turn
}

// take waits for the turn. It fails if too many wait already, or with ctx.
func (t *turns) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return nil
	}
	if len(t.waiting) == MaxWaiting {
		t.mu.Unlock()
		return &Error{Code: framing.CodeBusy, Kind: KindBusy, Limit: MaxWaiting}
	}
	mine := make(chan struct{})
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		t.leave(mine)
		return ctx.Err()
	}
}

// leave gives up waiting, or the turn if it has come meanwhile.
func (t *turns) leave(mine chan struct{}) {
	t.mu.Lock()
	i := slices.Index(t.waiting, mine)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 {
		t.pass()
	}
}

// pass gives the turn to the next.
func (t *turns) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	close(t.waiting[0])
	t.waiting = t.waiting[1:]
}
