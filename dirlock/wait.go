package dirlock

import (
	"context"
	"time"
)

// A waiter is a request in the queue, in the eyes of the one who made it.
type waiter struct {
	owner Owner
	call  CallID
	out   chan outcome // with room for the first
}

// An outcome ends the wait of a request.
type outcome struct {
	verdict Verdict
	err     *Error
}

// end tells the waiter, unless it has been told.
func (w *waiter) end(o outcome) {
	select {
	case w.out <- o:
	default:
	}
}

// acquire makes a request and waits until it is granted or has failed. A guard
// that is returned stands for the grant, which may also be one of a manual lock;
// the instance is used until leave.
func (m *Manager) acquire(ctx context.Context, req Request, c Claim) (*Guard, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	i, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	var g *Guard
	defer func() {
		if g == nil {
			i.leave()
		}
	}()
	g, err = i.acquire(ctx, req, c)
	return g, err
}

func (r Request) check() error {
	if !r.Owner.valid() {
		return invalid("no agent id")
	}
	if len(r.Dirs) == 0 {
		return invalid("no directories")
	}
	for _, dir := range r.Dirs {
		if !isCanonical(dir) {
			return invalid("no canonical directory")
		}
	}
	return nil
}

func (i *instance) acquire(ctx context.Context, req Request, c Claim) (*Guard, error) {
	c.Holder, c.Call, c.Dirs = i.holder(req.Owner), req.Call, i.opts.identify(req.Dirs)
	if !c.Manual {
		if n, ok := i.takeNotice(req.Owner, func(d Dir) bool { return overlapsAny(d, c.Dirs) }); ok {
			return nil, lost(n.dir.Path, n.reason, n.by)
		}
	}
	a := admission{instance: i, claim: c}
	if err := i.update(ctx, a.admit); err != nil {
		return nil, err
	}
	v := a.verdict
	var waited time.Duration
	if v.State == Waiting {
		began := i.opts.Clock.Monotonic()
		if req.OnWait != nil {
			i.announce(req.OnWait, a.wait, v.ID)
		}
		var err error
		if v, err = i.wait(ctx, req, v.ID, a.watch, began); err != nil {
			return nil, err
		}
		waited = i.opts.Clock.Monotonic() - began
	}
	switch {
	case v.State == Refused:
		if v.ID != 0 {
			i.drop(v.ID)
		}
		return nil, v.Err.after(waited)
	case v.State == Gone && !isClosed(i.session.Lost()):
		return nil, errOwnerEnded.after(waited) // between the queue and the wait
	case v.State == Gone:
		return nil, ErrBackend.with(Error{Err: lost(c.Dirs[0].Path, ReasonMissing, ""), Waited: waited})
	case ctx.Err() != nil:
		i.drop(v.ID)
		return nil, cancelled(ctx).after(waited)
	}
	queued := a.verdict.State == Waiting
	return &Guard{inst: i, id: v.ID, token: v.Token, dirs: c.Dirs, queued: queued, waited: waited}, nil
}

// announce calls OnWait. If that panics, the request leaves the queue.
func (i *instance) announce(onWait func(Wait), w Wait, id uint64) {
	done := false
	defer func() {
		if !done {
			i.drop(id)
		}
	}()
	onWait(w)
	done = true
}

// identify returns the directories as they are locked.
func (o Options) identify(paths []string) []Dir {
	if len(paths) > 1 {
		paths = Normalize(paths)
	}
	dirs := make([]Dir, len(paths))
	for i, path := range paths {
		dirs[i] = o.Identify(path)
	}
	return dirs
}

// An admission is the first step of a request.
type admission struct {
	*instance
	claim   Claim
	verdict Verdict
	watch   Watch // of one that waits
	wait    Wait
}

func (a *admission) admit(t *Table) {
	if a.isClosed() {
		a.verdict = Verdict{State: Refused, Err: ErrClosed}
		return
	}
	now := a.now()
	a.verdict = t.Acquire(a.claim, now, Limits{a.opts.MaxWaiters, a.opts.MaxHeld})
	if a.verdict.State == Waiting {
		a.watch, _ = t.Look(a.verdict.ID, Watch{}, now, 0, a.opts.LivenessInterval, a.opts.AbandonedAfter)
		a.wait = t.wait(a.verdict.ID)
	}
}

// after returns a copy of the error of a request that has waited.
func (e *Error) after(waited time.Duration) *Error {
	copied := *e
	copied.Waited = waited
	return &copied
}

func (m *Manager) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// wait returns the verdict on a request in the queue. After an error the request
// is not there any more.
func (i *instance) wait(ctx context.Context, req Request, id uint64, w Watch, began time.Duration) (Verdict, error) {
	self := i.join(ctx, id, req)
	defer i.part(id)
	clock, interval := i.opts.Clock, i.opts.LivenessInterval
	for next := began + interval; ; next += interval {
		timer := clock.NewTimer(next - clock.Monotonic())
		select {
		case o := <-self.out:
			timer.Stop()
			if o.err != nil {
				i.drop(id)
				return Verdict{}, o.err.after(clock.Monotonic() - began)
			}
			return o.verdict, nil
		case <-ctx.Done():
			timer.Stop()
			return Verdict{}, i.abort(ctx, id).after(clock.Monotonic() - began)
		case <-timer.C():
		}
		var err error
		if w, err = i.look(ctx, id, w, began); err != nil {
			return Verdict{}, err
		}
	}
}

// look ends the wait for a lock that seems to be abandoned.
func (i *instance) look(ctx context.Context, id uint64, seen Watch, began time.Duration) (Watch, error) {
	at := i.opts.Clock.Monotonic() - began
	var next Watch
	var abandoned *Error
	err := i.update(ctx, func(t *Table) {
		now := i.now()
		next, abandoned = t.Look(id, seen, now, at, i.opts.LivenessInterval, i.opts.AbandonedAfter)
		if abandoned != nil {
			t.Release(id, now)
		}
	})
	if err != nil {
		i.drop(id)
		return next, err
	}
	if abandoned != nil {
		return next, abandoned.after(at)
	}
	return next, nil
}

// abort takes a request out of the table whose context has ended.
func (i *instance) abort(ctx context.Context, id uint64) *Error {
	err := cancelled(ctx)
	i.eventually(func(t *Table) {
		first := t.wait(id)
		err.Blocking, err.BlockingOwner = first.Blocking, first.BlockingOwner
		t.Release(id, i.now())
	})
	return err
}

// wait describes what a request waits for.
func (t *Table) wait(id uint64) Wait {
	r := t.records[id]
	if r == nil || r.token != 0 {
		return Wait{}
	}
	var w Wait
	for _, d := range r.Dirs {
		w.Dirs = append(w.Dirs, d.Path)
	}
	if all := t.blockers(r); len(all) > 0 {
		w.Blocking, w.BlockingOwner = all[0].dir, all[0].Agent
	}
	return w
}

// join begins to look for verdicts on a request in the queue.
func (i *instance) join(ctx context.Context, id uint64, req Request) *waiter {
	w := &waiter{owner: req.Owner, call: req.Call, out: make(chan outcome, 1)}
	i.mu.Lock()
	i.waiters[id] = w
	switch {
	case i.closed:
		w.end(outcome{err: ErrClosed.with(Error{Err: context.Canceled})})
	case i.lost != nil:
		w.end(outcome{err: ErrBackend.with(Error{Err: i.lost})})
	case i.unwatch == nil:
		watching, cancel := context.WithCancel(context.Background())
		i.unwatch = cancel
		i.watchers.Go(func() { i.watch(watching) })
	}
	i.mu.Unlock()
	// The verdict may have come before, and the goroutine have seen that already.
	if _, err := i.deliver(ctx, map[uint64]*waiter{id: w}); err != nil && ctx.Err() == nil {
		w.end(outcome{err: asBackend(err)})
	}
	return w
}

// part takes back join.
func (i *instance) part(id uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.waiters, id)
	if len(i.waiters) == 0 {
		i.stopWatching()
	}
}

func (i *instance) stopWatching() {
	if i.unwatch != nil {
		i.unwatch()
		i.unwatch = nil
	}
}

// watch tells the waiters the verdicts on them, while there are any.
func (i *instance) watch(ctx context.Context) {
	for {
		verdicts, err := i.deliver(ctx, nil)
		if err == nil {
			err = i.session.Wait(ctx, verdicts)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			i.mu.Lock()
			if ctx.Err() == nil {
				i.failWaiters(asBackend(err))
			}
			i.mu.Unlock()
			return
		}
	}
}

// deliver tells the given waiters the verdicts on them, or if there are none
// given, all. It returns up to which number they are.
func (i *instance) deliver(ctx context.Context, waiters map[uint64]*waiter) (uint64, error) {
	var verdicts uint64
	told := map[*waiter]Verdict{}
	err := i.update(ctx, func(t *Table) {
		clear(told)
		verdicts = t.Verdicts()
		note := func(id uint64, w *waiter) {
			if v := t.Verdict(id); v.State != Waiting {
				told[w] = v
			}
		}
		if waiters != nil {
			for id, w := range waiters {
				note(id, w)
			}
			return
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		for id, w := range i.waiters {
			note(id, w)
		}
	})
	if err != nil {
		return 0, err
	}
	for w, v := range told {
		w.end(outcome{verdict: v})
	}
	return verdicts, nil
}

// failWaiters ends all waits. The mutex is held.
func (i *instance) failWaiters(err *Error) {
	for _, w := range i.waiters {
		w.end(outcome{err: err})
	}
	i.stopWatching()
}
