package dirlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// Codes of an [Error], for programs to route on.
const (
	CodeDuplicate   = "DIR_LOCK_DUPLICATE"    // the owner has an overlapping manual lock
	CodeAbandoned   = "DIR_LOCK_ABANDONED"    // who blocks seems to have forgotten the lock
	CodeDeadlock    = "DIR_LOCK_DEADLOCK"     // who blocks waits for this owner
	CodeNotHeld     = "DIR_LOCK_NOT_HELD"     // there is no such manual lock
	CodeNotCovered  = "DIR_LOCK_NOT_COVERED"  // no manual lock of the owner covers the directories
	CodeLost        = "DIR_LOCK_LOST"         // a lock ended against its owner's will
	CodePathChanged = "DIR_LOCK_PATH_CHANGED" // the path leads elsewhere after each wait
	CodeBackend     = "DIR_LOCK_BACKEND"      // the store failed
	CodeClosed      = "DIR_LOCK_CLOSED"       // the Manager is closed
	CodeBusy        = "BUSY"                  // the table is full
	CodeTimeout     = "TIMEOUT"               // the deadline of the context passed while the request waited
	CodeCancelled   = "CANCELLED"             // the request was cancelled while it waited
	CodeInternal    = "INTERNAL"              // a request that no caller should make

	// Of the functions that resolve paths.
	CodeNotFound     = "FS_NOT_FOUND"
	CodeNotDirectory = "FS_NOT_DIRECTORY"
	CodePermission   = "FS_PERMISSION"
	CodeLoop         = "FS_LOOP"
	CodeIO           = "FS_IO"
)

// Reasons why a lock was lost, in [Error.Reason].
const (
	ReasonForced      = "force_released"
	ReasonExpired     = "lease_expired"
	ReasonMissing     = "record_missing"
	ReasonClosed      = "session_closed"
	ReasonUnreachable = "backend_unreachable"
)

// An Error says why a lock could not be had, released or kept. Which facts it
// has depends on the code. Directories are canonical and not escaped.
type Error struct {
	Code string
	Msg  string // one line, without directories and ids

	// Requested is the directory that was asked for: of CodeDuplicate,
	// CodeNotHeld, CodePathChanged.
	Requested string
	// Agent is whose lock was to be released, of CodeNotHeld.
	Agent Owner
	// Blocking and BlockingOwner are the lock or the waiter in the way: of
	// CodeDuplicate, CodeAbandoned, CodeDeadlock, CodeTimeout, CodeCancelled, and of
	// CodeNotHeld if another owner has an overlapping lock. Of several it is the
	// lexically smallest.
	Blocking      string
	BlockingOwner Owner
	// Held is the own lock to release first, of CodeDeadlock, or the own lock
	// that overlaps, of CodeNotHeld; else "".
	Held string
	// Lost is the directory that is no longer protected, of CodeLost.
	Lost string
	// Reason is one of the reasons above, of CodeLost, and of CodeNotHeld for a
	// lock that was lost. ReleasedBy is who did it, if that was by force.
	Reason     string
	ReleasedBy Owner
	// Idle and HeldFor are for how long the blocking lock has not been used and
	// has been held, of CodeAbandoned.
	Idle, HeldFor time.Duration
	// Waited is for how long the request waited before it failed.
	Waited time.Duration

	Err error // what went wrong below, or nil
}

// Errors to compare with, by [errors.Is]: an [*Error] is the one with its code.
//
// If a context ends, the error is that of the context and its [context.Cause]. Only
// that of a request which had to wait also is an [*Error].
var (
	ErrDuplicate   = &Error{Code: CodeDuplicate, Msg: "the owner holds an overlapping lock"}
	ErrAbandoned   = &Error{Code: CodeAbandoned, Msg: "the blocking lock may be abandoned"}
	ErrDeadlock    = &Error{Code: CodeDeadlock, Msg: "waiting would deadlock"}
	ErrNotHeld     = &Error{Code: CodeNotHeld, Msg: "there is no such lock"}
	ErrNotCovered  = &Error{Code: CodeNotCovered, Msg: "no manual lock of the owner covers the directories"}
	ErrLost        = &Error{Code: CodeLost, Msg: "the lock is lost"}
	ErrPathChanged = &Error{Code: CodePathChanged, Msg: "the path leads elsewhere after each wait"}
	ErrBackend     = &Error{Code: CodeBackend, Msg: "the lock service failed"}
	ErrClosed      = &Error{Code: CodeClosed, Msg: "the lock manager is closed"}
	ErrQueueFull   = &Error{Code: CodeBusy, Msg: "the lock table is full"}
)

var (
	errCancelled  = &Error{Code: CodeCancelled, Msg: "cancelled", Err: context.Canceled}
	errOwnerEnded = &Error{Code: CodeCancelled, Msg: "the agent has ended", Err: context.Canceled}
)

// Error returns Msg, followed by what went wrong below.
func (e *Error) Error() string {
	msg := cmp.Or(e.Msg, e.Code)
	if e.Err != nil && e.Code == CodeBackend {
		return msg + ": " + e.Err.Error()
	}
	return msg
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an [*Error] with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error) //nolint:errorlint // errors.Is does the unwrapping
	return ok && t.Code == e.Code
}

// with returns a copy of one of the errors above, for facts to be added.
func (e *Error) with(facts Error) *Error {
	facts.Code, facts.Msg = e.Code, e.Msg
	return &facts
}

// lost is what a holder is told whose lock on dir has ended.
func lost(dir, reason string, by Owner) *Error {
	return ErrLost.with(Error{Lost: dir, Reason: reason, ReleasedBy: by})
}

// asBackend returns err as one of the store.
func asBackend(err error) *Error {
	if e, ok := err.(*Error); ok && e.Code == CodeBackend { //nolint:errorlint // not one that it wraps
		return e
	}
	return ErrBackend.with(Error{Err: err})
}

// ended says that a context has ended, and why.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// gaveUp is the error of a request that waited when its context ended.
func gaveUp(ctx context.Context) *Error {
	e := &Error{Code: CodeCancelled, Msg: "cancelled", Err: ended(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Code, e.Msg = CodeTimeout, "the deadline passed while waiting"
	}
	return e
}

func invalid(msg string) *Error { return &Error{Code: CodeInternal, Msg: msg} }

// pathError gives an error of the file system its code and a text without paths.
func pathError(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	e := &Error{Code: CodeIO, Err: err}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		e.Msg = errno.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Msg = CodeNotFound, "no such file or directory"
	case errno == syscall.ENOTDIR:
		e.Code, e.Msg = CodeNotDirectory, "not a directory"
	case errno == syscall.ELOOP:
		e.Code, e.Msg = CodeLoop, "too many levels of symbolic links"
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Msg = CodePermission, "permission denied"
	case e.Msg == "":
		e.Msg = innermost(err).Error()
	}
	return e
}

// innermost unwraps err to the end: wrappers add paths.
func innermost(err error) error {
	for below := errors.Unwrap(err); below != nil; below = errors.Unwrap(err) {
		err = below
	}
	return err
}
