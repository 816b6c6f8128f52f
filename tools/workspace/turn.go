package workspace

import (
	"context"
	"sync"
)

// hostTurns are the turns of all files of this process: of one file there is
// only one queue, whoever made the workspaces that lead to it. Workspaces of
// other file systems that use the same keys wait for each other for no need.
var hostTurns turns

// turns lets one goroutine at a time have a key, first come first served. The
// zero value is ready.
type turns struct {
	mu     sync.Mutex
	queues map[string]*queue
}

// A queue is a channel of room for one: who has sent has the turn. The runtime
// lets blocked senders in by their order.
type queue struct {
	turn chan struct{}
	size int // goroutines that have the turn or wait for it
}

// wait returns when it is the caller's turn, or with the error of ctx. The
// caller calls done, once, when its turn is over.
func (t *turns) wait(ctx context.Context, key string) (done func(), err error) {
	q := t.join(key)
	select {
	case q.turn <- struct{}{}:
		return func() {
			<-q.turn
			t.leave(key, q)
		}, nil
	case <-ctx.Done():
		t.leave(key, q)
		return nil, ctx.Err()
	}
}

func (t *turns) join(key string) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[key]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		if t.queues == nil {
			t.queues = make(map[string]*queue)
		}
		t.queues[key] = q
	}
	q.size++
	return q
}

func (t *turns) leave(key string, q *queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.size--; q.size == 0 {
		delete(t.queues, key)
	}
}
