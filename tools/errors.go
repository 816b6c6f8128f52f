package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/workspace"
)

// asError returns err as a framing.Error. It is one already, or the end of
// ctx, or an internal error.
func asError(ctx context.Context, err error) *framing.Error {
	var e *framing.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &framing.Error{Code: framing.CodeTimeout, Message: "timed out", Cause: err}
	case errors.Is(err, context.Canceled):
		return &framing.Error{Code: framing.CodeCancelled, Message: cancelReason(ctx), Cause: err}
	default:
		message, _ := escape.Field(err.Error())
		return &framing.Error{Code: framing.CodeInternal, Message: message, Cause: err}
	}
}

// cancelReason returns why ctx was cancelled, or "" if nobody said. The empty
// reason renders as the caller's cancellation.
func cancelReason(ctx context.Context) string {
	cause := context.Cause(ctx)
	if cause == nil || cause == context.Canceled { //nolint:errorlint // a wrapped one says more than the bare one
		return ""
	}
	reason, _ := escape.Field(cause.Error())
	return reason
}

// fileError returns the error `cannot VERB "PATH": REASON` for a path as the
// call gave it, with a hint behind it. The end of a context stays what it is.
func fileError(verb, path string, err error, hint string) error {
	var e *workspace.Error
	if !errors.As(err, &e) {
		return err
	}
	reason, _ := escape.Field(e.Reason)
	return &framing.Error{
		Code:    e.Code,
		Message: fmt.Sprintf("cannot %s %s: %s%s", verb, escape.QuotePath(path), reason, hint),
		Cause:   err,
	}
}

// unknownTool returns the outcome of a call for a tool that is not there.
func unknownTool(ctx context.Context, name string) Outcome {
	shown, _ := escape.Field(name)
	return Fail(ctx, &framing.Error{Code: framing.CodeUnknownTool, Message: "unknown tool: " + shown}, Display{})
}
