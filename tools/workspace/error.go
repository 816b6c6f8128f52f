package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/taukit/taukit/framing"
)

// An Error is a failed operation on a file. Code is one of the FS codes of
// package framing and Reason the plain text of the system, without a path.
type Error struct {
	Code   string
	Op     string // what was tried: "read", "list", ...
	Path   string // the absolute path
	Reason string
	Err    error // the error below, or nil
}

// Errors to compare with by errors.Is. An [*Error] is one of them if it has
// the same code.
var (
	ErrNotFound      = &Error{Code: framing.CodeNotFound, Reason: "no such file or directory", Err: fs.ErrNotExist}
	ErrPermission    = &Error{Code: framing.CodePermission, Reason: "permission denied", Err: fs.ErrPermission}
	ErrNotDirectory  = &Error{Code: framing.CodeNotDirectory, Reason: "not a directory"}
	ErrIsDirectory   = &Error{Code: framing.CodeIsDirectory, Reason: "is a directory"}
	ErrNotRegular    = &Error{Code: framing.CodeNotRegular, Reason: "not a regular file"}
	ErrExists        = &Error{Code: framing.CodeExists, Reason: "file exists", Err: fs.ErrExist}
	ErrLoop          = &Error{Code: framing.CodeLoop, Reason: "too many levels of symbolic links"}
	ErrSandboxDenied = &Error{Code: framing.CodeSandboxDenied, Reason: "denied by the sandbox"}
)

// Error returns the operation, the path and the reason.
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Reason
	}
	return e.Op + " " + e.Path + ": " + e.Reason
}

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an [*Error] with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// classify returns err as an *Error of the operation. The end of ctx stays what
// it is.
func classify(ctx context.Context, op, path string, err error) error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return err
	}
	kind := kindOf(err)
	var known *Error
	if errors.As(err, &known) {
		kind.Code, kind.Reason = cmp.Or(known.Code, kind.Code), cmp.Or(known.Reason, kind.Reason)
	}
	return &Error{kind.Code, op, path, kind.Reason, err}
}

// kindOf returns what a sentinel says of an error of the system, or its plain
// text.
func kindOf(err error) Error {
	var errno syscall.Errno
	errors.As(err, &errno)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return *ErrNotFound
	case errno == syscall.EPERM:
		return Error{Code: framing.CodePermission, Reason: "operation not permitted"}
	case errors.Is(err, fs.ErrPermission):
		return *ErrPermission
	case errno == syscall.ENOTDIR:
		return *ErrNotDirectory
	case errno == syscall.EISDIR:
		return *ErrIsDirectory
	case errno == syscall.ELOOP:
		return *ErrLoop
	case errno == syscall.EEXIST, errno == 0 && errors.Is(err, fs.ErrExist): // not ENOTEMPTY
		return *ErrExists
	case errno != 0:
		return Error{Code: framing.CodeIO, Reason: errno.Error()}
	default:
		return Error{Code: framing.CodeIO, Reason: innermost(err).Error()}
	}
}

// innermost unwraps err to the end: wrappers add paths, which a reason must
// not hold.
func innermost(err error) error {
	for {
		below := errors.Unwrap(err)
		if below == nil {
			return err
		}
		err = below
	}
}
