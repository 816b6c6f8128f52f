package patch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Codes of an [Error] and a [ParseError], for programs to route on.
const (
	CodeInvalid         = "PATCH_INVALID"      // the text is no patch
	CodeBinary          = "PATCH_BINARY"       // hunks for a file with NUL bytes
	CodeOutsideRoot     = "PATCH_OUTSIDE_ROOT" // the file system confines, and the path leaves it
	CodeContextMismatch = "CONTEXT_MISMATCH"   // the lines of a hunk, or an anchor, are not in the file
	CodeAmbiguousMatch  = "AMBIGUOUS_MATCH"    // the lines of a hunk are in the file more than once
	CodeNotFound        = "FS_NOT_FOUND"
	CodeExists          = "FS_EXISTS" // the name of an Add or of a move is taken
	CodeIsDirectory     = "FS_IS_DIRECTORY"
	CodeNotRegular      = "FS_NOT_REGULAR"   // neither a regular file nor a directory
	CodeNotDirectory    = "FS_NOT_DIRECTORY" // a parent is something else
	CodeLoop            = "FS_LOOP"          // too many symbolic links
	CodeTooLarge        = "FS_TOO_LARGE"     // the text, a file, or its result
	CodeInvalidUTF8     = "FS_INVALID_UTF8"  // text in one encoding for a file in another
	CodeStaleVersion    = "FS_STALE_VERSION" // the file changed since it was read
	CodePermission      = "FS_PERMISSION"
	CodeIO              = "FS_IO"        // any other failure of the file system
	CodeDamaged         = "EDIT_DAMAGED" // a write failed, and left a file incomplete
)

// An Error says which section of a patch failed, and why.
//
// An [FS] may return one too: its Code is kept, and its Msg, or without that the
// plain text of Err, is the reason that the message gives.
type Error struct {
	Code string
	Path string // of the section, as written; of a move, the source
	Key  string // of the file that could not be written, of a failed [Plan.Commit]; else ""
	Msg  string // one line

	// Of a hunk that does not fit: its number in the section, from 1, the
	// number of hunks there, and the lines to look at, without a final LF:
	// what was expected, and the place of the file that resembles it most.
	Hunk, Hunks int
	Excerpt     string

	Err error // what went wrong below, or nil
}

// Errors of an [FS] beside [fs.ErrNotExist], [fs.ErrExist], [fs.ErrPermission]
// and errnos. An [*Error] is one of them for errors.Is if it has the same code.
// For [CodeDamaged] an FS returns an Error with the cause in Err.
var (
	ErrIsDirectory  = &Error{Code: CodeIsDirectory, Msg: "is a directory"}
	ErrNotRegular   = &Error{Code: CodeNotRegular, Msg: "not a regular file"}
	ErrNotDirectory = &Error{Code: CodeNotDirectory, Msg: "not a directory"}
	ErrLoop         = &Error{Code: CodeLoop, Msg: "too many levels of symbolic links"}
	ErrTooLarge     = &Error{Code: CodeTooLarge, Msg: fmt.Sprintf("file exceeds %d bytes", MaxFileBytes)}
	ErrStale        = &Error{Code: CodeStaleVersion, Msg: "file changed since it was read"} // also of one that is gone, with fs.ErrNotExist in Err
	ErrOutsideRoot  = &Error{Code: CodeOutsideRoot, Msg: "outside the allowed root"}
)

var (
	errGone           = &Error{Code: CodeStaleVersion, Msg: "file changed since it was read", Err: fs.ErrNotExist}
	errResultTooLarge = &Error{Code: CodeTooLarge, Msg: fmt.Sprintf("result exceeds %d bytes", MaxFileBytes)}
	errBinary         = &Error{Code: CodeBinary, Msg: "file contains NUL bytes"}
	errTwoNames       = &Error{Code: CodeIO, Msg: "the patch changes this file under another name (hard link) too"}
	errNotASCII       = &Error{Code: CodeInvalidUTF8, Msg: "not valid UTF-8; only ASCII text can be added"}
)

// Error returns Msg, or without that the text of what went wrong below.
func (e *Error) Error() string {
	if e.Msg == "" && e.Err != nil {
		return e.Err.Error()
	}
	return cmp.Or(e.Msg, e.Code)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an [*Error] with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error) //nolint:errorlint // errors.Is does the unwrapping
	return ok && t.Code == e.Code
}

// explain returns the code and the reason that an error of a file system, or of
// [ApplyHunks], has in a message. The reason holds no path.
func explain(err error) (code, reason string) {
	code, reason = explainSystem(err)
	var known *Error
	if errors.As(err, &known) {
		code = cmp.Or(known.Code, code)
		reason = cmp.Or(known.Msg, reason)
	}
	switch code {
	case CodeNotFound:
		reason = "no such file or directory"
	case CodeExists:
		reason = "destination already exists"
	case CodeDamaged:
		reason = "write failed and the file may be incomplete: " + reason
	}
	return code, reason
}

// explainSystem is explain for an error that says nothing of itself.
func explainSystem(err error) (code, reason string) {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		reason = errno.Error()
	} else {
		reason = innermost(err).Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return CodeNotFound, reason
	case errno == syscall.ENOTDIR:
		return CodeNotDirectory, ErrNotDirectory.Msg
	case errno == syscall.EISDIR:
		return CodeIsDirectory, ErrIsDirectory.Msg
	case errno == syscall.ELOOP:
		return CodeLoop, ErrLoop.Msg
	case errno == syscall.EEXIST, errno == 0 && errors.Is(err, fs.ErrExist): // not ENOTEMPTY
		return CodeExists, reason
	case errors.Is(err, fs.ErrPermission):
		return CodePermission, reason
	default:
		return CodeIO, reason
	}
}

// hasCode reports whether err is one that [explain] gives the code.
func hasCode(err error, code string) bool {
	if err == nil {
		return false
	}
	got, _ := explain(err)
	return got == code
}

// innermost unwraps err to the end: wrappers add paths.
func innermost(err error) error {
	for {
		below := errors.Unwrap(err)
		if below == nil {
			return err
		}
		err = below
	}
}

// ended reports whether err says no more than that ctx is at its end.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}
