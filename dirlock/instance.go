package dirlock

import (
	"context"
	"sync"
)

// An instance is a session, with what its Manager has in it.
type instance struct {
	*Manager
	session Session
	ended   chan struct{} // closed with the session
	unlost  chan struct{} // closed when nobody looks for a loss any more

	watchers sync.WaitGroup // goroutines that wait for verdicts

	// The Manager's mutex protects the rest.
	users    int  // requests under way, guards, and the Manager until it is detached
	detached bool // the Manager is closed, or the session lost
	lost     *Error
	waiters  map[uint64]*waiter
	guards   map[uint64]*Guard
	manual   map[uint64]notice // what to tell if the session is lost
	pending  map[int]func(*Table)
	tasks    int // numbers for pending
	unwatch  context.CancelFunc
}

func newInstance(m *Manager, s Session) *instance {
	i := &instance{
		Manager: m,
		session: s,
		ended:   make(chan struct{}),
		unlost:  make(chan struct{}),
		users:   1,
		waiters: map[uint64]*waiter{},
		guards:  map[uint64]*Guard{},
		manual:  map[uint64]notice{},
		pending: map[int]func(*Table){},
	}
	if s.Lost() == nil {
		close(i.unlost)
	} else {
		go i.watchLoss()
	}
	return i
}

func (i *instance) holder(owner Owner) Holder { return Holder{i.session.ID(), owner} }

func (i *instance) now() int64 { return i.session.Stamp(i.opts.Clock.Now()) }

// update changes the table, after what is pending. The function may be called
// several times, but only if that has no other effects than once.
func (i *instance) update(ctx context.Context, change func(*Table)) error {
	tasks := i.pendingTasks()
	err := i.session.Update(ctx, func(t *Table) (bool, error) {
		before := t.Revision()
		for _, release := range tasks {
			release(t)
		}
		change(t)
		return t.Revision() != before, nil
	})
	if err != nil {
		return failure(ctx, err)
	}
	if len(tasks) > 0 {
		i.mu.Lock()
		for n := range tasks {
			delete(i.pending, n)
		}
		i.mu.Unlock()
	}
	return nil
}

// pendingTasks returns the releases that the store has refused so far.
func (i *instance) pendingTasks() map[int]func(*Table) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.pending) == 0 {
		return nil
	}
	tasks := make(map[int]func(*Table), len(i.pending))
	for n, release := range i.pending {
		tasks[n] = release
	}
	return tasks
}

func (i *instance) view(ctx context.Context, look func(*Table)) error {
	err := i.session.View(ctx, func(t *Table) error {
		look(t)
		return nil
	})
	if err != nil {
		return failure(ctx, err)
	}
	return nil
}

func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	return asBackend(err)
}

// eventually changes the table now, or if the store fails, before the next change
// of this instance. No context that is cancelled keeps it from trying.
func (i *instance) eventually(release func(*Table)) {
	ctx := context.Background()
	if i.session.Lost() != nil { // not within the process: it may take long
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ReleaseTimeout)
		defer cancel()
	}
	if i.update(ctx, release) != nil {
		i.later(release)
	}
}

func (i *instance) later(release func(*Table)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pending[i.tasks] = release
	i.tasks++
}

// drop ends a request, whatever its state.
func (i *instance) drop(id uint64) {
	i.eventually(func(t *Table) { t.Release(id, i.now()) })
}

// leave ends the use of the instance that enter began. The last one to leave
// closes the session.
func (i *instance) leave() {
	if i.left() {
		i.close()
		<-i.unlost
	}
}

func (i *instance) left() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.users--
	return i.users == 0
}

func (i *instance) close() {
	if len(i.pendingTasks()) > 0 {
		i.eventually(func(*Table) {})
	}
	ctx, cancel := context.WithTimeout(context.Background(), ReleaseTimeout)
	defer cancel()
	_ = i.session.Close(ctx) // what is left is that of a dead instance
	close(i.ended)
}

// watchLoss looks for the loss of the session until that is closed.
func (i *instance) watchLoss() {
	defer close(i.unlost)
	select {
	case <-i.ended:
	case <-i.session.Lost():
		i.mu.Lock()
		used := i.users > 0
		if used {
			i.users++
		}
		i.mu.Unlock()
		if !used {
			return // it is being closed
		}
		i.lose()
		if i.left() {
			i.close()
		}
	}
}

// lose ends all that was had in a session that is lost. Each owner that had a
// manual lock gets a notice; the locks are not taken again.
func (i *instance) lose() {
	reason := ReasonMissing
	if e, ok := i.session.Err().(*Error); ok && e.Reason != "" { //nolint:errorlint // as the interface says
		reason = e.Reason
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lost != nil {
		return
	}
	i.lost = lost("", reason, "")
	for _, n := range i.manual {
		n.reason = reason
		i.notices = append(i.notices, n)
	}
	clear(i.manual)
	i.failWaiters(ErrBackend.with(Error{Err: i.lost}))
	for _, g := range i.guards {
		g.lose(reason)
	}
	if !i.detached {
		i.detached = true
		i.current = nil
		i.users--
	}
}
