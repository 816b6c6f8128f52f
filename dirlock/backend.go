package dirlock

import (
	"context"
	"time"
)

// A Backend stores one [Table] for all instances that share its locks.
type Backend interface {
	// Attach makes a new instance, which is alive until its session is closed
	// or lost, or its process ends.
	Attach(ctx context.Context) (Session, error)
}

// A Session is an instance at work on the table of its [Backend]. It is safe for
// concurrent use. Its errors are those of the store; a Manager gives them
// [CodeBackend].
type Session interface {
	// ID is the instance: 128 random bits in hexadecimal, never used again.
	ID() string

	// Update reads the table, without the records of instances that are dead,
	// calls update, and stores the table if it was changed, all as one step.
	// The function has no other effects that matter and may be called several
	// times; the last call counts. After an error nothing was stored. The
	// function has not changed the table if it returns one; it keeps no
	// reference to the table, and calls no method of the session.
	Update(ctx context.Context, update func(*Table) (changed bool, err error)) error
	// View calls view with the table as it is now, like Update with a function
	// that changes nothing.
	View(ctx context.Context, view func(*Table) error) error
	// Wait returns when [Table.Verdicts] may be another number than verdicts,
	// when an instance may have died, or with the cause of ctx. It may return
	// without a reason, but it does not miss one.
	Wait(ctx context.Context, verdicts uint64) error
	// Stamp returns t in milliseconds of a base that all instances share.
	Stamp(t time.Time) int64

	// Lost is closed when the instance is dead while its process lives: its
	// records are gone, or will be. A session that is lost stays so. It is nil
	// if that cannot happen.
	Lost() <-chan struct{}
	// Err is an [*Error] with the reason of the loss, after Lost was closed.
	Err() error
	// ValidUntil is until when the instance is certain to be alive, for a
	// [Manager] to compare with [Clock.Now] right after the call. It is Now
	// plus the smaller of what is left by the monotonic clock and by the wall
	// clock: the first may stand still while the system sleeps, the second may
	// be set. So it may be earlier at the next call. Zero stands for as long as
	// the process lives.
	ValidUntil() time.Time
	// Renew tries to prove that the instance is alive for longer.
	Renew(ctx context.Context) error

	// Close ends the instance with all it has in the table.
	Close(ctx context.Context) error
}
