package locktest

import (
	"context"
	"errors"

	"github.com/taukit/taukit/dirlock"
)

// Scenarios of the order in which requests are granted.
var queueScenarios = []scenario{
	{"4 who has nothing to do with it passes", func(e *env) {
		e.update("A", "root/a")
		b := e.updateWaits("B", "root/a/child")
		e.update("C", "other")
		b.still()
		e.unlock("A", "root/a")
		b.granted()
		e.unlock("B", "root/a/child")
		e.unlock("C", "other")
	}},
	{"5 nobody overtakes who overlaps", func(e *env) {
		e.update("A", "root/a")
		b := e.updateWaits("B", "root")
		c := e.updateWaits("C", "root/b")
		same(e, c.wait.Blocking, e.path("root"))
		same(e, c.wait.BlockingOwner, "B")
		e.unlock("A", "root/a")
		b.granted()
		c.still()
		e.unlock("B", "root")
		c.granted()
		e.unlock("C", "root/b")
	}},
	{"10 a second request becomes a duplicate", func(e *env) {
		e.update("X", "root")
		a := e.updateWaits("A", "root/a")
		child := e.updateWaits("A", "root/a/child")
		e.unlock("X", "root")
		a.granted()
		got := e.facts(child.result().err, dirlock.ErrDuplicate)
		same(e, got.Blocking, e.path("root/a"))
		same(e, got.Requested, e.path("root/a/child"))
		e.unlock("A", "root/a")
	}},
	{"11 a waiter stuck behind an agent does not hold it back", func(e *env) {
		e.update("A", "root/a")
		b := e.updateWaits("B", "root")
		e.edit("A", "root/b").Release()
		b.still()
		e.unlock("A", "root/a")
		b.granted()
		e.unlock("B", "root")
	}},
	{"12 deadlock of two updates", func(e *env) { deadlock(e, false, false) }},
	{"12 deadlock of an update and an edit", func(e *env) { deadlock(e, false, true) }},
	{"12 deadlock of an edit and an update", func(e *env) { deadlock(e, true, false) }},
	{"12 deadlock of three", func(e *env) {
		e.update("A", "root/a")
		e.update("B", "root/b")
		e.update("C", "other")
		a := e.updateWaits("A", "root/b")
		b := e.updateWaits("B", "other")
		_, err := e.of("C").LockManual(e.soon(), e.request("C", "root/a"))
		got := e.facts(err, dirlock.ErrDeadlock)
		same(e, got.Held, e.path("other"))
		same(e, got.Blocking, e.path("root/a"))
		same(e, got.BlockingOwner, "A")
		e.unlock("C", "other")
		b.granted()
		e.unlock("B", "root/b")
		a.granted()
		e.unlock("A", "root/a")
		e.unlock("A", "root/b")
		e.unlock("B", "other")
	}},
	{"12 a release that closes a cycle", func(e *env) {
		e.update("A", "root/a")
		e.update("A", "other")
		e.update("C", "root/b")
		root := e.updateWaits("B", "root")
		other := e.updateWaits("B", "other")
		a := e.updateWaits("A", "root/b") // for C; not for B, who waits for A there
		e.unlock("A", "root/a")           // now for B too, who still waits for A elsewhere
		got := e.facts(a.result().err, dirlock.ErrDeadlock)
		same(e, got.Held, e.path("other"))
		same(e, got.Blocking, e.path("root"))
		same(e, got.BlockingOwner, "B")
		e.unlock("C", "root/b")
		root.granted()
		e.unlock("A", "other")
		other.granted()
		e.unlock("B", "root")
		e.unlock("B", "other")
	}},
	{"15 a cancelled waiter delays nobody", func(e *env) {
		e.update("A", "root/a")
		b := e.editWaits("B", "root")
		c := e.editWaits("C", "root/b")
		cause := errors.New("changed my mind")
		b.cancel(cause)
		got := e.facts(b.result().err, cause)
		same(e, got.Code, dirlock.CodeCancelled)
		same(e, got.Blocking, e.path("root/a"))
		c.granted().guard.Release()
		e.unlock("A", "root/a")
	}},
	{"15 cancelled by the call", func(e *env) {
		e.update("A", "root/a")
		b := e.callWaits("B", "call 7", "root/a", func() {})
		same(e, e.of("B").Cancel("call 8"), false)
		same(e, e.of("B").Cancel("call 7"), true)
		e.fails(b.result().err, context.Canceled)
		same(e, e.of("B").Cancel("call 7"), false)
		e.unlock("A", "root/a")
	}},
	{"15 cancelled by the call while it is told that it waits", func(e *env) {
		e.update("A", "root/a")
		found := false
		b := e.callWaits("B", "call 7", "root/a", func() { found = e.of("B").Cancel("call 7") })
		e.fails(b.result().err, context.Canceled)
		same(e, found, true)
		e.unlock("A", "root/a")
	}},
	{"15 no call is cancelled by no id", func(e *env) {
		e.update("A", "root/a")
		b := e.callWaits("B", "", "root/a", func() {})
		same(e, e.of("B").Cancel(""), false)
		e.unlock("A", "root/a")
		b.granted().guard.Release()
	}},
	{"16 a deadline is a timeout", func(e *env) {
		e.update("A", "root/a")
		ctx := newDeadline(e)
		req := e.request("B", "root/a/child")
		req.OnWait = func(dirlock.Wait) { ctx.pass() }
		_, err := e.of("B").LockAuto(ctx, req)
		got := e.facts(err, context.DeadlineExceeded)
		same(e, got.Code, dirlock.CodeTimeout)
		same(e, got.Blocking, e.path("root/a"))
		same(e, got.BlockingOwner, "A")
		e.unlock("A", "root/a")
	}},
	{"16 a deadline that is no wait for a lock", func(e *env) {
		g := e.edit("A", "root/a")
		ctx := newDeadline(e)
		ctx.pass()
		m := e.of("A")
		_, auto := m.LockAuto(ctx, e.request("B", "root/b"))
		_, manual := m.LockManual(ctx, e.request("B", "root/b"))
		_, unlock := m.Unlock(ctx, "A", e.path("root/b"))
		for _, err := range []error{auto, manual, unlock, g.Check(ctx)} {
			e.fails(err, context.DeadlineExceeded)
			if facts := (*dirlock.Error)(nil); errors.As(err, &facts) {
				e.Fatalf("the end of a context is %+v", facts)
			}
		}
		g.Release()
	}},
	{"17 a full queue", func(e *env) {
		const limit = 24 // a store may be slow
		m := e.newManager(dirlock.Options{MaxWaiters: limit})
		e.update("A", "root/a")
		var all []*waiting
		for range limit {
			all = append(all, e.editWaits("B", "root/a"))
		}
		_, err := m.LockAuto(e.soon(), e.request("X", "root/a"))
		e.fails(err, dirlock.ErrQueueFull)
		e.edit("C", "other").Release()
		e.unlock("A", "root/a")
		for _, w := range all {
			w.granted().guard.Release()
		}
	}},
}

// A deadline is a context whose deadline passes when it is told to.
type deadline struct {
	context.Context
	passed chan struct{}
}

func newDeadline(e *env) *deadline { return &deadline{e.Context(), make(chan struct{})} }

func (d *deadline) pass() { close(d.passed) }

func (d *deadline) Done() <-chan struct{} { return d.passed }

func (d *deadline) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Value hides what the context is made from.
func (*deadline) Value(any) any { return nil }

// deadlock is scenario 12: A holds root/a and waits for root/b, B the other way
// round.
func deadlock(e *env, firstEdits, secondEdits bool) {
	e.update("A", "root/a")
	e.update("B", "root/b")
	waits := e.updateWaits
	if firstEdits {
		waits = func(agent dirlock.Owner, dir string) *waiting { return e.editWaits(agent, dir) }
	}
	a := waits("A", "root/b")
	var err error
	if secondEdits {
		_, err = e.of("B").LockAuto(e.soon(), e.request("B", "root/a"))
	} else {
		_, err = e.of("B").LockManual(e.soon(), e.request("B", "root/a"))
	}
	got := e.facts(err, dirlock.ErrDeadlock)
	same(e, got.Held, e.path("root/b"))
	same(e, got.Blocking, e.path("root/a"))
	same(e, got.BlockingOwner, "A")
	a.still()
	e.unlock("B", "root/b")
	if g := a.granted().guard; g != nil {
		g.Release()
	} else {
		e.unlock("A", "root/b")
	}
	e.unlock("A", "root/a")
}

// callWaits makes a request of a call that must wait, and does something when it is
// told so.
func (e *env) callWaits(agent dirlock.Owner, call dirlock.CallID, dir string, told func()) *waiting {
	e.Helper()
	req := e.request(agent, dir)
	req.Call = call
	return e.start(agent, req, func(ctx context.Context, req dirlock.Request) (r result) {
		waits := req.OnWait
		req.OnWait = func(w dirlock.Wait) {
			waits(w)
			told()
		}
		r.guard, r.err = e.of(agent).LockAuto(ctx, req)
		return r
	})
}

// resolvedWaits makes a request that must wait, with directories to be resolved
// again.
func (e *env) resolvedWaits(agent dirlock.Owner, resolve func() ([]string, error)) *waiting {
	e.Helper()
	return e.start(agent, dirlock.Request{Owner: agent}, func(ctx context.Context, req dirlock.Request) (r result) {
		r.guard, r.err = e.of(agent).LockResolved(ctx, req, resolve)
		return r
	})
}
