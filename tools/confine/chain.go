package confine

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
)

// A Chain starts commands by the first of its methods that works here. Each
// method is probed once, when it is first needed. It is safe for concurrent use.
type Chain struct {
	links []*link
}

// NewChain returns a Chain of the methods, in the order in which to try them.
func NewChain(methods ...Method) *Chain {
	c := &Chain{}
	for _, m := range methods {
		c.links = append(c.links, &link{method: m, turn: make(chan struct{}, 1)})
	}
	return c
}

// Default returns a new Chain of [MountNS], [UserNS], [Landlock] and
// [Bubblewrap], which is found in PATH.
func Default() *Chain { return NewChain(MountNS(), UserNS(), Landlock(), Bubblewrap("")) }

// Start starts cmd under the plan and sets cmd.Process, which the caller waits
// for; see the package's comment for what cmd may be. The caller must call Close
// of the result when the command, and what it left behind, is done.
//
// If the command's temporary directory, TMPDIR of its environment or else /tmp,
// would not be writable, it gets a private one outside of all protected
// directories as its TMPDIR: in XDG_RUNTIME_DIR of its environment, /dev/shm or
// Plan.StateDir, the first that works. If none does, TMPDIR stays.
//
// A method whose set-up fails is not tried again by this Chain; the next one
// starts the command. If there is none left the error is an [*UnavailableError].
// Any other error is the one of [Method] Start, of cmd.Err or of ctx, and counts
// against no method; so is a set-up error that only says that processes, memory
// or descriptors are used up for now. ctx ends the probes, not the command.
func (c *Chain) Start(ctx context.Context, cmd *exec.Cmd, p Plan) (*Confined, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := p.canonical()
	if err != nil {
		return nil, err
	}
	unavailable := &UnavailableError{}
	for _, l := range c.links {
		confined, err := l.start(ctx, cmd, p)
		var failed *unusable
		if !errors.As(err, &failed) {
			return confined, err
		}
		unavailable.Reasons = append(unavailable.Reasons, Reason{l.method.Name(), failed.err})
	}
	return nil, unavailable
}

// Method returns the method that would start a command now, after the probes
// that this needs, or an [*UnavailableError] or the error of ctx.
func (c *Chain) Method(ctx context.Context) (Method, error) {
	unavailable := &UnavailableError{}
	for _, l := range c.links {
		err := l.probe(ctx)
		var failed *unusable
		if err == nil {
			return l.method, nil
		}
		if !errors.As(err, &failed) {
			return nil, err
		}
		unavailable.Reasons = append(unavailable.Reasons, Reason{l.method.Name(), failed.err})
	}
	return nil, unavailable
}

// A link is a method and what is known of it.
type link struct {
	method Method
	turn   chan struct{}            // one probe at a time, with a context
	known  atomic.Pointer[unusable] // nil before the probe; its err is nil if the method works
}

// unusable is the error for a method that does not work here.
type unusable struct{ err error }

func (e *unusable) Error() string { return e.err.Error() }

func (l *link) start(ctx context.Context, cmd *exec.Cmd, p Plan) (*Confined, error) {
	if err := l.probe(ctx); err != nil {
		return nil, err
	}
	confined := &Confined{method: l.method}
	run := copyOf(cmd)
	p = confined.prepare(run, p)
	err := l.method.Start(run, p)
	if err == nil {
		cmd.Process = run.Process
		return confined, nil
	}
	_ = confined.Close()
	var failed *SetupError
	if errors.As(err, &failed) && !exhausted(err) {
		l.known.Store(&unusable{err})
		return nil, &unusable{err}
	}
	return nil, err
}

// probe returns nil, an [*unusable] or the error of ctx. A probe that ctx ended
// has shown nothing.
func (l *link) probe(ctx context.Context) error {
	if known := l.known.Load(); known != nil {
		return known.orNil()
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if known := l.known.Load(); known != nil {
		return known.orNil()
	}
	err := l.method.Probe(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && exhausted(err) {
		return err
	}
	known := &unusable{err}
	l.known.Store(known)
	return known.orNil()
}

func (e *unusable) orNil() error {
	if e.err == nil {
		return nil
	}
	return e
}

// copyOf returns a command that does the same, which can be changed.
func copyOf(cmd *exec.Cmd) *exec.Cmd {
	return &exec.Cmd{
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir,
		Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		ExtraFiles: cmd.ExtraFiles, SysProcAttr: cmd.SysProcAttr, Err: cmd.Err,
	}
}

// An UnavailableError says why no method works here.
type UnavailableError struct {
	Reasons []Reason // in the order of the methods; empty if there are none
}

// A Reason is why one method does not work.
type Reason struct {
	Method string
	Err    error
}

func (e *UnavailableError) Error() string {
	reasons := make([]string, 0, len(e.Reasons))
	for _, r := range e.Reasons {
		reasons = append(reasons, r.Method+" "+r.Err.Error())
	}
	if len(reasons) == 0 {
		reasons = []string{"no methods"}
	}
	return "confine: unavailable: " + strings.Join(reasons, "; ")
}

// Unwrap returns the errors of the methods.
func (e *UnavailableError) Unwrap() []error {
	errs := make([]error, 0, len(e.Reasons))
	for _, r := range e.Reasons {
		errs = append(errs, r.Err)
	}
	return errs
}
