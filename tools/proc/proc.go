// Package proc runs one command with all of its descendants: bounded in time,
// read to the end of its output, ended as a whole, and with exactly one reason
// why it ended.
//
// On Unix the command leads a session of its own, so it has no terminal, and
// what it starts belongs to its process group unless it leaves it by setsid. A
// deadline or the end of a context ends the group. A descendant that the
// command leaves behind when it ends by itself is left alive.
//
// On other systems there are no process groups: only the command itself is
// ended, what it started goes on, and Outcome.OutputOpen says if that still
// holds the output.
//
// The package is not for rendering output (package shellrec) and is no sandbox;
// package confine starts a command with a narrower view.
package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/taukit/taukit/shellrec"
)

// What the zero values of a [Command] stand for, and what it cannot change.
const (
	DefaultKillGrace   = 2 * time.Second
	DefaultDrainWindow = 100 * time.Millisecond

	reapLimit = 5 * time.Second // wait after SIGKILL: a process may be stuck in the kernel
	readSize  = 64 << 10        // bytes of one read; of each stream in one turn
)

// A Command says what to run and how.
type Command struct {
	// Path is the program. Without a slash it is looked up in the PATH of Env,
	// of which entries that are not absolute are passed over; with one, a
	// relative path starts at Dir.
	Path string
	Args []string // without the name of the program
	Dir  string   // where it runs; empty means the directory of this process
	Env  []string // "NAME=VALUE", the last of a name counts; unlike in os/exec, nil means none at all, and no PATH

	// Timeout is how long the command may run; 0 means for ever.
	Timeout time.Duration
	// KillGrace is the time between SIGTERM and SIGKILL; 0 means
	// DefaultKillGrace.
	KillGrace time.Duration
	// DrainWindow is how long output is awaited after the end of the command
	// from descendants that hold it open; 0 means DefaultDrainWindow.
	DrainWindow time.Duration

	// Hurry, when it is closed, ends the grace of a command that is to end: it is
	// killed at once. It may be nil.
	Hurry <-chan struct{}

	// PTY gives the command two pseudo-terminals of 24 rows and 80 columns in
	// place of two pipes, where the system has them (Linux, macOS). Neither is
	// its controlling terminal.
	PTY bool

	// Output is called with what the command writes, in the order in which it
	// was read, from one goroutine at a time. The slice is valid during the call
	// only. While it runs nothing else is done, so it must not block. It may be
	// nil.
	Output func(s shellrec.Stream, p []byte)

	// Start stands in place of the Start method of the command, to start it in
	// another way. It must leave the process in the field Process.
	Start func(cmd *exec.Cmd) error

	// Drains takes over the output that descendants hold open when Run returns.
	// Without it, their next write fails.
	Drains *Drains
}

// A Reason is why a command ended.
type Reason string

// The reasons.
const (
	Exited    Reason = "exit"      // by itself
	Signaled  Reason = "signal"    // by a signal that Run had not sent
	TimedOut  Reason = "timeout"   // its time was over
	Cancelled Reason = "cancelled" // its context ended
	Unknown   Reason = "unknown"   // its status could not be obtained
)

// An Outcome is what became of a command that was started. It has a status, a
// signal, or neither, never both.
type Outcome struct {
	// Reason is what came first, as Run saw it: a command that had ended by then
	// was not ended by its deadline.
	Reason Reason
	// Status is the exit status, if HasStatus. A command that was to end may
	// still have exited with one, even with 0.
	Status    int
	HasStatus bool
	// Signal is the number of the signal that ended the command; 0 if none did.
	Signal int
	// Duration is the time from the start to the end of the command.
	Duration time.Duration
	// OutputOpen says that descendants still held the output open, so that later
	// output is missing.
	OutputOpen bool
}

// A StartError says that a command was not started.
type StartError struct {
	Path string // of the command, as it was given
	Err  error
}

// Error returns the message.
func (e *StartError) Error() string { return "start " + strconv.Quote(e.Path) + ": " + e.Reason() }

// Reason returns why, in the plain words of the system where they are known,
// such as "no such file or directory".
func (e *StartError) Reason() string {
	var errno syscall.Errno
	if errors.As(e.Err, &errno) {
		return errno.Error()
	}
	return fmt.Sprint(e.Err)
}

// Unwrap returns the error of the start.
func (e *StartError) Unwrap() error { return e.Err }

// Run runs a command. It returns when the command has ended and its output has
// been read, or at most KillGrace, 5 s and DrainWindow after its time was over
// or ctx was done. The error is a [*StartError], and nothing was started then;
// a command that was started has an outcome, whatever it is.
//
// To end a command, its process group gets SIGTERM, and SIGKILL as soon as the
// command itself has ended or KillGrace is over. If ctx ends after the time was
// over, or Hurry is closed, that is at once.
func Run(ctx context.Context, c Command) (Outcome, error) {
	if ctx.Err() != nil {
		return Outcome{}, &StartError{c.Path, context.Cause(ctx)}
	}
	c.KillGrace = cmp.Or(c.KillGrace, DefaultKillGrace)
	c.DrainWindow = cmp.Or(c.DrainWindow, DefaultDrainWindow)
	if c.Output == nil {
		c.Output = func(shellrec.Stream, []byte) {}
	}
	if c.Start == nil {
		c.Start = (*exec.Cmd).Start
	}
	path, err := lookPath(c.Path, c.Env)
	if err != nil {
		return Outcome{}, &StartError{c.Path, err}
	}
	return run(ctx, c, &exec.Cmd{
		Path: path,
		Args: append([]string{c.Path}, c.Args...),
		Dir:  c.Dir,
		Env:  append([]string{}, c.Env...), // never nil, which would mean the environment of this process
	})
}
