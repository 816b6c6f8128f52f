package locktest

import (
	"context"
	"time"

	"github.com/taukit/taukit/dirlock"
)

// Scenarios of how locks and waits end.
var lifeScenarios = []scenario{
	{"13 an idle lock, after a minute of waiting", func(e *env) {
		e.update("A", "root/a")
		e.clock.Advance(10 * time.Minute)
		b := e.editWaits("B", "root/a/child")
		e.minute()
		got := e.facts(b.result().err, dirlock.ErrAbandoned)
		same(e, got.Blocking, e.path("root/a"))
		same(e, got.BlockingOwner, "A")
		same(e, got.Idle, 11*time.Minute)
		same(e, got.HeldFor, 11*time.Minute)
		same(e, got.Waited, time.Minute)
		e.unlock("A", "root/a")
	}},
	{"13 a lock that becomes idle during the wait", func(e *env) {
		e.update("A", "root/a")
		e.clock.Advance(30 * time.Second)
		b := e.editWaits("B", "root/a/child")
		e.minute()
		e.clock.AwaitTimers(1) // it has looked, and waits on
		e.minute()
		same(e, e.facts(b.result().err, dirlock.ErrAbandoned).Idle, 150*time.Second)
		e.unlock("A", "root/a")
	}},
	{"13 a lock under which a command runs", func(e *env) {
		e.update("A", "root/a")
		command, err := e.shell("A", "root/a/child")
		e.ok(err)
		b := e.editWaits("B", "root/a")
		for range 10 {
			e.clock.AwaitTimers(1)
			e.minute()
		}
		e.clock.AwaitTimers(1)
		command.Release()
		e.minute()
		e.clock.AwaitTimers(1)
		e.minute()
		got := e.facts(b.result().err, dirlock.ErrAbandoned)
		same(e, got.Idle, 2*time.Minute)
		same(e, got.HeldFor, 12*time.Minute)
		e.unlock("A", "root/a")
	}},
	{"13 an automatic lock is never abandoned", func(e *env) {
		g := e.edit("A", "root/a")
		b := e.editWaits("B", "root/a")
		for range 5 {
			e.clock.AwaitTimers(1)
			e.minute()
		}
		e.clock.AwaitTimers(1)
		b.still()
		g.Release()
		b.granted().guard.Release()
	}},
	{"14 the next waiter fails too", func(e *env) {
		e.update("A", "root/a")
		e.clock.Advance(10 * time.Minute)
		b := e.editWaits("B", "root/a")
		e.clock.AwaitTimers(1)
		e.clock.Advance(30 * time.Second)
		c := e.editWaits("C", "root/a")
		e.clock.AwaitTimers(2)
		e.clock.Advance(30 * time.Second)
		e.fails(b.result().err, dirlock.ErrAbandoned)
		c.still()
		e.clock.AwaitTimers(1)
		e.clock.Advance(30 * time.Second)
		e.fails(c.result().err, dirlock.ErrAbandoned)
		e.unlock("A", "root/a")
	}},
	{"29 the wall clock jumps forward while the lock is used", func(e *env) {
		e.update("A", "root/a")
		b := e.editWaits("B", "root/a")
		e.clock.SetWall(time.Hour)
		for range 10 {
			e.clock.AwaitTimers(1)
			e.edit("A", "root/a").Release()
			e.clock.Advance(30 * time.Second)
		}
		e.clock.AwaitTimers(1)
		b.still()
		e.unlock("A", "root/a")
		b.granted().guard.Release()
	}},
	{"29 the wall clock is set back while the lock is idle", func(e *env) {
		e.update("A", "root/a")
		b := e.editWaits("B", "root/a")
		e.clock.SetWall(-time.Hour)
		e.minute()
		e.clock.AwaitTimers(1)
		e.minute()
		same(e, e.facts(b.result().err, dirlock.ErrAbandoned).Idle, 0)
		e.unlock("A", "root/a")
	}},
	{"18 an agent ends", func(e *env) {
		e.update("A", "root/a")
		e.update("A", "other")
		b := e.updateWaits("B", "root/a")
		released, cancelled := e.of("A").ReleaseOwner("A")
		same(e, released, 2)
		same(e, cancelled, 0)
		b.granted()
		a := e.updateWaits("A", "root")
		e.clock.AwaitTimers(1)
		_, cancelled = e.of("A").ReleaseOwner("A")
		same(e, cancelled, 1)
		e.fails(a.result().err, context.Canceled)
		e.unlock("B", "root/a")
	}},
	{"19 an instance is closed", func(e *env) {
		m := e.newManager(dirlock.Options{})
		_, err := m.LockManual(e.soon(), e.request("X", "root/b"))
		e.ok(err)
		guard, err := m.LockAuto(e.soon(), e.request("Y", "other"))
		e.ok(err)
		e.update("A", "root/a")
		x := e.start("X", e.request("X", "root/a"), func(ctx context.Context, req dirlock.Request) (r result) {
			r.guard, r.err = m.LockAuto(ctx, req)
			return r
		})
		b := e.updateWaits("B", "root/b")
		e.clock.AwaitTimers(2)
		e.ok(m.Close(e.soon()))
		err = x.result().err
		e.fails(err, dirlock.ErrClosed)
		e.fails(err, context.Canceled)
		b.granted()
		_, err = m.LockAuto(e.soon(), e.request("X", "root/child"))
		e.fails(err, dirlock.ErrClosed)

		c := e.editWaits("C", "other")
		e.ok(guard.Check(e.soon()))
		c.still()
		guard.Release()
		c.granted().guard.Release()
		e.unlock("A", "root/a")
		e.unlock("B", "root/b")
	}},
	{"19 an agent ends after its instance was closed", func(e *env) {
		m := e.newManager(dirlock.Options{})
		end := func() {
			released, cancelled := m.ReleaseOwner("X")
			same(e, released, 0)
			same(e, cancelled, 0)
			same(e, m.Cancel("call 7"), false)
		}
		_, err := m.LockManual(e.soon(), e.request("X", "root/b"))
		e.ok(err)
		guard, err := m.LockAuto(e.soon(), e.request("X", "other"))
		e.ok(err)
		e.ok(m.Close(e.soon()))
		end() // while the instance lives on for the guard
		guard.Release()
		end()
		e.ok(m.Close(e.soon()))
		e.update("A", "root/b")
		e.unlock("A", "root/b")
	}},
	{"20 force unlock of a directory below", func(e *env) { forceOverlapping(e, "root/a", "root/a/child") }},
	{"20 force unlock of a directory above", func(e *env) { forceOverlapping(e, "root/a/child", "root/a") }},
	{"21 how long a request waited", func(e *env) {
		e.update("A", "root/a")
		b := e.editWaits("B", "root/a")
		e.clock.Advance(6 * time.Second)
		e.unlock("A", "root/a")
		g := b.granted().guard
		same(e, g.Waited(), 6*time.Second)
		w := e.updateWaits("A", "root/a")
		e.clock.Advance(7 * time.Second)
		g.Release()
		same(e, w.granted().held.Waited, 7*time.Second)
		e.unlock("A", "root/a")
	}},
	{"R25 a running tool keeps its lock", func(e *env) {
		e.update("A", "root/a")
		g := e.edit("A", "root/a/child")
		held, err := e.of("B").ForceUnlock(e.soon(), "B", "A", e.path("root/a"))
		e.ok(err)
		same(e, held.ActiveTools, 1)
		b := e.editWaits("B", "root/a")
		e.ok(g.Check(e.soon()))
		g.Release()
		b.granted().guard.Release()
		_, err = e.of("A").LockAuto(e.soon(), e.request("A", "root"))
		e.fails(err, dirlock.ErrLost)
	}},
	{"R26 a lock that was released by force is told of once", func(e *env) {
		for _, call := range []func() error{
			func() error { _, err := e.of("A").LockAuto(e.soon(), e.request("A", "root/a/child")); return err },
			func() error { _, err := e.shell("A", "root"); return err },
		} {
			e.update("A", "root/a")
			_, err := e.of("B").ForceUnlock(e.soon(), "B", "A", e.path("root/a"))
			e.ok(err)
			e.edit("A", "root/b").Release()
			got := e.facts(call(), dirlock.ErrLost)
			same(e, got.Lost, e.path("root/a"))
			same(e, got.Reason, dirlock.ReasonForced)
			same(e, got.ReleasedBy, "B")
			e.edit("A", "root/a").Release()
		}
		e.update("A", "root/a")
		_, err := e.of("B").ForceUnlock(e.soon(), "B", "A", e.path("root/a"))
		e.ok(err)
		e.update("A", "root") // settles it
		e.edit("A", "root/a").Release()
		e.unlock("A", "root")
	}},
	{"R26 nothing is told of an agent that has ended", func(e *env) {
		e.update("A", "root/a")
		_, err := e.of("B").ForceUnlock(e.soon(), "B", "A", e.path("root/a"))
		e.ok(err)
		e.of("A").ReleaseOwner("A")
		e.edit("A", "root/a").Release()
	}},
}

// minute lets a minute go by.
func (e *env) minute() { e.clock.Advance(time.Minute) }

// forceOverlapping is scenario 20: A holds one directory, and the user releases
// all that overlaps another.
func forceOverlapping(e *env, held, forced string) {
	e.update("A", held)
	running := e.edit("A", "other")
	b := e.editWaits("B", "root/a/child")
	released, err := e.of("C").ForceUnlockOverlapping(e.soon(), dirlock.User, e.path(forced))
	e.ok(err)
	same(e, len(released), 1)
	same(e, released[0].Owner, "A")
	same(e, released[0].Dir, e.path(held))
	b.granted().guard.Release()
	_, err = e.of("A").Unlock(e.soon(), "A", e.path(held))
	got := e.facts(err, dirlock.ErrNotHeld)
	same(e, got.Reason, dirlock.ReasonForced)
	same(e, got.ReleasedBy, dirlock.User)
	e.edit("A", held).Release()
	released, err = e.of("C").ForceUnlockOverlapping(e.soon(), dirlock.User, e.path("other"))
	e.ok(err)
	same(e, len(released), 0)
	e.ok(running.Check(e.soon()))
	running.Release()
}
