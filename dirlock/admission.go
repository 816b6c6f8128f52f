package dirlock

import (
	"context"
	"time"
)

// An admission is what has become of a request.
type admission struct {
	*instance
	*waiter
	verdict Verdict // at first
	next    uint64  // what was granted before has a smaller number
	watch   Watch   // of one that waits
	wait    Wait    // of one that waits, at first
	began   time.Duration
}

// admit is the first step.
func (a *admission) admit(t *Table) {
	if a.isClosed() {
		a.verdict = Verdict{State: Refused, Err: ErrClosed}
		return
	}
	now := a.now()
	a.next = t.nextID
	a.verdict = t.Acquire(a.claim, now, Limits{a.opts.MaxWaiters, a.opts.MaxHeld})
	a.own(a.waiter, a.verdict)
	if a.verdict.State == Waiting {
		a.watch, _ = t.Look(a.verdict.ID, Watch{}, now, 0, a.opts.LivenessInterval, a.opts.AbandonedAfter)
		a.wait = t.wait(a.verdict.ID)
	}
}

func (a *admission) queued() bool { return a.verdict.State == Waiting }

func (a *admission) waited() time.Duration {
	if !a.queued() {
		return 0
	}
	return a.opts.Clock.Monotonic() - a.began
}

// after returns a copy of the error of a request that has waited.
func (e *Error) after(waited time.Duration) *Error {
	copied := *e
	copied.Waited = waited
	return &copied
}

// await returns the verdict on a request in the queue. After an error the request
// is not there any more.
func (a *admission) await(ctx context.Context) (Verdict, *Error) {
	clock, interval := a.opts.Clock, a.opts.LivenessInterval
	for next := a.began + interval; ; next += interval {
		timer := clock.NewTimer(next - clock.Monotonic())
		select {
		case o := <-a.out:
			timer.Stop()
			switch {
			case o.err == nil:
				return o.verdict, nil
			case ctx.Err() != nil: // which may be why
				return Verdict{}, a.abort(ctx)
			}
			a.drop(a.id)
			return Verdict{}, o.err
		case <-ctx.Done():
			timer.Stop()
			return Verdict{}, a.abort(ctx)
		case <-timer.C():
		}
		if err := a.look(ctx); err != nil {
			return Verdict{}, err
		}
	}
}

// look ends the wait for a lock that seems to be abandoned, and any wait whose
// verdict was missed: for that something must be wrong, but nobody waits forever.
func (a *admission) look(ctx context.Context) *Error {
	var v Verdict
	var next Watch
	var abandoned *Error
	at := a.waited()
	err := a.update(ctx, func(t *Table) {
		now := a.now()
		v = a.read(t, a.waiter)
		next, abandoned = t.Look(a.id, a.watch, now, at, a.opts.LivenessInterval, a.opts.AbandonedAfter)
		if abandoned != nil {
			t.Release(a.id, now)
		}
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return a.abort(ctx)
	case err != nil:
		a.drop(a.id)
		return asBackend(err)
	case v.State != Waiting:
		a.end(outcome{verdict: v})
	}
	a.watch = next
	return abandoned
}

// abort takes a request out of the table whose context has ended.
func (a *admission) abort(ctx context.Context) *Error {
	last := a.wait
	err := a.attempt(context.Background(), func(t *Table) {
		if now := t.wait(a.id); now.Blocking != "" {
			last = now
		}
		t.Release(a.id, a.now())
	})
	if err != nil {
		last = a.wait
		a.drop(a.id)
	}
	gone := gaveUp(ctx)
	gone.Blocking, gone.BlockingOwner = last.Blocking, last.BlockingOwner
	return gone
}
