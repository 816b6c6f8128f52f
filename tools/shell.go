package tools

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/proc"
	"github.com/taukit/taukit/tools/workspace"
	"github.com/taukit/taukit/truncate"
)

// What the zero values of a [ShellConfig] stand for.
const (
	DefaultShell            = "sh"
	DefaultShellTimeout     = 120 * time.Second
	DefaultMaxShellTimeout  = 24 * time.Hour
	DefaultUserShellTimeout = time.Hour
)

// Codes of errors that only commands have.
const (
	CodeShellDenied     = "SHELL_DENIED"     // not authorized
	CodeShellUnconfined = "SHELL_UNCONFINED" // it could write, and must not
	CodeShellStart      = "SHELL_START"      // the shell could not be started
)

// opRun words what a command does to its directory.
const opRun = "run in"

// A ShellConfig says how commands are run. Zero fields are the defaults.
type ShellConfig struct {
	// Path is the shell, which is run as Prefix, Path, "-c" and the command.
	// Without a slash it is looked up in the PATH of the command.
	Path   string
	Prefix []string

	// A command has the environment of this process without the names in
	// DropEnv, where a "*" at the end stands for any, and with SetEnv, where an
	// empty value removes a name. On top come variables against pagers, unless
	// KeepPager is set, and below it those against prompts, editors and colours.
	SetEnv    map[string]string
	DropEnv   []string
	KeepPager bool

	// DefaultTimeout is for calls that give none, MaxTimeout the most that they
	// may give, and UserTimeout is for commands of the user.
	DefaultTimeout, MaxTimeout, UserTimeout time.Duration
	// KillGrace, DrainWindow and Hurry are those of [proc.Command].
	KillGrace, DrainWindow time.Duration
	Hurry                  <-chan struct{}
	// PTY gives commands terminals to write to, and with them colours and
	// progress bars.
	PTY bool

	// Live is given the output of commands as it arrives, with the call that it is
	// of. It must not block, nor keep the slice. It may be nil.
	Live func(call Call, s shellrec.Stream, p []byte)

	// ReadOnly says how sure it must be that a command cannot write, if locking is
	// on and the agent holds no lock that covers its directory.
	ReadOnly ReadOnly
	// DirLock says that the set has the tool dir_lock: the descriptions tell what
	// it is to commands. A Session sets it.
	DirLock bool

	// Authorize refuses a command by an error, before anything is done for it, those
	// of a [UserShell] too. It sees the command as it was given and the canonical
	// directory; [Allowlist] makes one.
	Authorize func(ctx context.Context, command, dir string) error
}

func (c ShellConfig) withDefaults() ShellConfig {
	c.Path = cmp.Or(c.Path, DefaultShell)
	c.DefaultTimeout = cmp.Or(c.DefaultTimeout, DefaultShellTimeout)
	c.MaxTimeout = cmp.Or(c.MaxTimeout, DefaultMaxShellTimeout)
	c.UserTimeout = cmp.Or(c.UserTimeout, DefaultUserShellTimeout)
	return c
}

const shellRecords = `Output comes as records, one a line: "out " or "err " and the line, which is literal. Flags say what a record cannot show: (crlf), (cr) and (no_nl) how its line ended if not in LF, (invalid-utf8) that U+FFFD stands for bad bytes, (truncated) that the line is too long to show.
At most 2000 lines and 15 KiB are shown: the first and the last 1000 lines around "...". Truncated output has totals and normally the path of the whole.
A non-zero status, a signal and a timeout are results, not errors: read termination_reason (exit, signal, timeout, cancelled or unknown).`

const shellDescription = `Run a command with sh -c. stdin is empty and there is no terminal, so nothing can prompt, page or open an editor.
` + shellRecords + `
Prefer the dedicated tools for reading, searching and editing files. Start a server in the background with its output in a file: cmd >log 2>&1 &
cwd is for this command only. timeout is in seconds; its default is 120.`

const shellCommandDescription = `Run a command with sh -c. stdin is empty and there is no terminal, so nothing can prompt, page or open an editor.
` + shellRecords + `
Set workdir rather than use cd; it is for this command only. Edit files with apply_patch. Prefer the dedicated tools where there are any. Start a server in the background with its output in a file: cmd >log 2>&1 &
timeout_ms is in milliseconds; its default is 120000.`

const shellLockSentence = `
Commands may write only while this agent holds a dir_lock update lock on the directory that the command runs in or one above it. Without it they are read-only.`

// describe returns the description of a tool that runs commands.
func (c ShellConfig) describe(description string) string {
	if c.DirLock {
		return description + shellLockSentence
	}
	return description
}

// NewShell returns the tool shell, which runs a command on the host.
func NewShell(env Env, cfg ShellConfig) Tool {
	r := &shellRunner{env, cfg.withDefaults()}
	return newSpooled(env.Spool, Definition{
		Name:        "shell",
		Description: cfg.describe(shellDescription),
		Tags:        []string{"shell:exec", "shell:exec:generic"},
		Destructive: true,
	}, func(a args.Shell) Display { return commandDisplay(a.Command) },
		func(ctx context.Context, call Call, a args.Shell, d Display) Outcome {
			return r.call(ctx, call, shellCall{
				command: a.Command,
				dir:     string(a.Dir),
				timeout: time.Duration(a.Timeout) * time.Second,
				limit:   limit{"timeout", time.Second},
			}, d)
		})
}

// NewShellCommand returns the tool shell_command: the tool shell in the dialect
// of models that were trained on another agent.
func NewShellCommand(env Env, cfg ShellConfig) Tool {
	r := &shellRunner{env, cfg.withDefaults()}
	return newSpooled(env.Spool, Definition{
		Name:        "shell_command",
		Internal:    "gpt_shell",
		Description: cfg.describe(shellCommandDescription),
		Tags:        []string{"shell:exec", "shell:exec:shell_command"},
		Destructive: true,
	}, func(a args.ShellCommand) Display { return commandDisplay(a.Command) },
		func(ctx context.Context, call Call, a args.ShellCommand, d Display) Outcome {
			c := shellCall{
				command: a.Command,
				dir:     string(a.Dir),
				timeout: time.Duration(math.Ceil(a.TimeoutMS)) * time.Millisecond,
				limit:   limit{"timeout_ms", time.Millisecond},
			}
			if a.Timeout != 0 {
				c.timeout, c.limit = time.Duration(a.Timeout)*time.Second, limit{"timeout", time.Second}
			}
			return r.call(ctx, call, c, d)
		})
}

// Of a longer command a display shows the first and the last characters.
const (
	shownCommand = 40 // characters
	shownEnd     = 20 // characters
)

// commandDisplay shows the first line of a command, and goes with the whole
// command if that is more.
func commandDisplay(command string) Display {
	first, _, more := strings.Cut(command, "\n")
	shown, _ := escape.Field(strings.TrimSuffix(first, "\r"))
	if runes := []rune(shown); len(runes) > shownCommand {
		shown = string(runes[:shownEnd]) + "┄" + string(runes[len(runes)-shownEnd:])
		more = true
	}
	d := Display{Args: shown}
	if more {
		d.Diffs.Text = command
	}
	return d
}

// A shellCall is a call of one of the shell tools.
type shellCall struct {
	command string
	dir     string        // as it was given; "" is the working directory
	timeout time.Duration // 0 is none
	limit   limit         // how messages word a limit on it
}

// A limit words a limit on an argument.
type limit struct {
	field string
	unit  time.Duration
}

// A shellRunner runs commands.
type shellRunner struct {
	Env
	cfg ShellConfig
}

func (r *shellRunner) call(ctx context.Context, call Call, c shellCall, d Display) Outcome {
	if c.timeout > r.cfg.MaxTimeout {
		most := int64(r.cfg.MaxTimeout / c.limit.unit)
		return Fail(ctx, &framing.Error{
			Code:    framing.CodeInvalidArguments,
			Message: c.limit.field + " must be <= " + strconv.FormatInt(most, 10),
		}, d)
	}
	dir, err := r.admit(ctx, call, c)
	if err != nil {
		return Fail(ctx, err, d)
	}
	c.timeout = cmp.Or(c.timeout, r.cfg.DefaultTimeout)
	a, err := r.access(ctx, call, dir)
	if err != nil {
		return Fail(ctx, err, d)
	}
	defer a.close()
	d.Mode = a.mode
	ctx, done := a.context(ctx)
	defer done()
	t := newTranscript(r.Spool, truncate.Shell)
	defer t.discard()
	end, err := r.run(ctx, c, dir, a, func(s shellrec.Stream, p []byte) {
		if r.cfg.Live != nil {
			r.cfg.Live(call, s, p)
		}
		t.write(s, p)
	})
	if lost := a.lost(ctx, end, err); lost != nil {
		err = lost
	}
	if err != nil {
		return Fail(ctx, err, d)
	}
	return ended(end, a, t, d)
}

// admit checks the directory and the authority of a command before anything is
// done, and returns the canonical directory.
func (r *shellRunner) admit(ctx context.Context, call Call, c shellCall) (dir string, err error) {
	given := cmp.Or(c.dir, ".")
	if dir, err = r.directory(ctx, call, given); err != nil {
		return "", fileError(ctx, opRun, given, err)
	}
	if r.cfg.Authorize == nil {
		return dir, nil
	}
	if err := r.cfg.Authorize(ctx, c.command, dir); err != nil {
		return "", denial(ctx, err)
	}
	return dir, nil
}

// directory returns the canonical path of a directory to run a command in.
func (r *shellRunner) directory(ctx context.Context, call Call, given string) (string, error) {
	if !r.Workspace.OnHost() {
		return "", &workspace.Error{Code: framing.CodeIO, Reason: "this file system runs no commands", Err: errors.ErrUnsupported}
	}
	return r.Workspace.Directory(ctx, call.Dir, given)
}

// run runs the command of a call that has been admitted.
func (r *shellRunner) run(ctx context.Context, c shellCall, dir string, a *access, output func(shellrec.Stream, []byte)) (proc.Outcome, error) {
	argv := append(append([]string{}, r.cfg.Prefix...), r.cfg.Path, "-c", c.command)
	end, err := proc.Run(ctx, proc.Command{
		Path:        argv[0],
		Args:        argv[1:],
		Dir:         dir,
		Env:         r.cfg.environ(dir),
		Timeout:     c.timeout,
		KillGrace:   r.cfg.KillGrace,
		DrainWindow: r.cfg.DrainWindow,
		Hurry:       r.cfg.Hurry,
		PTY:         r.cfg.PTY,
		Output:      output,
		Start:       a.start(ctx, r.cfg.ReadOnly),
		Drains:      r.Drains,
	})
	if err != nil {
		return end, startFailure(ctx, err)
	}
	return end, nil
}

// ended returns the outcome of a command that was started: a result, whatever
// came of it.
func ended(end proc.Outcome, a *access, t *transcript, d Display) Outcome {
	result := resultOf(end)
	if a.readOnly != "" {
		result.Add("read_only", a.readOnly)
	}
	t.addTo(&result)
	d.Stats = statsOf(result.Body)
	d.Status = statusOfCommand(end)
	return Succeed(result, d)
}

// resultOf returns the headers of a command that was started.
func resultOf(end proc.Outcome) framing.Result {
	var r framing.Result
	r.Add("termination_reason", string(end.Reason))
	addEnd(&r, end)
	if end.Duration > slowCommand {
		r.AddInt("duration_seconds", wholeSeconds(end.Duration))
	}
	r.AddTrue("output_open", end.OutputOpen)
	return r
}

// slowCommand is how long a command may take without a word about it; so may a
// wait for a lock.
const slowCommand = 5 * time.Second

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) int64 { return int64(math.Ceil(d.Seconds())) }

// addEnd adds the status or the signal, if there is one.
func addEnd(r *framing.Result, end proc.Outcome) {
	switch {
	case end.HasStatus:
		r.AddInt("status", int64(end.Status))
	case end.Signal != 0:
		r.AddInt("signal", int64(end.Signal))
	}
}

// statusOfCommand returns what a display says of the end of a command.
func statusOfCommand(end proc.Outcome) string {
	switch {
	case end.Reason == proc.TimedOut, end.Reason == proc.Cancelled, end.Reason == proc.Unknown:
		return string(end.Reason)
	case end.Reason == proc.Signaled:
		return "signal " + strconv.Itoa(end.Signal)
	case end.Status == 0:
		return StatusOK
	default:
		return strconv.Itoa(end.Status)
	}
}
