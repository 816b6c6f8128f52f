package dirlock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Guard is an automatic lock that is held. It is safe for concurrent use.
type Guard struct {
	inst   *instance // nil if locking is off
	id     uint64
	token  Token
	dirs   []Dir
	queued bool // it was not granted at once
	waited time.Duration

	release sync.Once

	mu     sync.Mutex
	err    *Error // why it is not held any more
	cause  error  // with which ctx ended then
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Token orders this grant among all of the same table.
func (g *Guard) Token() Token { return g.token }

// Dirs returns the directories that are locked, as [Normalize] leaves them. The
// slice is the caller's.
func (g *Guard) Dirs() []string {
	dirs := make([]string, len(g.dirs))
	for i, d := range g.dirs {
		dirs[i] = d.Path
	}
	return dirs
}

// Waited returns for how long the request waited.
func (g *Guard) Waited() time.Duration { return g.waited }

// Check returns nil if the lock is held now, and is certain to be for at least
// [MinValidity] if it depends on a lease. It must be asked after all is prepared
// and right before each change that others can see. Otherwise the error is
// [ErrLost], and nothing more must be changed, or the end of ctx.
func (g *Guard) Check(ctx context.Context) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if err := g.failed(); err != nil || g.inst == nil {
		return err
	}
	var v Verdict
	err := g.inst.view(ctx, func(t *Table) { v = t.Verdict(g.id) })
	leased, unproved := g.inst.proveLease(ctx) // not before: the look may have taken long
	switch {
	case ctx.Err() != nil:
		return ended(ctx)
	case unproved != nil:
		return g.lostBy(unproved)
	case err != nil && leased:
		return nil // as long as the lease holds, the record is there
	case err != nil:
		return g.lostBy(err)
	case v.State != Granted || v.Token != g.token:
		g.lose(ReasonMissing)
	}
	return g.failed()
}

// proveLease makes sure that the session is not lost, and that the lease, if there
// is one, is valid for long enough.
func (i *instance) proveLease(ctx context.Context) (leased bool, err error) {
	enough := func() bool {
		until := i.session.ValidUntil()
		leased = !until.IsZero()
		return !leased || until.Sub(i.opts.Clock.Now()) >= MinValidity
	}
	if !enough() {
		if err := i.session.Renew(ctx); err != nil {
			return true, err
		}
		if !enough() {
			return true, lost("", ReasonExpired, "")
		}
	}
	if isClosed(i.session.Lost()) {
		return leased, i.session.Err()
	}
	return leased, nil
}

// lostBy returns the loss of a lock that could not be proved.
func (g *Guard) lostBy(err error) error {
	reason := ReasonUnreachable
	if isClosed(g.inst.session.Lost()) {
		err = g.inst.session.Err()
	}
	if e, ok := err.(*Error); ok && e.Reason != "" { //nolint:errorlint // one of ours
		reason = e.Reason
	}
	e := lost(g.dirs[0].Path, reason, "")
	e.Err = err
	return e
}

// Context returns a context that ends when the lock is lost, with an error that is
// [ErrLost] as its cause, or when it is released, with [context.Canceled].
func (g *Guard) Context() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx == nil {
		g.ctx, g.cancel = context.WithCancelCause(context.Background())
		if g.err != nil {
			g.cancel(g.cause)
		}
	}
	return g.ctx
}

// Release ends the lock. It may be called again, and after a loss. It does not
// fail: if the store does, the lock is released as soon as that works again.
func (g *Guard) Release() {
	g.release.Do(func() {
		g.end(ErrLost.with(Error{Reason: ReasonMissing, Err: context.Canceled}), context.Canceled)
		if g.inst == nil {
			return
		}
		g.inst.mu.Lock()
		delete(g.inst.guards, g.id)
		gone := g.inst.lost != nil
		g.inst.mu.Unlock()
		if !gone {
			g.inst.drop(g.id)
		}
		g.inst.leave()
	})
}

// lose notes that the lock is lost.
func (g *Guard) lose(reason string) {
	err := lost(g.dirs[0].Path, reason, "")
	g.end(err, err)
}

func (g *Guard) end(err *Error, cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return
	}
	g.err, g.cause = err, cause
	if g.cancel != nil {
		g.cancel(cause)
	}
}

// failed returns why the lock is not held, or nil.
func (g *Guard) failed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return g.err
	}
	return nil
}

// LockAuto takes the automatic lock on a set of directories, all or nothing, and
// waits for it if need be. The guard must be released.
//
// The error is an [*Error]: [ErrLost] if a manual lock of the owner was lost
// there, [ErrDeadlock], [ErrAbandoned], [ErrQueueFull], [ErrBackend],
// [ErrClosed]; or that the context ended. The caller looks at the context once
// more before it changes anything.
func (m *Manager) LockAuto(ctx context.Context, req Request) (*Guard, error) {
	return m.guard(ctx, req, Claim{})
}

// LockCovered is LockAuto if manual locks of the owner cover the directories, and
// else [ErrNotCovered]. It never waits for another lock.
func (m *Manager) LockCovered(ctx context.Context, req Request) (*Guard, error) {
	return m.guard(ctx, req, Claim{Covered: true})
}

func (m *Manager) guard(ctx context.Context, req Request, c Claim) (*Guard, error) {
	g, err := m.acquire(ctx, req, c)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	g.inst.guards[g.id] = g
	gone := g.inst.lost
	m.mu.Unlock()
	if gone != nil {
		g.lose(gone.Reason)
	}
	return g, nil
}

// LockResolved is LockAuto for the directories that resolve returns, in the place
// of those of the request. As symbolic links and directories may change during a
// wait, resolve is called again after it, and the request made again if the
// lock does not cover the result: [MaxRounds] times, and then the error is
// [ErrPathChanged]. An error of resolve is returned as it is.
func (m *Manager) LockResolved(ctx context.Context, req Request, resolve func() ([]string, error)) (*Guard, error) {
	dirs, err := resolve()
	if err != nil {
		return nil, err
	}
	var waited time.Duration
	for range MaxRounds {
		req.Dirs = dirs
		g, err := m.guard(ctx, req, Claim{})
		if e, ok := err.(*Error); ok { //nolint:errorlint // one of ours
			return nil, e.after(waited + e.Waited)
		}
		if err != nil {
			return nil, err
		}
		waited += g.waited
		g.waited = waited
		if dirs, err = m.resolveAgain(g, resolve); err != nil {
			return nil, err
		}
		if dirs == nil {
			return g, nil
		}
		req.OnWait = nil // it was called
	}
	return nil, ErrPathChanged.with(Error{Requested: dirs[0], Waited: waited})
}

// resolveAgain returns the directories to ask for instead, after it has released
// the guard, or nil if they are locked: without a wait, or still after it.
func (m *Manager) resolveAgain(g *Guard, resolve func() ([]string, error)) (dirs []string, err error) {
	if !g.queued {
		return nil, nil
	}
	keep := false
	defer func() { // also if resolve panics
		if !keep {
			g.Release()
		}
	}()
	if dirs, err = resolve(); err != nil {
		return nil, err
	}
	if m.notWithin(dirs, g.dirs) == "" {
		keep = true
		return nil, nil
	}
	return dirs, nil
}

// notWithin returns one of dirs that is not where one of the locked ones is, or
// "".
func (m *Manager) notWithin(dirs []string, locked []Dir) string {
	for _, d := range m.opts.identify(dirs) {
		if !slices.ContainsFunc(locked, d.within) {
			return d.Path
		}
	}
	return ""
}
