package tools

import (
	"context"
	"encoding/json"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/workspace"
)

// A Tool is one tool that a model can call; [NewTool] makes one of a struct and a
// function. Implementations must be safe for concurrent use.
type Tool interface {
	// Definition describes the tool. It is always the same.
	Definition() Definition
	// Call runs the tool once. It obeys ctx and never fails otherwise than by
	// an outcome with an error; a panic is turned into one by its caller.
	Call(ctx context.Context, call Call) Outcome
}

// A Previewer is a Tool that can say what a call asks for before it runs. The
// display accompanies the event that the call has started.
type Previewer interface {
	Preview(call Call) Display
}

// A Definition describes a tool to a model and to a harness.
type Definition struct {
	Name        string          // what the model sees; unique in a set
	Internal    string          // what events call it; empty means Name
	Description string          // text for the model
	Schema      json.RawMessage // JSON schema of the arguments; not to be changed
	Freeform    bool            // the tool also takes plain text as its arguments
	Tags        []string        // for policies, such as "shell:read"; not to be changed

	ReadOnly    bool // changes nothing outside the session
	Destructive bool // may overwrite or remove what exists
	Idempotent  bool // calling it again has no further effect
	Images      bool // its outcome may hold images
	Foreground  bool // cannot run in the background
}

// internal returns the name that events call the tool.
func (d Definition) internal() string {
	if d.Internal == "" {
		return d.Name
	}
	return d.Internal
}

// A Call is one call of a tool.
type Call struct {
	ID        string // chosen by the harness; only handed on
	Agent     string // the calling agent: with directory locks, 1 to 128 bytes without white space
	Tool      string // the name that the model used
	Arguments []byte // the text exactly as the model sent it, one JSON object; not kept
	Dir       string // absolute; where relative paths start. A Session sets it, whatever it was

	fault    error           // why Dir could not be set
	check    workspace.Check // to ask before each change that others can see; nil is fine
	progress func(Display)   // tells that the call waits; may be nil
}

// An Outcome is what became of a call. Make one with [Succeed] or [Fail].
type Outcome struct {
	Text    string         // what the model sees; never empty
	Result  framing.Result // the same as headers and body
	Error   *framing.Error // nil if the call succeeded; see Err
	Content []Content      // typed content for the model beside the text
	Display Display        // for people; never shown to the model
}

// Err returns the error of a failed call as an error value, which is nil if the call
// succeeded.
func (out Outcome) Err() error {
	if out.Error == nil {
		return nil
	}
	return out.Error
}

// Content is an image in an outcome.
type Content struct {
	MIMEType string
	Data     []byte
}

// Succeed returns the outcome of a call that completed with r. Its status is
// "ok" unless d has another one.
func Succeed(r framing.Result, d Display) Outcome {
	return Outcome{Result: r, Display: d}.settled()
}

// Fail returns the outcome of a call that failed with err. The first
// [framing.Error] in err is what the model reads. Without one, a
// [github.com/taukit/taukit/tools/workspace.Error] gives its own code, the end of ctx is a cancellation or a
// time-out, with the cause of ctx as the reason of a cancellation, and anything
// else is an internal error.
func Fail(ctx context.Context, err error, d Display) Outcome {
	return Outcome{Error: asError(ctx, err), Display: d}.settled()
}

func statusOf(e *framing.Error) string {
	if e.Code == framing.CodeCancelled {
		return StatusCancelled
	}
	return e.Error()
}
