package tools

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
)

// A Handler runs one call.
type Handler func(ctx context.Context, call Call) Outcome

// A Middleware wraps the running of calls: to ask for permission, to log, to
// measure. It may answer a call itself in place of calling next, but must not
// change the name of its tool.
type Middleware func(next Handler) Handler

// A Set is a number of tools under their names. It is safe for concurrent use.
type Set struct {
	tools  []Tool
	byName map[string]Tool
}

// NewSet joins tools. It is an error if one of them is nil or has no name, or
// two have the same.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{byName: make(map[string]Tool, len(tools))}
	for _, t := range tools {
		if t == nil || t.Definition().Name == "" {
			return nil, errors.New("tool without a name")
		}
		name := t.Definition().Name
		if s.byName[name] != nil {
			shown, _ := escape.Field(name)
			return nil, fmt.Errorf("duplicate tool name: %s", shown)
		}
		s.byName[name] = t
		s.tools = append(s.tools, t)
	}
	return s, nil
}

// Definitions returns the definitions of the tools in the order in which they
// were given.
func (s *Set) Definitions() []Definition {
	list := make([]Definition, len(s.tools))
	for i, t := range s.tools {
		list[i] = t.Definition()
	}
	return list
}

// Call runs one call. A name that is not in the set gives an error with the
// code UNKNOWN_TOOL; a panic of the tool gives one with the code INTERNAL. The
// text of the outcome is always rendered from its result or error, whatever
// the tool put there, and no header of a result passes for a failure: "error"
// and "cancelled" are shown with "detail_" in front.
func (s *Set) Call(ctx context.Context, call Call) Outcome {
	t, ok := s.byName[call.Tool]
	if !ok {
		return unknownTool(ctx, call.Tool)
	}
	return protect(t.Call)(ctx, call)
}

// protect returns h with a panic turned into an error, and with the text of
// the outcome rendered from what it stands for.
func protect(h Handler) Handler {
	return func(ctx context.Context, call Call) (out Outcome) {
		defer func() {
			if v := recover(); v != nil {
				out = Fail(ctx, panicError(call.Tool, v), Display{})
			}
		}()
		return h(ctx, call).settled()
	}
}

// noOutput is the text of a result that says nothing: a model must not take
// silence for a fault.
const noOutput = "(no output)"

// settled returns the outcome with its parts in agreement: the text and the
// status say what the result or the error says.
func (out Outcome) settled() Outcome {
	status := StatusOK
	if out.Error != nil {
		out.Result, status = out.Error.Result(), statusOf(out.Error)
	} else {
		out.Result.Headers = withoutVerdicts(out.Result.Headers)
		if len(out.Result.Headers) == 0 && out.Result.Body == "" {
			out.Result.Body = noOutput
		}
	}
	out.Text = out.Result.Render()
	if out.Error != nil || out.Display.Status == "" {
		out.Display.Status = status
	}
	return out
}

// withoutVerdicts returns the headers of a success, none of which looks like
// the first one of a failure.
func withoutVerdicts(headers []framing.Header) []framing.Header {
	isVerdict := func(h framing.Header) bool {
		return strings.EqualFold(h.Key, "error") || strings.EqualFold(h.Key, "cancelled")
	}
	if !slices.ContainsFunc(headers, isVerdict) {
		return headers
	}
	headers = slices.Clone(headers)
	for i, h := range headers {
		if isVerdict(h) {
			headers[i].Key = "detail_" + strings.ToLower(h.Key)
		}
	}
	return headers
}

// A PanicError is the cause of an error with the code INTERNAL after a tool
// panicked.
type PanicError struct {
	Value any    // what the tool panicked with
	Stack []byte // for logs; a model never sees it
}

// Error returns the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

func panicError(tool string, v any) error {
	return &framing.Error{
		Code:    framing.CodeInternal,
		Message: internalError(tool),
		Cause:   &PanicError{v, debug.Stack()},
	}
}

func internalError(tool string) string {
	name, _ := escape.Field(tool)
	return "internal error in tool " + name
}
