package dirlock

import (
	"slices"
	"time"
)

// A Snapshot is what was in a table at one moment, in the order of arrival.
type Snapshot struct {
	Held    []HeldLock
	Waiting []WaitingRequest
}

// A HeldLock is a lock in a [Snapshot].
type HeldLock struct {
	Holder
	Manual  bool
	Dirs    []string
	Call    CallID
	Token   Token
	HeldFor time.Duration
	Idle    time.Duration // of a manual lock, since it was used
	Active  int           // of a manual lock, the automatic locks of its holder under it
}

// A WaitingRequest is a request in the queue of a [Snapshot].
type WaitingRequest struct {
	Holder
	Manual   bool
	Dirs     []string
	Call     CallID
	Blockers []Blocker // by directory
}

// A Blocker is a lock that a request waits for, or if there is none, an earlier
// request that holds it back.
type Blocker struct {
	Holder
	Dir     string
	Manual  bool
	Waiting bool
}

// Snapshot returns what is held and what waits.
func (t *Table) Snapshot(now int64) Snapshot {
	var s Snapshot
	for _, r := range t.sorted() {
		dirs := make([]string, len(r.Dirs))
		for i, d := range r.Dirs {
			dirs[i] = d.Path
		}
		switch {
		case r.refusal != nil:
		case r.token == 0:
			w := WaitingRequest{Holder: r.Holder, Manual: r.Manual, Dirs: dirs, Call: r.Call}
			for _, b := range t.blockers(r) {
				w.Blockers = append(w.Blockers, Blocker{b.Holder, b.dir, b.Manual, b.token == 0})
			}
			s.Waiting = append(s.Waiting, w)
		default:
			l := HeldLock{Holder: r.Holder, Manual: r.Manual, Dirs: dirs, Call: r.Call, Token: Token{t.epoch, r.token}}
			l.HeldFor = milliseconds(max(0, now-r.acquired))
			if r.Manual {
				l.Idle, l.Active = milliseconds(max(0, now-r.used)), t.active(r)
			}
			s.Held = append(s.Held, l)
		}
	}
	return s
}

// othersHeld returns the directories of locks of other holders, sorted.
func (t *Table) othersHeld(h Holder) []string {
	var dirs []string
	for _, r := range t.records {
		if r.token == 0 || r.Holder == h {
			continue
		}
		for _, d := range r.Dirs {
			dirs = append(dirs, d.Path)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
