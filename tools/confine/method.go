package confine

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"syscall"
)

// An Enforcement is what a command meets that writes in a protected directory.
type Enforcement string

const (
	// ByBind means that the directories are read-only mounts.
	ByBind Enforcement = "bind"
	// ByLandlock means that a Landlock domain refuses what changes content or
	// names; modes, owners, times and extended attributes are not guarded.
	ByLandlock Enforcement = "landlock"
)

// A Method is one way to enforce a [Plan]. It is safe for concurrent use.
type Method interface {
	// Name is that of the constructor.
	Name() string
	Enforces() Enforcement

	// Probe finds out, by doing it, whether the method works here: it runs a
	// shell that must be able to read from a fresh private directory and must
	// fail to write there. It takes a few seconds at most and leaves nothing
	// behind. The error says what failed, or is that of ctx.
	Probe(ctx context.Context) error

	// Start starts cmd under the plan and sets cmd.Process; nothing else in cmd
	// is changed, and nothing at all if it fails. The error is a [*SetupError]
	// if the method failed, a [*PlanError] if the plan cannot be carried out,
	// [ErrAttributes] or [ErrStream], or that of the command itself, which is
	// the [*os.PathError] that starting it unconfined gives.
	Start(cmd *exec.Cmd, p Plan) error
}

// A SetupError says that a [Method] failed before it came to the command.
type SetupError struct {
	Op  string // a system call, or what was to be done
	Err error
}

func (e *SetupError) Error() string { return e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *SetupError) Unwrap() error { return e.Err }

// setup returns a [*SetupError], or nil if err is nil.
func setup(op string, err error) error {
	if err == nil {
		return nil
	}
	return &SetupError{op, err}
}

// exhausted reports whether err only says that something is used up for now,
// which is nobody's fault and would have failed the command without a method too.
func exhausted(err error) bool {
	for _, e := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

var (
	// ErrAttributes refuses a SysProcAttr that cannot be combined with
	// confinement.
	ErrAttributes = errors.New("confine: SysProcAttr asks for more than a session, process group, terminal, control group or pidfd")

	// ErrStream refuses a stream that is not an [*os.File].
	ErrStream = errors.New("confine: Stdin, Stdout and Stderr must be files")
)

// quote makes one line of any path.
func quote(path string) string { return strconv.Quote(path) }
