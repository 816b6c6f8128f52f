package dirlock

import (
	"cmp"
	"context"
	"maps"
	"math"
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
	// MaxWaiters and MaxHeld bound the table of all instances: see [Limits].
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
	current *instance // nil before the first request, and if it was lost, from the next one on
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
// [ErrQueueFull], [ErrBackend], [ErrClosed]; or that the context ended.
func (m *Manager) LockManual(ctx context.Context, req Request) (Held, error) {
	if len(req.Dirs) != 1 {
		return Held{}, invalid("a manual lock is on one directory")
	}
	g, err := m.acquire(ctx, req, Claim{Manual: true})
	if err != nil {
		return Held{}, err
	}
	defer g.inst.leave()
	m.dropNotices(req.Owner, g.dirs[0].overlaps)
	if gone := g.inst.isLost(); gone != nil {
		return Held{}, lost(g.dirs[0].Path, gone.Reason, "")
	}
	return Held{Owner: req.Owner, Dir: g.dirs[0].Path, Token: g.token, Waited: g.waited}, nil
}

func (i *instance) isLost() *Error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.lost
}

// Unlock releases the owner's manual lock on just this canonical directory, which
// may be gone. Otherwise the error is [ErrNotHeld], with the reason if it was
// lost.
func (m *Manager) Unlock(ctx context.Context, owner Owner, dir string) (Held, error) {
	if n, ok := m.takeNotice(owner, func(lost Dir) bool { return lost.Path == dir }); ok {
		return Held{}, ErrNotHeld.with(Error{Agent: owner, Requested: dir, Reason: n.reason})
	}
	return m.unlock(ctx, owner, owner, dir)
}

// ForceUnlock releases the manual lock that the victim has on just this canonical
// directory, in any instance, and leaves it a notice. If by is the victim, it is
// Unlock. Otherwise the error is [ErrNotHeld].
func (m *Manager) ForceUnlock(ctx context.Context, by, victim Owner, dir string) (Held, error) {
	if !by.valid() {
		return Held{}, invalid("no agent id")
	}
	if by == victim {
		return m.Unlock(ctx, by, dir)
	}
	return m.unlock(ctx, by, victim, dir)
}

func (m *Manager) unlock(ctx context.Context, by, owner Owner, dir string) (Held, error) {
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
	var next uint64
	err = i.update(ctx, func(t *Table) {
		next = t.nextID
		if by == owner {
			held, refused = t.Unlock(i.holder(owner), d, i.now())
		} else {
			held, refused = t.ForceUnlock(by, owner, d, i.now())
		}
	})
	if err != nil {
		return Held{}, err
	}
	if by == owner {
		i.told(owner, dir, next)
	}
	if refused != nil {
		return Held{}, refused
	}
	return held, nil
}

// ForceUnlockOverlapping releases all manual locks, in any instance, that overlap
// a canonical directory, and leaves their holders notices. Automatic locks stay.
// The result, in the order of directories, may be empty.
func (m *Manager) ForceUnlockOverlapping(ctx context.Context, by Owner, dir string) ([]Held, error) {
	if !by.valid() || !isCanonical(dir) {
		return nil, invalid("no agent id, or no canonical directory")
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
	defer m.dropNotices(owner, func(Dir) bool { return true })
	i, told := m.endWaits(func(c Claim) bool { return c.Agent == owner }, errOwnerEnded)
	if i == nil {
		return 0, 0
	}
	defer i.leave()
	holder := i.holder(owner)
	next := uint64(math.MaxUint64)
	err := i.attempt(context.Background(), func(t *Table) {
		next = t.nextID
		released, cancelled = t.ReleaseOwner(holder, i.now())
	})
	if err != nil {
		released, cancelled, next = 0, 0, math.MaxUint64
		i.later(func(t *Table) { t.ReleaseOwner(holder, i.now()) })
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(i.manual, func(name lockName, own ownLock) bool { return name.owner == owner && own.token < next })
	return released, max(cancelled, told) // who was told may have left by itself
}

// Cancel ends the wait of a call's request, as the end of its context does. It
// reports whether there was one. There is none of the call "".
func (m *Manager) Cancel(call CallID) bool {
	if call == "" {
		return false
	}
	i, told := m.endWaits(func(c Claim) bool { return c.Call == call }, errCancelled)
	if i != nil {
		i.leave()
	}
	return told > 0
}

// endWaits ends the waits of requests that are meant. It returns how many, and
// the current instance, for the time until leave is called, or nil.
func (m *Manager) endWaits(meant func(Claim) bool, err *Error) (i *instance, told int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i = m.current; i == nil {
		return nil, 0
	}
	i.users++
	for w := range i.waiters {
		if meant(w.claim) && w.end(outcome{err: err}) {
			told++
		}
	}
	return i, told
}

func (m *Manager) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
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
	m.closed = true
	i := m.current
	m.current = nil
	if i == nil {
		m.mu.Unlock()
		return nil
	}
	i.failWaiters(ErrClosed.with(Error{Err: context.Canceled}))
	m.mu.Unlock()
	defer i.leave()
	if isClosed(i.session.Lost()) {
		return nil // nothing is left to release
	}
	release := func(t *Table) { t.ReleaseInstance(i.session.ID(), i.now()) }
	err := i.update(ctx, release)
	if err != nil {
		i.later(release)
	}
	return err
}

// enter returns the instance of the Manager, for the time until leave is called.
func (m *Manager) enter(ctx context.Context) (*instance, error) {
	for {
		if ctx.Err() != nil {
			return nil, ended(ctx)
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
			m.detach(i)
			i.leave()
		default:
			if err := m.attach(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// detach makes an instance that is in use not the current one any more.
func (m *Manager) detach(i *instance) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current == i {
		m.current = nil
		i.users--
	}
}

// attach makes a new instance the current one, unless there is one already.
func (m *Manager) attach(ctx context.Context) error {
	session, err := m.backend.Attach(ctx)
	if err != nil {
		return failure(ctx, err)
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
