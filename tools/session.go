package tools

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/workspace"
)

// DefaultAgent is the agent of a call that names none.
const DefaultAgent = "main"

// A Config says what a [Session] is made of. Zero fields are the defaults.
type Config struct {
	// Root is the directory that relative paths start at, the current
	// directory of the process by default. With an FS it must be absolute.
	Root string
	// FS is the file system that the tools act on, that of the host by default.
	FS workspace.FS

	// Tools are the names of the tools to expose, in any order; nil exposes
	// all. A name that does not exist is an error.
	Tools []string
	// Own are the harness's own tools, added behind ours.
	Own []Tool

	// Artifacts configures where and how long complete output is saved when a
	// tool had to cut it. NoArtifacts switches saving off.
	Artifacts   artifact.Options
	NoArtifacts bool

	// Middleware wraps the running of each call, the first one outermost. It
	// runs between the two events of the call.
	Middleware []Middleware
	// Listener is told of events; it may be nil.
	Listener Listener
	// FrameLimit is the most that one outcome may take of a display, in bytes;
	// see [Session.Call]. 0 means [DefaultFrameLimit].
	FrameLimit int
}

// A Session is a set of tools for the agents of one harness. It is safe for
// concurrent use.
type Session struct {
	workspace *workspace.Workspace
	spool     *artifact.Spool
	set       *Set
	handler   Handler
	listener  Listener
	frame     int

	ctx    context.Context // done when the session is closed
	cancel context.CancelCauseFunc
	calls  sync.WaitGroup // running calls

	mu     sync.Mutex // orders calls.Add before calls.Wait
	closed bool
}

// errClosed is the reason of calls that the end of the session cancels.
var errClosed = errors.New("the session is closed")

// New returns a Session. It fails closed: on a root that does not exist, on
// contradictions between names of tools, on options that cannot work.
func New(cfg Config) (*Session, error) {
	s := &Session{listener: cfg.Listener, frame: cfg.FrameLimit}
	if s.frame == 0 {
		s.frame = DefaultFrameLimit
	}
	var err error
	if cfg.FS == nil {
		s.workspace, err = workspace.New(cfg.Root)
	} else {
		s.workspace, err = workspace.NewFS(cfg.FS, cfg.Root)
	}
	if err != nil {
		return nil, err
	}
	if !cfg.NoArtifacts {
		if s.spool, err = artifact.NewSpool(cfg.Artifacts); err != nil {
			return nil, err
		}
	}
	if s.set, err = NewSet(append(builtin(s.workspace, s.spool), cfg.Own...)...); err != nil {
		return nil, err
	}
	if cfg.Tools != nil {
		if s.set, err = s.set.only(cfg.Tools); err != nil {
			return nil, err
		}
	}
	s.handler = s.set.Call
	for _, m := range slices.Backward(cfg.Middleware) {
		s.handler = protect(m(s.handler))
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// builtin returns the tools of this package in the order of registration.
func builtin(ws *workspace.Workspace, spool *artifact.Spool) []Tool {
	return []Tool{
		NewRead(ws, spool),
		NewLs(ws, spool),
	}
}

// Definitions returns the exposed tools in the order of registration.
func (s *Session) Definitions() []Definition { return s.set.Definitions() }

// Call runs one call and returns when it is done. ctx cancels it: its cause,
// if one was given, becomes the reason that the model reads. A call for a tool
// that is not exposed gives an error with the code UNKNOWN_TOOL and no events.
//
// The outcome takes a frame of a display: its text, its images in base64, its
// diffs and its header. Of an outcome over the frame limit only the diffs are
// replaced by a note, and one that has images becomes an error; text is never
// cut here.
func (s *Session) Call(ctx context.Context, call Call) Outcome {
	if !s.enter() {
		return Fail(ctx, &framing.Error{Code: framing.CodeCancelled, Message: errClosed.Error()}, Display{})
	}
	defer s.calls.Done()
	tool, ok := s.set.byName[call.Tool]
	if !ok {
		return unknownTool(ctx, call.Tool)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()

	if call.Agent == "" {
		call.Agent = DefaultAgent
	}
	call.Dir = s.workspace.Dir()
	if s.listener == nil {
		return fitFrame(s.handler(ctx, call), s.frame)
	}
	return s.observed(ctx, tool, call)
}

// observed runs a call between its two events. The second one is sent even if
// the goroutine ends in the call.
func (s *Session) observed(ctx context.Context, tool Tool, call Call) (out Outcome) {
	event := Event{
		Phase:    PhaseStarted,
		CallID:   call.ID,
		Agent:    call.Agent,
		Internal: tool.Definition().internal(),
		Visible:  call.Tool,
	}
	event.Display = preview(tool, call)
	s.listener.Event(event)

	asked := event.Display.Args
	event.Phase, event.Display.Status = PhaseError, internalError(call.Tool)
	defer func() { s.listener.Event(event) }()
	out = fitFrame(s.handler(ctx, call), s.frame)
	if out.Display.Args == "" { // who failed the call may not know what it asked for
		out.Display.Args = asked
	}
	event.Phase, event.Display = phaseOf(out), out.Display
	return out
}

// preview returns what the call asks for, if the tool can say.
func preview(tool Tool, call Call) (d Display) {
	p, ok := tool.(Previewer)
	if !ok {
		return Display{}
	}
	defer func() {
		if recover() != nil { // the call itself will tell
			d = Display{}
		}
	}()
	return p.Preview(call)
}

func phaseOf(out Outcome) Phase {
	switch {
	case out.Error == nil:
		return PhaseResult
	case out.Error.Code == framing.CodeCancelled:
		return PhaseCancelled
	default:
		return PhaseError
	}
}

// enter counts a call as running, unless the session is closed.
func (s *Session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.calls.Add(1)
	return true
}

// Close cancels the running calls, waits for them, and removes the saved
// output. It is idempotent; later calls are answered as cancelled.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errClosed)
	s.calls.Wait()
	return s.spool.Close()
}
