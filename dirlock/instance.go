package dirlock

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
)

// An instance is a session, with what its Manager has in it.
type instance struct {
	*Manager
	session Session
	life    context.Context // ends right before the session is closed
	stop    context.CancelFunc

	work     sync.WaitGroup // goroutines that wait for verdicts or the loss, or retry
	flushing chan struct{}  // holds a value while pending changes are made

	// The Manager's mutex protects the rest.
	users    int // requests under way, guards, and the Manager while this is its current one
	lost     *Error
	waiters  map[*waiter]bool // requests under way
	queued   int              // those that listen for a verdict
	guards   map[uint64]*Guard
	manual   map[lockName]ownLock // that their owners believe to have
	pending  []func(*Table)
	retrying bool
	unwatch  context.CancelFunc
}

type lockName struct {
	owner Owner
	dir   string
}

// An ownLock is a manual lock to tell of if the session is lost.
type ownLock struct {
	dir   Dir
	token uint64
	by    *waiter // whose request it was
}

func newInstance(m *Manager, s Session) *instance {
	i := &instance{
		Manager:  m,
		session:  s,
		flushing: make(chan struct{}, 1),
		users:    1,
		waiters:  map[*waiter]bool{},
		guards:   map[uint64]*Guard{},
		manual:   map[lockName]ownLock{},
	}
	i.life, i.stop = context.WithCancel(context.Background())
	if s.Lost() != nil {
		i.work.Go(i.watchLoss)
	}
	return i
}

func (i *instance) holder(owner Owner) Holder { return Holder{i.session.ID(), owner} }

func (i *instance) now() int64 { return i.session.Stamp(i.opts.Clock.Now()) }

// update changes the table, after what is pending. The function may be called
// several times, but only if that has no other effects than once.
func (i *instance) update(ctx context.Context, change func(*Table)) error {
	if len(i.pendingChanges()) == 0 {
		return i.store(ctx, change)
	}
	// Each pending change is made once: later it could end something newer.
	select {
	case i.flushing <- struct{}{}:
		defer func() { <-i.flushing }()
	case <-ctx.Done():
		return ended(ctx)
	}
	pending := i.pendingChanges()
	err := i.store(ctx, func(t *Table) {
		for _, release := range pending {
			release(t)
		}
		change(t)
	})
	if err == nil {
		i.mu.Lock()
		i.pending = i.pending[len(pending):]
		i.mu.Unlock()
	}
	return err
}

func (i *instance) pendingChanges() []func(*Table) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pending
}

func (i *instance) store(ctx context.Context, change func(*Table)) error {
	err := i.session.Update(ctx, func(t *Table) (bool, error) {
		before := t.Revision()
		change(t)
		return t.Revision() != before, nil
	})
	return failure(ctx, err)
}

func (i *instance) view(ctx context.Context, look func(*Table)) error {
	err := i.session.View(ctx, func(t *Table) error {
		look(t)
		return nil
	})
	return failure(ctx, err)
}

func failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ended(ctx)
	default:
		return asBackend(err)
	}
}

// attempt changes the table now, in a time that is not that of a request.
func (i *instance) attempt(ctx context.Context, release func(*Table)) error {
	if i.session.Lost() != nil { // not within the process: it may take long
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ReleaseTimeout)
		defer cancel()
	}
	return i.update(ctx, release)
}

// later changes the table before the next change of this instance, and soon. The
// function has no other effects: nobody waits for it.
func (i *instance) later(release func(*Table)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lost != nil {
		return
	}
	i.pending = append(i.pending, release)
	if !i.retrying {
		i.retrying = true
		i.work.Go(i.retry)
	}
}

// retry tries to make the changes that are pending until there are none, or the
// instance is at its end.
func (i *instance) retry() {
	for delay := RetryMin; ; delay = min(2*delay, RetryMax) {
		timer := i.opts.Clock.NewTimer(delay)
		select {
		case <-timer.C():
			_ = i.attempt(i.life, func(*Table) {})
		case <-i.session.Lost():
			timer.Stop()
			return // nothing is left to release
		case <-i.life.Done():
			timer.Stop()
			return
		}
		if i.retried() {
			return
		}
	}
}

func (i *instance) retried() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.retrying = len(i.pending) > 0
	return !i.retrying
}

// drop ends a request, whatever its state: now, or if the store fails, later.
func (i *instance) drop(id uint64) {
	release := func(t *Table) { t.Release(id, i.now()) }
	if i.attempt(context.Background(), release) != nil {
		i.later(release)
	}
}

// leave ends the use of the instance that enter began. The last one to leave
// closes the session.
func (i *instance) leave() {
	i.mu.Lock()
	i.users--
	last := i.users == 0
	i.mu.Unlock()
	if !last {
		return
	}
	i.stop()
	i.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), ReleaseTimeout)
	defer cancel()
	_ = i.session.Close(ctx) // what is left, pending or not, is that of a dead instance
}

// watchLoss looks for the loss of the session until that is closed.
func (i *instance) watchLoss() {
	select {
	case <-i.life.Done():
	case <-i.session.Lost():
		i.lose()
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
	i.addNotices(i.lostLocks(reason))
	i.manual = nil
	i.failWaiters(ErrBackend.with(Error{Err: i.lost}))
	for _, g := range i.guards {
		g.lose(reason)
	}
}

// lostLocks returns notices of the manual locks, as many as are kept, the oldest
// first. The mutex is held.
func (i *instance) lostLocks(reason string) []notice {
	var all []notice
	newest := func(a, b lockName) int { return cmp.Compare(i.manual[b].token, i.manual[a].token) }
	for _, name := range slices.SortedFunc(maps.Keys(i.manual), newest) {
		dir := i.manual[name].dir
		// One that overlaps a newer one had ended before, and that was settled.
		settled := func(n notice) bool { return n.holder.Agent == name.owner && n.dir.overlaps(dir) }
		if len(all) < MaxNotices && !slices.ContainsFunc(all, settled) {
			all = append(all, notice{holder: Holder{Agent: name.owner}, dir: dir, reason: reason})
		}
	}
	slices.Reverse(all)
	return all
}

// own notes that a manual lock was granted. It is called while the table is as the
// verdict says: what ends the lock comes after that.
func (i *instance) own(w *waiter, v Verdict) {
	if !w.claim.Manual || v.State != Granted {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lost == nil {
		i.manual[w.name()] = ownLock{w.claim.Dirs[0], v.Token.Number, w}
	}
}

// disown takes back own for a request that has failed after all.
func (i *instance) disown(w *waiter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.manual[w.name()].by == w {
		delete(i.manual, w.name())
	}
}

// told notes that an owner knows that it does not have a lock any more, if it was
// granted before the number next.
func (i *instance) told(owner Owner, dir string, next uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	name := lockName{owner, dir}
	if own, ok := i.manual[name]; ok && own.token < next {
		delete(i.manual, name)
	}
}
