package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools/confine"
	"github.com/taukit/taukit/tools/discovery"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/proc"
	"github.com/taukit/taukit/tools/workspace"
)

// DefaultAgent is the agent of a call that names none.
const DefaultAgent = "main"

// A Config says what a [Session] is made of. Zero fields are the defaults.
type Config struct {
	// Root is the directory that relative paths start at, by default the
	// current directory of the process.
	Root string
	// Workspace stands in place of Root: for a file system that is not the
	// host's, or to share it with tools of one's own. Only that of the host can
	// be searched and runs commands, and editors need a workspace.WriteFS: the
	// other tools are not there then.
	Workspace *workspace.Workspace

	// Spool is where a tool saves complete output that it had to cut. By
	// default the session has one of its own, which it removes when it is
	// closed; one that is given stays the caller's to close. NoSpool switches
	// saving off.
	Spool   *artifact.Spool
	NoSpool bool

	// Guard refuses changes of files that an agent has not read as they are now;
	// nil refuses nothing.
	Guard *guard.Policy

	// Workdirs remembers the working directories of agents beyond the session; nil
	// does not.
	Workdirs WorkdirStore
	// Discoverer finds instructions and skills. By default it looks in the home
	// directory of the user and, if the files are those of the host, in the
	// projects that agents work in; [NoDiscovery] finds nothing.
	Discoverer discovery.Discoverer

	// Store keeps the originals that the tools export, import and read_image
	// refer to; without one there are no such tools, unless ExposeAll is set.
	Store artifact.Store
	// ImportDir is the parent directory of the session's imported files, by
	// default that of temporary files.
	ImportDir string

	// Locks is where directory locks are kept; nil is no locking. The session is
	// one instance of it.
	Locks       dirlock.Backend
	LockOptions dirlock.Options

	// Shell says how commands are run.
	Shell ShellConfig

	// PatchMode says what apply_patch does with a patch that does not fit as a
	// whole.
	PatchMode patch.Mode

	// Own are the harness's own tools, which come behind ours.
	Own []Tool

	// ModelTags describe the model: what it is trained on. With them, a Policy
	// chooses the tools to expose; by default these are ours but write, with one
	// editor and one shell, and all Own ones.
	ModelTags []string
	Policy    Policy
	// EditStyle says how the model edits; by default its tags and the policy do.
	EditStyle EditStyle
	// Tools, if not nil, are the names of the tools to expose, ours and own, in
	// any order; [Names] returns all of ours, and [CoreSet] the least. It does not
	// bring back what the configuration is without, see [Policy].
	Tools []string
	// Images says that the model takes images.
	Images bool
	// ExposeAll exposes all tools, or all that Tools names, whatever the policy
	// says and the model is; but dir_lock needs Locks, and read_image Images.
	ExposeAll bool

	// Middleware wraps the running of each call, the first one outermost. It
	// runs between the two events of the call.
	Middleware []Middleware
	// Listener is told of events; it may be nil.
	Listener Listener
	// FrameLimit is the size in bytes over which an outcome loses its diffs or
	// its images; see [Session.Call]. 0 means [DefaultFrameLimit].
	FrameLimit int
}

// A Session is a set of tools for the agents of one harness. It is safe for
// concurrent use.
type Session struct {
	workdirs  *Workdirs
	own       *artifact.Spool // to be closed with the session; may be nil
	imports   *artifact.Imports
	locks     *dirlock.Manager // nil without locking
	drains    proc.Drains
	userShell *UserShell
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

// New returns a Session. It fails closed: on a root that is no directory, on a
// name to expose that no tool has or that two tools have, on fields that
// contradict each other.
func New(cfg Config) (_ *Session, err error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &Session{
		listener: cfg.Listener,
		frame:    cmp.Or(cfg.FrameLimit, DefaultFrameLimit),
	}
	defer func() {
		if err != nil {
			_ = s.release()
		}
	}()
	ws := cfg.Workspace
	if ws == nil {
		if ws, err = workspace.New(cfg.Root); err != nil {
			return nil, err
		}
	}
	s.workdirs = NewWorkdirs(ws, cfg.Workdirs, cfg.discoverer(ws))
	spool := cfg.Spool
	if spool == nil && !cfg.NoSpool {
		if s.own, err = artifact.NewSpool(artifact.Options{}); err != nil {
			return nil, err
		}
		spool = s.own
	}
	if s.imports, err = artifact.NewImports(artifact.ImportOptions{Dir: cfg.ImportDir}); err != nil {
		return nil, err
	}
	env := Env{
		Workspace: ws, Spool: spool, Guard: cfg.Guard, Drains: &s.drains, Workdirs: s.workdirs,
		Store: cfg.Store, Imports: s.imports,
	}
	if cfg.Locks != nil {
		if s.locks, err = dirlock.New(context.Background(), cfg.Locks, cfg.LockOptions); err != nil {
			return nil, err
		}
		env.Locks = s.locks
		if cfg.Shell.ReadOnly != ReadOnlyOff {
			env.Confine = confine.Default()
		}
	}
	s.userShell = NewUserShell(env, cfg.Shell)
	tools, err := cfg.choose(env)
	if err != nil {
		return nil, err
	}
	if s.set, err = NewSet(tools...); err != nil {
		return nil, err
	}
	s.handler = s.set.Call
	for _, m := range slices.Backward(cfg.Middleware) {
		s.handler = protect(m(s.handler))
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// NoDiscovery returns a Discoverer that finds nothing.
func NoDiscovery() discovery.Discoverer { return nothing{} }

// discoverer returns what looks at projects.
func (cfg Config) discoverer(ws *workspace.Workspace) discovery.Discoverer {
	if cfg.Discoverer != nil || !ws.OnHost() {
		return cfg.Discoverer
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		home = "" // there is no user, as in a service
	}
	return discovery.New(discovery.Options{Home: home})
}

// check refuses fields that contradict each other or cannot work.
func (cfg Config) check() error {
	switch {
	case cfg.Root != "" && cfg.Workspace != nil:
		return errors.New("both a root and a workspace")
	case cfg.NoSpool && cfg.Spool != nil:
		return errors.New("both a spool and none")
	case !slices.Contains([]EditStyle{"", EditReplace, EditLines, EditPatch}, cfg.EditStyle):
		shown, _ := escape.Field(string(cfg.EditStyle))
		return fmt.Errorf("unknown edit style: %s", shown)
	case cfg.FrameLimit < 0:
		return errors.New("negative frame limit")
	case slices.ContainsFunc(cfg.Middleware, func(m Middleware) bool { return m == nil }):
		return errors.New("middleware that is nil")
	case slices.Contains(cfg.Own, nil):
		return errors.New("a tool that is nil")
	}
	return nil
}

// Workdirs returns the directories that the agents of the session work in.
func (s *Session) Workdirs() *Workdirs { return s.workdirs }

// Definitions returns the exposed tools in the order of registration.
func (s *Session) Definitions() []Definition { return s.set.Definitions() }

// Call runs one call and returns when it is done. ctx cancels it: its cause,
// if one was given, becomes the reason that the model reads. A command that was
// started has a result nevertheless, which says that it was cancelled. A call
// for a tool that is not exposed gives an error with the code UNKNOWN_TOOL and no
// events.
//
// The size of an outcome is that of its text, its images in base64, its diffs
// in JSON, and its header. If it is over the frame limit, the diffs are replaced
// by a note; an outcome with images becomes an error. Text is never cut here.
func (s *Session) Call(ctx context.Context, call Call) Outcome {
	return s.begin(ctx, call)()
}

// begin takes a call in, with the directory that its agent works in now, and
// returns what runs it; that must be called.
func (s *Session) begin(ctx context.Context, call Call) (run func() Outcome) {
	ctx, done, err := s.admit(ctx)
	if err != nil {
		return func() Outcome { return Fail(ctx, err, Display{}) }
	}
	call.Agent = agentName(call.Agent)
	call.Dir, call.fault = s.workdirs.Dir(ctx, call.Agent)
	call.check, call.progress = nil, nil
	return func() Outcome {
		defer done()
		s.workdirs.awaitFirst(ctx, call.Agent)
		tool, ok := s.set.byName[call.Tool]
		switch {
		case !ok:
			return unknownTool(ctx, call.Tool)
		case s.listener == nil:
			return s.run(ctx, tool, call)
		default:
			return s.observed(ctx, tool, call)
		}
	}
}

// UserShell runs a command that a person typed; without a Dir, it is run in the
// directory that the agent works in. ctx cancels it, and so does the end of the
// session. It makes no events.
func (s *Session) UserShell(ctx context.Context, c UserCommand) Outcome {
	ctx, done, err := s.admit(ctx)
	if err != nil {
		return Fail(ctx, err, commandDisplay(c.Command))
	}
	defer done()
	if c.Dir == "" {
		if c.Dir, err = s.workdirs.Dir(ctx, c.Agent); err != nil {
			return Fail(ctx, err, commandDisplay(c.Command))
		}
	}
	return s.userShell.Run(ctx, c)
}

// admit lets a call in: until done is called, the session is not closed. The
// context ends with the session.
func (s *Session) admit(ctx context.Context) (_ context.Context, done func(), err error) {
	if !s.enter() {
		return ctx, nil, &framing.Error{Code: framing.CodeCancelled, Message: errClosed.Error()}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() {
		unhook()
		cancel(nil)
		s.calls.Done()
	}, nil
}

// run runs a call to its final outcome.
func (s *Session) run(ctx context.Context, tool Tool, call Call) Outcome {
	if call.fault != nil {
		return Fail(ctx, call.fault, Display{})
	}
	out := s.handler(ctx, call)
	bad := out.Error != nil && out.Error.Code == framing.CodeInvalidArguments
	if out.Display.Args == "" && !bad { // who failed the call may not know what it asked for
		out.Display.Args = preview(tool, call).Args
	}
	return fitFrame(out, s.frame)
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
	call.progress = func(d Display) {
		waiting := event
		waiting.Phase, waiting.Display = PhaseWaiting, d
		s.listener.Event(waiting)
	}

	event.Phase, event.Display.Status = PhaseError, internalError(call.Tool)
	defer func() { s.listener.Event(event) }()
	out = s.run(ctx, tool, call)
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

// Close cancels the running calls, waits for them and for scans of projects,
// releases all locks, reads no more output of what
// commands have left behind, and removes imported files and what was saved in the
// session's own spool. It is idempotent; later calls are answered as
// cancelled. A tool, a listener or middleware must not call it: it would wait
// for itself.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errClosed)
	s.calls.Wait()
	return s.release()
}

// release releases what the session has, as far as it has been made.
func (s *Session) release() error {
	var errs []error
	if s.locks != nil {
		errs = append(errs, s.locks.Close(context.Background()))
	}
	if s.workdirs != nil {
		errs = append(errs, s.workdirs.Close())
	}
	return errors.Join(append(errs, s.drains.Close(), s.imports.Close(), s.own.Close())...)
}
