package dirlock

import "time"

// A Watch is what a waiter has seen of the manual locks in its way: inactivity
// never releases a lock, but it becomes an error for those who wait.
//
// The stamps in a table are written by other processes, whose clocks may jump.
// So the waiter also measures, on its own monotonic clock, for how long it has
// seen no use. The zero Watch has seen nothing.
type Watch struct{ seen map[uint64]seenUse }

// seenUse is how often a lock had been used when that was found to be new.
type seenUse struct {
	uses  uint64
	since time.Duration
}

// Look returns the watch with what request id sees at a time of its monotonic
// clock, and if the request should give up, [ErrAbandoned] with the lock. That is
// another owner's manual lock that blocks a request which no earlier waiter holds
// back; no automatic lock of its owner is under it; and it was not used for the
// time abandoned and seen unused for interval, or seen unused for abandoned.
//
// A lock is used when an automatic lock of its owner under it is granted or
// released.
func (t *Table) Look(id uint64, w Watch, now int64, at, interval, abandoned time.Duration) (Watch, *Error) {
	r := t.records[id]
	if r == nil || r.token != 0 || r.refusal != nil {
		return Watch{}, nil
	}
	next := Watch{seen: map[uint64]seenUse{}}
	var err *Error
	t.held.overlapping(r.Dirs, func(lock *record) bool {
		if !lock.Manual || lock.Holder == r.Holder {
			return true
		}
		seen, ok := w.seen[lock.id]
		active := t.active(lock) > 0
		if !ok || seen.uses != lock.uses || active {
			seen = seenUse{lock.uses, at}
		}
		next.seen[lock.id] = seen
		idle, watched := milliseconds(max(0, now-lock.used)), at-seen.since
		forgotten := watched >= abandoned || watched >= interval && idle >= abandoned
		if active || !forgotten {
			return true
		}
		if dir := lock.Dirs[0].Path; err == nil || dir < err.Blocking {
			held := milliseconds(max(0, now-lock.acquired))
			err = ErrAbandoned.with(Error{Blocking: dir, BlockingOwner: lock.Agent, Idle: idle, HeldFor: held})
		}
		return true
	})
	if err != nil && !t.heldBack(r, func(*record) bool { return false }) {
		err = nil
	}
	return next, err
}
