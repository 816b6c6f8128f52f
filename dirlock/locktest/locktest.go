// Package locktest is what every [dirlock.Backend] must pass.
package locktest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/taukit/taukit/dirlock"
)

// patience is after how much real time something that must happen has not.
const patience = 30 * time.Second

// Run runs all scenarios, each on a new backend: once with all agents in one
// instance, and once with B in an instance of its own. Time is a [Clock].
func Run(t *testing.T, newBackend func(*testing.T) dirlock.Backend) {
	for _, mode := range []string{"one instance", "two instances"} {
		t.Run(mode, func(t *testing.T) {
			for _, s := range scenarios {
				t.Run(s.name, func(t *testing.T) {
					e := newEnv(t, newBackend(t), mode == "two instances")
					s.run(e)
					e.requireNothingLeft()
				})
			}
		})
	}
}

type scenario struct {
	name string
	run  func(*env)
}

var scenarios = slices.Concat(conflictScenarios, queueScenarios, lifeScenarios, raceScenarios)

// env is a tree, a backend, and agents: A, B and C.
type env struct {
	*testing.T
	clock   *Clock
	backend dirlock.Backend
	root    string // canonical; in it are root/a/child, root/b and other
	first   *dirlock.Manager
	second  *dirlock.Manager // that of B; it may be the first
}

func newEnv(t *testing.T, backend dirlock.Backend, two bool) *env {
	e := &env{T: t, clock: NewClock(), backend: backend}
	root, err := dirlock.Canonical(t.TempDir(), ".")
	e.ok(err)
	e.root = root
	for _, dir := range []string{"root/a/child", "root/b", "other"} {
		e.ok(os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	e.first = e.newManager(dirlock.Options{})
	e.second = e.first
	if two {
		e.second = e.newManager(dirlock.Options{})
	}
	return e
}

func (e *env) newManager(opts dirlock.Options) *dirlock.Manager {
	e.Helper()
	opts.Clock = e.clock
	m, err := dirlock.New(e.Context(), e.backend, opts)
	e.ok(err)
	e.Cleanup(func() { e.ok(m.Close(context.Background())) })
	return m
}

func (e *env) of(agent dirlock.Owner) *dirlock.Manager {
	if agent == "B" {
		return e.second
	}
	return e.first
}

func (e *env) path(dir string) string { return filepath.Join(e.root, dir) }

func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// fails requires that err is target, and facts returns its facts.
func (e *env) fails(err, target error) {
	e.Helper()
	if !errors.Is(err, target) {
		e.Fatalf("got %v, want %v", err, target)
	}
}

func (e *env) facts(err, target error) *dirlock.Error {
	e.Helper()
	e.fails(err, target)
	var found *dirlock.Error
	if !errors.As(err, &found) {
		e.Fatalf("%v has no facts", err)
	}
	return found
}

func same[T comparable](e *env, got, want T) {
	e.Helper()
	if got != want {
		e.Fatalf("got %v, want %v", got, want)
	}
}

// soon is a context for what must not wait.
func (e *env) soon() context.Context {
	ctx, cancel := context.WithTimeout(e.Context(), patience)
	e.Cleanup(cancel)
	return ctx
}

// update takes a manual lock that must be free.
func (e *env) update(agent dirlock.Owner, dir string) dirlock.Held {
	e.Helper()
	held, err := e.of(agent).LockManual(e.soon(), e.request(agent, dir))
	e.ok(err)
	same(e, held.Dir, e.path(dir))
	return held
}

func (e *env) unlock(agent dirlock.Owner, dir string) {
	e.Helper()
	_, err := e.of(agent).Unlock(e.soon(), agent, e.path(dir))
	e.ok(err)
}

// edit takes an automatic lock that must be free.
func (e *env) edit(agent dirlock.Owner, dirs ...string) *dirlock.Guard {
	e.Helper()
	g, err := e.of(agent).LockAuto(e.soon(), e.request(agent, dirs...))
	e.ok(err)
	e.ok(g.Check(e.soon()))
	return g
}

// shell takes an automatic lock for a command if it is covered.
func (e *env) shell(agent dirlock.Owner, dir string) (*dirlock.Guard, error) {
	e.Helper()
	return e.of(agent).LockCovered(e.soon(), e.request(agent, dir))
}

func (e *env) request(agent dirlock.Owner, dirs ...string) dirlock.Request {
	req := dirlock.Request{Owner: agent}
	for _, dir := range dirs {
		req.Dirs = append(req.Dirs, e.path(dir))
	}
	return req
}

// waiting is a request that has to wait.
type waiting struct {
	*env
	agent  dirlock.Owner
	wait   dirlock.Wait
	cancel context.CancelCauseFunc
	done   chan result
}

type result struct {
	held  dirlock.Held
	guard *dirlock.Guard
	err   error
}

// updateWaits and editWaits make requests that must wait.
func (e *env) updateWaits(agent dirlock.Owner, dir string) *waiting {
	e.Helper()
	return e.start(agent, e.request(agent, dir), func(ctx context.Context, req dirlock.Request) (r result) {
		r.held, r.err = e.of(agent).LockManual(ctx, req)
		return r
	})
}

func (e *env) editWaits(agent dirlock.Owner, dirs ...string) *waiting {
	e.Helper()
	return e.start(agent, e.request(agent, dirs...), func(ctx context.Context, req dirlock.Request) (r result) {
		r.guard, r.err = e.of(agent).LockAuto(ctx, req)
		return r
	})
}

// start makes a request and returns when it is in the queue and its clock runs.
func (e *env) start(agent dirlock.Owner, req dirlock.Request, call func(context.Context, dirlock.Request) result) *waiting {
	e.Helper()
	ctx, cancel := context.WithCancelCause(e.Context())
	w := &waiting{env: e, agent: agent, cancel: cancel, done: make(chan result, 1)}
	e.Cleanup(func() { cancel(nil) })
	waits := make(chan dirlock.Wait, 1)
	req.OnWait = func(w dirlock.Wait) { waits <- w }
	go func() { w.done <- call(ctx, req) }()
	select {
	case w.wait = <-waits:
	case r := <-w.done:
		e.Fatalf("%s does not wait: %v", agent, r.err)
	case <-time.After(patience):
		e.Fatalf("%s neither waits nor ends", agent)
	}
	return w
}

// result waits for the request to end.
func (w *waiting) result() result {
	w.Helper()
	select {
	case r := <-w.done:
		return r
	case <-time.After(patience):
		w.Fatalf("%s still waits", w.agent)
		return result{}
	}
}

// granted requires that the request is granted now.
func (w *waiting) granted() result {
	w.Helper()
	r := w.result()
	w.ok(r.err)
	return r
}

// still requires that the request waits.
func (w *waiting) still() {
	w.Helper()
	s, err := w.first.Snapshot(w.soon())
	w.ok(err)
	for _, waiter := range s.Waiting {
		if waiter.Agent == w.agent {
			return
		}
	}
	w.Fatalf("%s does not wait: %+v", w.agent, s)
}

// requireNothingLeft requires that nothing is held and nothing waits.
func (e *env) requireNothingLeft() {
	e.Helper()
	m := e.newManager(dirlock.Options{})
	s, err := m.Snapshot(e.soon())
	e.ok(err)
	if len(s.Held)+len(s.Waiting) > 0 {
		e.Fatalf("left: %+v", s)
	}
}
