package guard

import (
	"errors"

	"github.com/taukit/taukit/tools/workspace"
)

// What a model is told to do about a refusal.
const (
	remedyStale       = " — re-read the file, then retry"
	remedyNotObserved = " — read the file, then retry"
)

// Remedy returns err with the advice for a model at the end of its text, if it
// is [workspace.ErrStaleVersion] or [workspace.ErrNotObserved], as the package
// comment quotes it; any other error, and one that has the advice already, is
// returned as it is. It unwraps to err, so that errors.Is, errors.As and
// [workspace.CodeOf] answer as before.
func Remedy(err error) error {
	var done *remedied
	if err == nil || errors.As(err, &done) {
		return err
	}
	switch workspace.CodeOf(err) {
	case workspace.ErrStaleVersion.Code:
		return &remedied{err, remedyStale}
	case workspace.ErrNotObserved.Code:
		return &remedied{err, remedyNotObserved}
	default:
		return err
	}
}

type remedied struct {
	err    error
	advice string
}

func (r *remedied) Error() string { return r.err.Error() + r.advice }
func (r *remedied) Unwrap() error { return r.err }
