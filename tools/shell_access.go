package tools

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/confine"
	"github.com/taukit/taukit/tools/proc"
)

// ReadOnly says how commands are kept from writing that are not to write.
type ReadOnly string

// The policies.
const (
	ReadOnlyAuto    ReadOnly = ""        // as well as the system can; the result says how
	ReadOnlyRequire ReadOnly = "require" // a command that could write is not started
	ReadOnlyOff     ReadOnly = "off"     // not at all: the host confines elsewhere
)

// The modes of a command in a display.
const (
	modeReadOnly  = "ro"
	modeReadWrite = "rw"
)

// unenforced is the read_only of a command that nothing keeps from writing.
const unenforced = "unenforced"

// An access is what a command may do to files, as far as directory locks say.
type access struct {
	mode     string         // of the display; "" without locking
	guard    *dirlock.Guard // of a command that may write; nil without locking
	readOnly string         // how it is kept from writing; "" if it may
	protect  []string       // what it must not write to
	chain    *confine.Chain // nil if it is not kept from writing
	confined *confine.Confined
}

// access decides what a command in a directory may do. The locks say, never the
// text of the command, and it waits for nobody.
func (r *shellRunner) access(ctx context.Context, call Call, dir string) (*access, error) {
	if r.Locks == nil {
		return &access{}, nil
	}
	guard, err := r.Locks.LockCovered(ctx, dirlock.Request{Owner: dirlock.Owner(call.Agent), Dirs: []string{dir}})
	switch {
	case err == nil:
		return &access{mode: modeReadWrite, guard: guard}, nil
	case !errors.Is(err, dirlock.ErrNotCovered):
		return nil, lockFailure(ctx, err)
	}
	a := &access{mode: modeReadOnly, readOnly: unenforced}
	if r.cfg.ReadOnly == ReadOnlyOff {
		return a, nil
	}
	others, err := r.Locks.OthersHeld(ctx, dirlock.Owner(call.Agent))
	if err != nil {
		return nil, lockFailure(ctx, err)
	}
	a.chain, a.protect = r.Confine, protected(dir, call.Dir, others)
	return a, nil
}

// protected returns the directories that a command must not write to, those that
// exist: its own, the agent's, and those that others have locked.
func protected(dir, workdir string, others []string) []string {
	list := []string{dir}
	for _, other := range append(others, workdir) {
		if info, err := os.Stat(other); err == nil && info.IsDir() && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	return list
}

// start starts a command with the access.
func (a *access) start(ctx context.Context, policy ReadOnly) func(*exec.Cmd) error {
	if a.readOnly == "" || policy == ReadOnlyOff {
		return nil
	}
	return func(cmd *exec.Cmd) (err error) {
		if a.confined, err = nil, error(&confine.UnavailableError{}); a.chain != nil {
			a.confined, err = a.chain.Start(ctx, cmd, confine.Plan{ReadOnly: a.protect})
		}
		var unavailable *confine.UnavailableError
		switch {
		case err == nil:
			a.readOnly = string(a.confined.Method().Enforces())
		case errors.As(err, &unavailable) && policy != ReadOnlyRequire:
			err = cmd.Start()
		}
		return err
	}
}

// context returns a context for the command, which ends when its lock is lost.
func (a *access) context(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if a.guard == nil {
		return ctx, func() { cancel(nil) }
	}
	held := a.guard.Context()
	unhook := context.AfterFunc(held, func() { cancel(context.Cause(held)) })
	return ctx, func() {
		unhook()
		cancel(nil)
	}
}

// lost returns the error of a command that was ended, or not started, because its
// lock was lost, nil if that did not happen.
func (a *access) lost(ctx context.Context, end proc.Outcome, started error) error {
	if a.guard == nil || !errors.Is(context.Cause(ctx), dirlock.ErrLost) || started == nil && end.Reason != proc.Cancelled {
		return nil
	}
	failure := lockFailure(ctx, context.Cause(ctx))
	var e *framing.Error
	if errors.As(failure, &e) && started == nil {
		var r framing.Result
		r.Add("termination_reason", string(end.Reason))
		addEnd(&r, end)
		e.Fields = append(e.Fields, r.Headers...)
	}
	return failure
}

// close ends the access when the command has ended.
func (a *access) close() {
	if a.guard != nil {
		a.guard.Release()
	}
	if a.confined != nil {
		_ = a.confined.Close() // it is about a temporary directory
	}
}

// unconfined returns the error of a command that must not be able to write, and
// could.
func unconfined(e *confine.UnavailableError) error {
	var lines []string
	for _, r := range e.Reasons {
		lines = append(lines, framing.Record(r.Method, escapeField(r.Err.Error())))
	}
	return &framing.Error{
		Code:    CodeShellUnconfined,
		Message: "read-only enforcement is required but unavailable",
		Output:  strings.Join(lines, "\n"),
		Cause:   e,
	}
}
