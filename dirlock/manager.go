package dirlock

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Options configure a [Manager]. A zero field stands for its default.
type Options struct {
	Clock Clock // by default that of the system
	// LivenessInterval is the time between two looks of a waiter at the lock
	// that blocks it. AbandonedAfter is the time without use after which such
	// a look ends the wait.
	LivenessInterval, AbandonedAfter time.Duration
	// MaxWaiters and MaxHeld bound the table of all instances.
	MaxWaiters, MaxHeld int
	// Identify returns a canonical directory with the identities to compare,
	// by default [Identify]. Instances that share a table must use the same.
	Identify func(dir string) Dir
}

// A Request asks for a lock.
type Request struct {
	Owner Owner
	Call  CallID
	// Dirs are canonical directories, of [Canonical], [WriteDir] or [EntryDir];
	// for a manual lock just one.
	Dirs []string
	// OnWait, if not nil, is called once, the first time that the request has to
	// wait, by the goroutine that asked. It holds up nobody else.
	OnWait func(Wait)
}

// A Wait is what a request begins to wait for.
type Wait struct {
	Dirs          []string // of the request
	Blocking      string   // the smallest directory that is in the way
	BlockingOwner Owner
}

// A Manager takes and releases the locks of one session, which is an instance of
// its own: its agents are other owners than those of another Manager.
//
// It is safe for concurrent use. A request that waits holds up nothing but its
// caller. When a request fails, it has left nothing behind, or it leaves as soon
// as the store works again.
type Manager struct {
	backend Backend
	opts    Options

	mu      sync.Mutex // never held while the backend is called, but taken in functions of Update
	closed  bool
	current *instance // nil after it was lost, until the next request
	notices []notice  // of locks lost with their instance; the holders have no instance
}

// New attaches to a backend. The Manager must be closed.
func New(ctx context.Context, backend Backend, opts Options) (*Manager, error) {
	if opts.Clock == nil {
		opts.Clock = newSystemClock()
	}
	if opts.Identify == nil {
		opts.Identify = Identify
	}
	opts.LivenessInterval = cmp.Or(opts.LivenessInterval, DefaultLivenessInterval)
	opts.AbandonedAfter = cmp.Or(opts.AbandonedAfter, DefaultAbandonedAfter)
	opts.MaxWaiters = cmp.Or(opts.MaxWaiters, DefaultMaxWaiters)
	opts.MaxHeld = cmp.Or(opts.MaxHeld, DefaultMaxHeld)
	m := &Manager{backend: backend, opts: opts}
	i, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	i.leave()
	return m, nil
}

// LockManual takes the manual lock on a directory, and waits for it if need be.
//
// The error is an [*Error]: [ErrDuplicate], [ErrDeadlock], [ErrAbandoned],
// [ErrQueueFull], [ErrBackend], [ErrClosed], or that the context ended.
func (m *Manager) LockManual(ctx context.Context, req Request) (Held, error) {
	if len(req.Dirs) != 1 {
		return Held{}, invalid("a manual lock is on one directory")
	}
	g, err := m.acquire(ctx, req, Claim{Manual: true})
	if err != nil {
		return Held{}, err
	}
	defer g.inst.leave()
	m.mu.Lock()
	g.inst.manual[g.id] = notice{holder: Holder{Agent: req.Owner}, dir: g.dirs[0]}
	m.notices = slices.DeleteFunc(m.notices, func(n notice) bool {
		return n.holder.Agent == req.Owner && n.dir.overlaps(g.dirs[0])
	})
	gone := g.inst.lost
	m.mu.Unlock()
	if gone != nil {
		return Held{}, lost(g.dirs[0].Path, gone.Reason, "")
	}
	return Held{Owner: req.Owner, Dir: g.dirs[0].Path, Token: g.token, Waited: g.waited}, nil
}

// Unlock releases the owner's manual lock on just this canonical directory, which
// may be gone. Otherwise the error is [ErrNotHeld], with the reason if it was
// lost.
func (m *Manager) Unlock(ctx context.Context, owner Owner, dir string) (Held, error) {
	if n, ok := m.takeNotice(owner, func(lost Dir) bool { return lost.Path == dir }); ok {
		return Held{}, ErrNotHeld.with(Error{Agent: owner, Requested: dir, Reason: n.reason})
	}
	return m.unlock(ctx, owner, dir, func(t *Table, i *instance, d Dir, now int64) (Held, *Error) {
		return t.Unlock(i.holder(owner), d, now)
	})
}

// ForceUnlock releases the manual lock that the victim has on just this canonical
// directory, in any instance, and leaves it a notice. If by is the victim, it is
// Unlock. Otherwise the error is [ErrNotHeld].
func (m *Manager) ForceUnlock(ctx context.Context, by, victim Owner, dir string) (Held, error) {
	if by == victim {
		return m.Unlock(ctx, by, dir)
	}
	return m.unlock(ctx, victim, dir, func(t *Table, _ *instance, d Dir, now int64) (Held, *Error) {
		return t.ForceUnlock(by, victim, d, now)
	})
}

func (m *Manager) unlock(ctx context.Context, owner Owner, dir string, release func(*Table, *instance, Dir, int64) (Held, *Error)) (Held, error) {
	if !owner.valid() || !isCanonical(dir) {
		return Held{}, invalid("no agent id, or no canonical directory")
	}
	i, err := m.enter(ctx)
	if err != nil {
		return Held{}, err
	}
	defer i.leave()
	d := m.opts.Identify(dir)
	var held Held
	var refused *Error
	err = i.update(ctx, func(t *Table) { held, refused = release(t, i, d, i.now()) })
	switch {
	case err != nil:
		return Held{}, err
	case refused != nil:
		return Held{}, refused
	}
	m.mu.Lock()
	for id, own := range i.manual {
		if own.dir.Path == held.Dir {
			delete(i.manual, id)
		}
	}
	m.mu.Unlock()
	return held, nil
}

// ForceUnlockOverlapping releases all manual locks, in any instance, that overlap
// a canonical directory, and leaves their holders notices. Automatic locks stay.
// The result, in the order of directories, may be empty.
func (m *Manager) ForceUnlockOverlapping(ctx context.Context, by Owner, dir string) ([]Held, error) {
	if !isCanonical(dir) {
		return nil, invalid("no canonical directory")
	}
	i, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer i.leave()
	d := m.opts.Identify(dir)
	var all []Held
	err = i.update(ctx, func(t *Table) { all = t.ForceUnlockOverlapping(by, d, i.now()) })
	return all, err
}

// ReleaseOwner releases the manual locks of an agent that has ended and cancels
// its requests that wait; its running tools keep their locks until they end. It
// returns how many there were. If the store fails, it is done as soon as that
// works again.
func (m *Manager) ReleaseOwner(owner Owner) (released, cancelled int) {
	m.mu.Lock()
	m.notices = slices.DeleteFunc(m.notices, func(n notice) bool { return n.holder.Agent == owner })
	i := m.current
	if i == nil {
		m.mu.Unlock()
		return 0, 0
	}
	i.users++
	told := 0
	for _, w := range i.waiters {
		if w.owner == owner {
			w.end(outcome{err: errOwnerEnded})
			told++
		}
	}
	for id, own := range i.manual {
		if own.holder.Agent == owner {
			delete(i.manual, id)
		}
	}
	m.mu.Unlock()
	defer i.leave()
	i.eventually(func(t *Table) { released, cancelled = t.ReleaseOwner(i.holder(owner), i.now()) })
	return released, max(cancelled, told) // who was told may have left by itself
}

// Cancel ends the wait of a call's request, as the end of its context does. It
// reports whether there was one.
func (m *Manager) Cancel(call CallID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := false
	if i := m.current; i != nil {
		for _, w := range i.waiters {
			if w.call == call {
				w.end(outcome{err: &Error{Code: CodeCancelled, Msg: "cancelled", Err: context.Canceled}})
				found = true
			}
		}
	}
	return found
}

// OthersHeld returns the directories on which other owners have locks now, of any
// kind and instance, sorted.
func (m *Manager) OthersHeld(ctx context.Context, owner Owner) ([]string, error) {
	i, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer i.leave()
	var dirs []string
	err = i.view(ctx, func(t *Table) { dirs = t.othersHeld(i.holder(owner)) })
	return dirs, err
}

// Snapshot returns what is held and what waits now, in all instances.
func (m *Manager) Snapshot(ctx context.Context) (Snapshot, error) {
	i, err := m.enter(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	defer i.leave()
	var s Snapshot
	err = i.view(ctx, func(t *Table) { s = t.Snapshot(i.now()) })
	return s, err
}

// Close releases all manual locks of the Manager and ends its requests that wait
// with [ErrClosed], which then also is [context.Canceled]. Guards that are held
// stay valid; the instance ends with the last of them. Later requests give
// [ErrClosed]; Close may be called again.
//
// With an error of the store the locks are released as soon as it works again, or
// the process ends.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	i := m.current
	if m.closed || i == nil {
		m.closed = true
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	i.failWaiters(ErrClosed.with(Error{Err: context.Canceled}))
	i.detached = true
	m.mu.Unlock()
	defer i.leave()
	release := func(t *Table) { t.ReleaseInstance(i.session.ID(), i.now()) }
	err := i.update(ctx, release)
	if err != nil {
		i.later(release)
	}
	i.watchers.Wait()
	return err
}

// enter returns the instance of the Manager, for the time until leave is called.
func (m *Manager) enter(ctx context.Context) (*instance, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, cancelled(ctx)
		}
		m.mu.Lock()
		i := m.current
		closed := m.closed
		if i != nil && !closed {
			i.users++
		}
		m.mu.Unlock()
		switch {
		case closed:
			return nil, ErrClosed
		case i != nil && !isClosed(i.session.Lost()):
			return i, nil
		case i != nil:
			i.lose()
			i.leave()
		default:
			if err := m.attach(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// attach makes a new instance the current one, unless there is one already.
func (m *Manager) attach(ctx context.Context) error {
	session, err := m.backend.Attach(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return cancelled(ctx)
		}
		return asBackend(err)
	}
	i := newInstance(m, session)
	m.mu.Lock()
	used := m.current == nil && !m.closed
	if used {
		m.current = i
	}
	m.mu.Unlock()
	if !used {
		i.leave()
	}
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// takeNotice removes and returns a notice of a lock that was lost with its
// instance.
func (m *Manager) takeNotice(owner Owner, meant func(Dir) bool) (notice, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.notices, func(n notice) bool { return n.holder.Agent == owner && meant(n.dir) })
	if i < 0 {
		return notice{}, false
	}
	n := m.notices[i]
	m.notices = slices.Delete(m.notices, i, i+1)
	return n, true
}

func (o Owner) valid() bool {
	if len(o) == 0 || len(o) > MaxOwnerBytes || !utf8.ValidString(string(o)) {
		return false
	}
	for _, r := range string(o) {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return false
		}
	}
	return true
}
