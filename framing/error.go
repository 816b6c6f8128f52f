package framing

import "strings"

// cancelledDefault is the reason of a cancellation that gives none.
const cancelledDefault = "cancelled by the caller"

// An Error is a failed call. It is an error value that programs route on by
// Code, and a text that a model reads.
//
// Message is one line, lower case, without a full stop, its metadata escaped;
// excerpts and listings with real line breaks belong in Output, which renders
// as the body. Fields are facts that help to recover, never a copy of the
// request; a field named "error" or "cancelled" is shown with "detail_" in
// front. With [CodeCancelled] the text says that the call was cancelled and
// Message is the reason.
type Error struct {
	Message string
	Code    string
	Fields  []Header
	Output  string
	Cause   error // what went wrong below, for errors.Is and errors.As; may be nil
}

// Error returns the message as a model sees it: one line, at most
// [MaxMessageBytes].
func (e *Error) Error() string {
	message := strings.TrimSpace(e.Message)
	switch {
	case message != "":
		return cut(SafeHeader(message), MaxMessageBytes)
	case e.Code == CodeCancelled:
		return cancelledDefault
	default:
		return "tool failed"
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Result returns the failure as a result: the header "error" or "cancelled"
// with the message, then the fields, and the output as the body.
func (e *Error) Result() Result {
	verdict := "error"
	if e.Code == CodeCancelled {
		verdict = "cancelled"
	}
	r := Result{Headers: make([]Header, 0, 1+len(e.Fields)), Body: e.Output}
	r.Add(verdict, e.Error())
	for _, f := range e.Fields {
		key := safeKey(f.Key)
		if key == "error" || key == "cancelled" {
			key = "detail_" + key
		}
		r.Add(key, f.Value)
	}
	return r
}

// Render returns the text of the failure: [Error.Result], rendered.
func (e *Error) Render() string { return e.Result().Render() }

// Cancelled returns the result of a call that was cancelled for the given
// reason before it had any effect; an empty reason says that the caller did it.
// With effects to name, use an [Error] with [CodeCancelled].
func Cancelled(reason string) Result {
	return (&Error{Code: CodeCancelled, Message: reason}).Result()
}

// A WaitMode says what a wait was for. There are no other modes.
type WaitMode string

// The modes of a wait for background work.
const (
	WaitExact         WaitMode = "exact"          // one target
	WaitAnyBackground WaitMode = "any_background" // whatever ends first
)

// WaitInterrupted returns the control result of a wait for background work
// that the harness ended because new input arrived. The header "tau_internal"
// marks a result that the harness made itself. It is a success, names no
// target, and consumes no target's result.
func WaitInterrupted(mode WaitMode) Result {
	return Result{Headers: []Header{
		{"tau_internal", "true"},
		{"wait_outcome", "interrupted"},
		{"wait_reason", "activating_input"},
		{"wait_mode", string(mode)},
	}}
}
