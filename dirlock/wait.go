package dirlock

import "context"

// A waiter is a request that is under way, in the eyes of the one who made it.
type waiter struct {
	claim Claim
	id    uint64       // in the queue; 0 until it is known
	out   chan outcome // with room for the first
}

func (w *waiter) name() lockName { return lockName{w.claim.Agent, w.claim.Dirs[0].Path} }

// An outcome ends the wait of a request.
type outcome struct {
	verdict Verdict
	err     *Error
}

// end tells the waiter, unless it has been told.
func (w *waiter) end(o outcome) bool {
	select {
	case w.out <- o:
		return true
	default:
		return false
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
	self := i.join(c) // first: from now on the request can be ended
	defer i.part(self)
	g, err := i.request(ctx, req.OnWait, self)
	if err == nil {
		i.part(self)
		select {
		case o := <-self.out:
			if o.err == nil {
				return g, nil
			}
			i.drop(g.id) // it was ended in the moment of the grant
			err = o.err.after(g.waited)
		default:
			return g, nil
		}
	}
	i.disown(self)
	return nil, err
}

func (i *instance) request(ctx context.Context, onWait func(Wait), self *waiter) (*Guard, error) {
	a := admission{instance: i, waiter: self}
	if err := i.update(ctx, a.admit); err != nil {
		return nil, err
	}
	v := a.verdict
	if v.State == Waiting {
		a.began = i.opts.Clock.Monotonic()
		i.listen(ctx, self, v.ID)
		if onWait != nil {
			i.announce(onWait, a.wait, v.ID)
		}
		var err *Error
		if v, err = a.await(ctx); err != nil {
			return nil, err.after(a.waited())
		}
	}
	waited := a.waited()
	switch {
	case v.State == Refused:
		if v.ID != 0 {
			i.drop(v.ID)
		}
		if v.Err.Code == CodeLost {
			i.told(self.claim.Agent, v.Err.Lost, a.next)
		}
		return nil, v.Err.after(waited)
	case v.State == Gone && !isClosed(i.session.Lost()):
		return nil, errOwnerEnded.after(waited) // between the queue and the wait
	case v.State == Gone:
		return nil, ErrBackend.with(Error{Err: lost(self.claim.Dirs[0].Path, ReasonMissing, ""), Waited: waited})
	case ctx.Err() != nil && a.queued():
		return nil, a.abort(ctx).after(waited)
	case ctx.Err() != nil:
		i.drop(v.ID)
		return nil, ended(ctx)
	}
	return &Guard{inst: i, id: v.ID, token: v.Token, dirs: self.claim.Dirs, queued: a.queued(), waited: waited}, nil
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

// join makes a request known, so that it can be ended.
func (i *instance) join(c Claim) *waiter {
	w := &waiter{claim: c, out: make(chan outcome, 1)}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiters[w] = true
	return w
}

// listen begins to look for verdicts on a request in the queue.
func (i *instance) listen(ctx context.Context, w *waiter, id uint64) {
	i.mu.Lock()
	w.id = id
	i.queued++
	if i.unwatch == nil {
		watching, cancel := context.WithCancel(i.life)
		i.unwatch = cancel
		i.work.Go(func() { i.watch(watching) })
	}
	i.mu.Unlock()
	// The verdict may have come before, and the goroutine have seen that already.
	if _, err := i.deliver(ctx, w); err != nil && ctx.Err() == nil {
		w.end(outcome{err: asBackend(err)})
	}
}

// part takes back join and listen.
func (i *instance) part(w *waiter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.waiters[w] && w.id != 0 {
		i.queued--
	}
	delete(i.waiters, w)
	if i.queued == 0 {
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
		verdicts, err := i.deliver(ctx)
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
func (i *instance) deliver(ctx context.Context, waiters ...*waiter) (uint64, error) {
	var verdicts uint64
	told := map[*waiter]Verdict{}
	err := i.update(ctx, func(t *Table) {
		clear(told)
		verdicts = t.Verdicts()
		to := waiters
		if len(to) == 0 {
			to = i.listening()
		}
		for _, w := range to {
			if v := i.read(t, w); v.State != Waiting {
				told[w] = v
			}
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

// listening returns the requests in the queue.
func (i *instance) listening() []*waiter {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make([]*waiter, 0, i.queued)
	for w := range i.waiters {
		if w.id != 0 {
			all = append(all, w)
		}
	}
	return all
}

// read returns the verdict on a request in the queue.
func (i *instance) read(t *Table, w *waiter) Verdict {
	v := t.Verdict(w.id)
	i.own(w, v)
	return v
}

// failWaiters ends all waits. The mutex is held.
func (i *instance) failWaiters(err *Error) {
	for w := range i.waiters {
		w.end(outcome{err: err})
	}
	i.stopWatching()
}
