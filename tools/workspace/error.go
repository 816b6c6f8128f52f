package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
)

// What can be tried on a file, as messages word it.
const (
	OpRead   = "read"
	OpList   = "list"
	OpWrite  = "write"
	OpEdit   = "edit"
	OpDelete = "delete"
)

// An Error is a failed operation on a file. Code is one of those of package
// framing and Reason the plain text of the system, without a path.
type Error struct {
	Code   string
	Op     string // what was tried: "read", "list", ...
	Path   string // the absolute path, or that of a Change as it was given
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
	ErrTooLarge      = &Error{Code: framing.CodeTooLarge, Reason: "file too large"}
	ErrStaleVersion  = &Error{Code: framing.CodeStaleVersion, Reason: "file changed since it was read"}
	ErrNotObserved   = &Error{Code: framing.CodeNotObserved, Reason: "file exists and was not read"}
	ErrNoFileName    = &Error{Code: framing.CodeInvalidArguments, Reason: "path must name a file"}
	ErrDamaged       = &Error{Code: framing.CodeEditDamaged, Reason: "write failed and the file may be incomplete"}
	ErrSandboxDenied = &Error{Code: framing.CodeSandboxDenied, Reason: "denied by the sandbox"}
)

// errGone is ErrStaleVersion of a file that is not there any more.
var errGone = &Error{Code: framing.CodeStaleVersion, Reason: ErrStaleVersion.Reason, Err: fs.ErrNotExist}

// tooLarge returns ErrTooLarge with the limit in bytes.
func tooLarge(limit int64) error {
	return &Error{Code: framing.CodeTooLarge, Reason: fmt.Sprintf("file exceeds %d bytes", limit)}
}

// damaged returns ErrDamaged with the reason of a failed write.
func damaged(failure error) error {
	kind := kindOf(failure)
	return &Error{Code: framing.CodeEditDamaged, Reason: ErrDamaged.Reason + ": " + kind.Reason, Err: failure}
}

// Error returns one line that says what could not be done to which file, and
// why. The path is quoted.
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Reason
	}
	path := escape.QuotePath(e.Path)
	switch {
	case e.Code != framing.CodeNotObserved:
		reason, _ := escape.Field(e.Reason)
		return "cannot " + e.Op + " " + path + ": " + reason
	case e.Op == OpWrite:
		return "cannot overwrite existing " + path + " without reading it first"
	default:
		return e.Op + " requires reading " + path + " first"
	}
}

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an [*Error] with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf returns the code of the first [*Error] in err, "" if there is none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
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
