package dirlock

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"time"
)

// An Owner is an agent id: 1 to [MaxOwnerBytes] bytes of valid UTF-8 without
// white space and control characters. Equal ids of different Managers are
// different owners.
type Owner string

// User is who releases locks that no agent asked to release.
const User Owner = "user"

// A CallID is the call that a request belongs to, to cancel it by. It may be "".
type CallID string

// A Holder is an owner as a table knows it: an agent of an instance.
type Holder struct {
	Instance string
	Agent    Owner
}

// A Token orders the grants of a table: within an epoch the number increases
// strictly. It is for a store that can turn away old writers.
type Token struct {
	Epoch  string // random, 128 bits in hexadecimal, of one table
	Number uint64
}

// A Claim asks a [Table] for a lock.
type Claim struct {
	Holder
	Call   CallID
	Manual bool  // update lock on one directory, else automatic
	Dirs   []Dir // as [Normalize] leaves them; kept
	// Covered asks for an automatic lock only if manual locks of the holder
	// cover it: it is refused rather than made to wait.
	Covered bool
}

// Limits bound a [Table]: the requests that wait, and the locks beside which another
// may be granted at once. Who waits will be granted nevertheless, as it has a place
// already; so there may be more locks, but never more of both than the sum.
type Limits struct{ MaxWaiters, MaxHeld int }

// A State is how far a request has come.
type State int

// States of a request.
const (
	Gone    State = iota // not in the table: ended, or never there
	Waiting              // in the queue
	Granted              // holds its lock
	Refused              // in the table until its instance has read the verdict
)

// A Verdict is what a [Table] says of a request.
type Verdict struct {
	State State
	ID    uint64 // of a request that waits or is granted
	Token Token  // of one that is granted
	Err   *Error // of one that is refused
}

// A Table holds the locks and the queue, and knows the rules. It is a plain value
// without I/O, and time is an argument: now is a number of milliseconds, in a
// base that all its instances share.
//
// After each method, nothing waits that could be granted, and nobody waits for
// each other. It is not safe for concurrent use. The zero Table is not valid: see
// [NewTable].
type Table struct {
	epoch      string
	generation uint64 // stores
	verdicts   uint64 // decisions on requests that waited
	nextID     uint64 // of a request or a token
	revision   uint64 // changes since it is in memory

	records map[uint64]*record
	holders map[Holder]*holdings // that have anything
	notices []notice             // oldest first

	held, queue index
	heldCount   int
	waiting     int // refused ones too
	exempting   int // holders that have a manual lock and wait: only for them the exemption of stuck matters

	memo *memo
}

// A record is a request, from its arrival until it ends.
type record struct {
	id uint64 // in the order of arrival
	Claim
	own     *holdings // what its holder has
	at      int       // in the list of those that it is in
	token   uint64    // 0 until it is granted
	refusal *Error    // the verdict on one that waited

	acquired, used int64  // ms; used: the last grant or release of an automatic lock below, of a manual lock
	uses           uint64 // larger after each of those
}

// NewTable returns an empty table with a new epoch.
func NewTable() *Table { return newTable(newID()) }

func newTable(epoch string) *Table {
	return &Table{
		epoch:   epoch,
		nextID:  1,
		records: map[uint64]*record{},
		holders: map[Holder]*holdings{},
	}
}

// newID returns 128 random bits in hexadecimal.
func newID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// Generation counts the times that the table was stored.
func (t *Table) Generation() uint64 { return t.generation }

// NextGeneration counts one more; a [Session] calls it when it stores the table.
func (t *Table) NextGeneration() { t.generation++ }

// Verdicts counts the decisions on requests that waited: see [Session.Wait].
func (t *Table) Verdicts() uint64 { return t.verdicts }

// Revision changes with each change of the table since it is in memory, so that
// a function can tell whether it has changed it.
func (t *Table) Revision() uint64 { return t.revision }

// Instances returns the instances of which there are records, sorted.
func (t *Table) Instances() []string {
	seen := map[string]bool{}
	for h := range t.holders {
		seen[h.Instance] = true
	}
	for _, n := range t.notices {
		seen[n.holder.Instance] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Acquire grants the claim, puts it in the queue, or refuses it with
// [ErrDuplicate], [ErrDeadlock], [ErrNotCovered], [ErrQueueFull] or, if a lock of
// the holder was lost there before, [ErrLost].
func (t *Table) Acquire(c Claim, now int64, l Limits) Verdict {
	r := &record{id: t.nextID, Claim: c, own: t.of(c.Holder)}
	if err := t.refuses(r); err != nil {
		return Verdict{State: Refused, Err: err}
	}
	free := t.grantable(r)
	switch {
	case c.Covered && !r.covered():
		return Verdict{State: Refused, Err: ErrNotCovered}
	case c.Covered && !free:
		return Verdict{State: Refused, Err: ErrNotCovered} // cannot be, unless directories were moved
	case free && t.heldCount >= l.MaxHeld:
		return Verdict{State: Refused, Err: ErrQueueFull}
	case free:
		t.nextID++
		s := t.settling()
		t.grant(r, now)
		s.settle(now, r)
		return t.Verdict(r.id)
	}
	if err := t.deadlock(r); err != nil {
		return Verdict{State: Refused, Err: err}
	}
	if t.waiting >= l.MaxWaiters || t.waiting+t.heldCount >= l.MaxWaiters+l.MaxHeld {
		return Verdict{State: Refused, Err: ErrQueueFull}
	}
	t.nextID++
	t.add(r)
	return t.Verdict(r.id)
}

// refuses returns why a new request is refused before anything else, or nil.
func (t *Table) refuses(r *record) *Error {
	if r.Manual {
		return t.duplicate(r)
	}
	if n, ok := t.takeNotice(r.Holder, func(d Dir) bool { return overlapsAny(d, r.Dirs) }); ok {
		return lost(n.dir.Path, n.reason, n.by)
	}
	return nil
}

// duplicate returns the refusal of a manual request that overlaps a manual lock
// of its holder, or nil.
func (t *Table) duplicate(r *record) *Error {
	dir := ""
	r.own.locked.overlapping(r.Dirs, func(lock *record) bool {
		dir = smaller(dir, lock.Dirs[0].Path)
		return true
	})
	if dir == "" {
		return nil
	}
	return ErrDuplicate.with(Error{Blocking: dir, BlockingOwner: r.Agent, Requested: r.Dirs[0].Path})
}

// Verdict returns how far a request has come.
func (t *Table) Verdict(id uint64) Verdict {
	r := t.records[id]
	switch {
	case r == nil:
		return Verdict{}
	case r.refusal != nil:
		return Verdict{State: Refused, ID: id, Err: r.refusal}
	case r.token == 0:
		return Verdict{State: Waiting, ID: id}
	default:
		return Verdict{State: Granted, ID: id, Token: Token{t.epoch, r.token}}
	}
}

// Release ends a request in whatever state it is, without a notice. It reports
// whether it was there.
func (t *Table) Release(id uint64, now int64) bool {
	r := t.records[id]
	if r == nil {
		return false
	}
	t.end(now, r)
	return true
}

// end takes records out of the table and lets others go on.
func (t *Table) end(now int64, ended ...*record) {
	if len(ended) == 0 {
		return
	}
	s := t.settling()
	for _, r := range ended {
		t.remove(r)
		if !r.Manual && r.token != 0 {
			r.use(now)
		}
	}
	s.settle(now, ended...)
}

// ReleaseOwner ends what a holder has, except its automatic locks: those end with
// the calls they are for. It returns how many locks and how many waiting requests
// have ended.
func (t *Table) ReleaseOwner(h Holder, now int64) (released, cancelled int) {
	own := t.of(h)
	released, cancelled = len(own.manual), len(own.waiting)+len(own.refused)
	t.dropNotices(func(n notice) bool { return n.holder == h })
	t.end(now, slices.Concat(own.manual, own.waiting, own.refused)...)
	return released, cancelled
}

// ReleaseInstance is ReleaseOwner for all agents of an instance that ends.
func (t *Table) ReleaseInstance(instance string, now int64) {
	t.endInstances(func(id string) bool { return id == instance }, false, now)
}

// Reap removes all that instances have which are not alive, and reports whether
// there was any.
func (t *Table) Reap(alive func(instance string) bool, now int64) bool {
	dead := map[string]bool{}
	for _, id := range t.Instances() {
		if !alive(id) {
			dead[id] = true
		}
	}
	if len(dead) == 0 {
		return false
	}
	t.endInstances(func(id string) bool { return dead[id] }, true, now)
	return true
}

func (t *Table) endInstances(which func(string) bool, automatic bool, now int64) {
	t.dropNotices(func(n notice) bool { return which(n.holder.Instance) })
	var ended []*record
	for h, own := range t.holders {
		if !which(h.Instance) {
			continue
		}
		ended = slices.Concat(ended, own.manual, own.waiting, own.refused)
		if automatic {
			ended = append(ended, own.auto...)
		}
	}
	t.end(now, ended...)
}

// grant makes r a lock, be it new or from the queue.
func (t *Table) grant(r *record, now int64) {
	if t.records[r.id] != nil {
		t.remove(r)
		t.verdicts++
	}
	r.token = t.nextID
	t.nextID++
	r.acquired, r.used = now, now
	if r.Manual {
		r.Call = "" // which it outlives
	}
	t.add(r)
	if r.Manual {
		t.dropNotices(func(n notice) bool { return n.holder == r.Holder && overlapsAny(n.dir, r.Dirs) })
	} else {
		r.use(now)
	}
}

// refuse makes a verdict of err for a request that waits.
func (t *Table) refuse(r *record, err *Error) {
	t.remove(r)
	r.refusal = err
	t.verdicts++
	t.add(r)
}

// use notes that an automatic lock was granted or released, on the manual locks
// of its holder that it is under.
func (r *record) use(now int64) {
	for _, d := range r.Dirs {
		r.own.covering(d, func(lock *record) bool {
			lock.used = max(lock.used, now)
			lock.uses++
			return true
		})
	}
}

// add puts a record in the table, by its state.
func (t *Table) add(r *record) { t.count(r, 1) }

func (t *Table) remove(r *record) { t.count(r, -1) }

func (t *Table) count(r *record, n int) {
	t.revision++
	own := r.own
	if own.empty() { // or what was had when the request was made has ended
		if known := t.holders[r.Holder]; known != nil {
			own, r.own = known, known
		} else {
			t.holders[r.Holder] = own
		}
	}
	was := own.exempting()
	if n > 0 {
		t.records[r.id] = r
		own.add(r)
	} else {
		delete(t.records, r.id)
		own.remove(r)
	}
	switch {
	case r.token != 0:
		t.heldCount += n
		t.held.count(r, n)
	case r.refusal != nil:
		t.waiting += n
	default:
		t.waiting += n
		t.queue.count(r, n)
	}
	t.exempting += own.exempting() - was
	if own.empty() {
		delete(t.holders, r.Holder)
	}
}

func (x *index) count(r *record, n int) {
	if n > 0 {
		x.add(r)
	} else {
		x.remove(r)
	}
}

// overlapsAny reports whether d overlaps one of dirs.
func overlapsAny(d Dir, dirs []Dir) bool { return slices.ContainsFunc(dirs, d.overlaps) }

// smaller returns the lexically smaller of two directories, of which "" is none.
func smaller(a, b string) string {
	if a == "" || b == "" {
		return cmp.Or(a, b)
	}
	return min(a, b)
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
