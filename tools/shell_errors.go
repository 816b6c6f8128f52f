package tools

import (
	"context"
	"errors"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/confine"
	"github.com/taukit/taukit/tools/proc"
)

// startFailure returns the error of a command that was not started.
func startFailure(ctx context.Context, err error) error {
	var start *proc.StartError
	var open *confine.UnavailableError
	if errors.As(err, &open) {
		return unconfined(open)
	}
	if isEnd(ctx, err) || !errors.As(err, &start) {
		return err
	}
	reason, _ := escape.Field(start.Reason())
	return &framing.Error{
		Code:    CodeShellStart,
		Message: "failed to start shell command: " + reason,
		Fields:  []framing.Header{{Key: "termination_reason", Value: "start_error"}},
		Cause:   err,
	}
}

// denial returns the error of a command that was not authorized.
func denial(ctx context.Context, err error) error {
	var e *framing.Error
	if isEnd(ctx, err) || errors.As(err, &e) {
		return err
	}
	message, _ := escape.Field(err.Error())
	return &framing.Error{Code: CodeShellDenied, Message: message, Cause: err}
}
