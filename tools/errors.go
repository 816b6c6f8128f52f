package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

// asError returns err as a framing.Error for a model, with the advice that the
// guard has for it.
func asError(ctx context.Context, err error) *framing.Error {
	e := known(ctx, err)
	if advised := guard.Remedy(e); advised != error(e) { //nolint:errorlint // the identical value says that there is none
		return &framing.Error{Code: e.Code, Message: advised.Error(), Fields: e.Fields, Output: e.Output, Cause: advised}
	}
	return e
}

// known returns err as a framing.Error: one that is in it already, or the end
// of ctx, or what became of a file, or an internal error.
func known(ctx context.Context, err error) *framing.Error {
	var e *framing.Error
	var file *workspace.Error
	switch {
	case errors.As(err, &e):
		if cause, ok := context.Cause(ctx).(*framing.Error); ok && cause == e { //nolint:errorlint // that very error
			return contextError(ctx, err)
		}
		return e
	case isEnd(ctx, err):
		return contextError(ctx, err)
	case errors.As(err, &file):
		return fileFailure(file.Op, file.Path, file)
	default:
		message, _ := escape.Field(fmt.Sprint(err))
		return &framing.Error{Code: framing.CodeInternal, Message: message, Cause: err}
	}
}

// isEnd reports whether err says that ctx has ended. The same error may also
// come from another context, of which the caller knows nothing.
func isEnd(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// contextError returns the error of a call whose context has ended. Its cause
// is err and, if somebody gave one, the cause of the context.
func contextError(ctx context.Context, err error) *framing.Error {
	cause := context.Cause(ctx)
	e := &framing.Error{Code: framing.CodeCancelled, Cause: errors.Join(err, cause)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Code, e.Message = framing.CodeTimeout, "timed out"
	} else if cause != context.Canceled { //nolint:errorlint // a wrapped one says more than the bare one
		e.Message, _ = escape.Field(cause.Error())
	}
	return e
}

// fileError returns the error of a file whose path the call gave, in the words
// of package workspace. The end of a context stays what it is.
func fileError(ctx context.Context, verb, path string, err error) error {
	if isEnd(ctx, err) {
		return err
	}
	var e *workspace.Error
	if !errors.As(err, &e) {
		e = &workspace.Error{Code: framing.CodeIO, Reason: err.Error(), Err: err}
	}
	return fileFailure(verb, path, e)
}

func fileFailure(verb, path string, e *workspace.Error) *framing.Error {
	told := *e
	told.Op, told.Path = verb, path
	return &framing.Error{Code: e.Code, Message: told.Error(), Cause: e}
}

// unknownTool returns the outcome of a call for a tool that is not there.
func unknownTool(ctx context.Context, name string) Outcome {
	shown, _ := escape.Field(name)
	return Fail(ctx, &framing.Error{Code: framing.CodeUnknownTool, Message: "unknown tool: " + shown}, Display{})
}
