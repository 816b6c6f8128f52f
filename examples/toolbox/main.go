// Toolbox runs the tools of taukit on a directory: it lists them, makes single
// calls, serves them as JSON lines, and gives a tour. What a model would see
// goes to standard output, what a person sees beside it to standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/internal/levenshtein"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/confine"
	"github.com/taukit/taukit/tools/workspace"
)

const usage = `Toolbox runs the tools of a coding agent on a directory, as a model would.

  toolbox [-C DIR] [-options JSON] list [-json]         the tools, one line each, or whole definitions
  toolbox [-C DIR] [-options JSON] call TOOL [ARGS|-]   one call
  toolbox [-C DIR] [-options JSON] session              JSON lines on standard input and output
  toolbox tour                                          every tool, in a temporary directory

  -C DIR         the directory that relative paths start at (default: the current one)
  -options JSON  session options (below), such as '{"dir_lock": true}'

ARGS is the JSON object of a call; "-" reads it from standard input. The text that a
model would see goes to standard output, as it is unless that is a terminal. The status
is 0, 1 if the tool failed, or 2 for a mistake on the command line.

A session takes one request a line and answers each with one line when it is ready, in
any order, under the id of the request; "agent" says who calls. A running call is cancelled
by {"id": 2, "control": "cancel", "target": 1}. The answer has the members text, and if
there is something to tell, error (code, message, details), display, diffs and content.

Options, each with its default:

  expose        "all": every tool that there is; "policy" asks the next five
  edit_style    "replace", "line" or "patch"
  model_tags    []: what the model is trained on, such as "shell:chatgpt"
  tool_policy   {}: default_shell_tool_style, rules, disable_tool_tags,
                enable_tool_tags, disable_tools, enable_tools
  tools         the names of the tools to expose, and no others
  images        whether the model takes images
  store         "mem", "dir" or "none": where export puts originals
  dir_lock      false: locks on directories; or {"enable", "backend": "memory" or
                "filesystem", "state_dir", "enforce_ro_bind": true, false or "require"}
  guard         false: files must have been read before they are changed
  patch_mode    "atomic" or "sequential"
  agent         "main": who calls, if a request does not say
  workdir       the -C directory: where agents start
  home          none: the directory with the user's instructions and skills
  artifact_dir  that of temporary files: where complete output goes; "-" for nowhere
  frame_limit   16777216: bytes of an outcome with its diffs and images
  faults        {}: what is to fail, for tests

  toolbox call ls
  toolbox call read '{"path": "main.go", "start_line": 1, "end_line": 20}'
  echo '{"path": "main.go"}' | toolbox -C ~/src/thing call read -
  echo '{"id": 1, "tool": "ls", "args": {}}' | toolbox session
`

// Exit statuses.
const (
	statusOK    = 0
	statusError = 1
	statusUsage = 2
)

var commands = []string{"list", "call", "session", "tour"}

func main() {
	confine.RunHelper() // this program also starts commands that must not write
	ctx, hurry, stop := interruptible()
	status := run(ctx, os.Args[1:], console{os.Stdin, os.Stdout, os.Stderr, hurry})
	stop()
	os.Exit(status)
}

// interruptible returns a context that an interrupt or a request to terminate
// cancels, with a reason that a model can read. A second one closes hurry, and a
// third one ends the process.
func interruptible() (_ context.Context, hurry chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	hurry = make(chan struct{})
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup has it
			signal.Notify(signals, s)
		}
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that is gone shows as an error of the write
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		cancel(errors.New("cancelled by the user"))
		if _, ok := <-signals; ok {
			signal.Stop(signals)
			close(hurry)
		}
	}()
	return ctx, hurry, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

// A console is the three streams of the program, and whether somebody is in a
// hurry to end it.
type console struct {
	in       io.Reader
	out, err io.Writer
	hurry    <-chan struct{}
}

// A usageError is a mistake on the command line.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// run is the whole program but for the process around it.
func run(ctx context.Context, argv []string, c console) int {
	err := dispatch(ctx, argv, c)
	var mistake usageError
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, errToolFailed):
		return statusError
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(c.out, usage)
		return statusOK
	case errors.As(err, &mistake):
		complain(c.err, mistake.message)
		complain(c.err, "-h tells more")
		return statusUsage
	default:
		complain(c.err, err.Error())
		return statusError
	}
}

func dispatch(ctx context.Context, argv []string, c console) error {
	flags := flag.NewFlagSet("toolbox", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("C", "", "")
	optionText := flags.String("options", "", "")
	asJSON := flags.Bool("json", false, "")
	// Flags may stand before and behind the command.
	if err := parse(flags, argv); err != nil {
		return err
	}
	command := flags.Arg(0)
	if err := parse(flags, flags.Args()[min(1, flags.NArg()):]); err != nil {
		return err
	}
	rest := flags.Args()

	if command == "tour" && len(rest) == 0 {
		if *dir != "" || *optionText != "" {
			return usageError{"tour has a directory and options of its own"}
		}
		return tour(ctx, c)
	}
	opts, err := parseOptions(*optionText)
	if err != nil {
		return err
	}
	switch {
	case command == "list" && len(rest) == 0:
		return list(c, *dir, opts, *asJSON)
	case command == "call" && 1 <= len(rest) && len(rest) <= 2:
		return call(ctx, c, *dir, opts, rest)
	case command == "call":
		return usageError{"call takes the name of a tool and its arguments as one JSON object"}
	case command == "session" && len(rest) == 0:
		return serve(ctx, c, *dir, opts)
	case command == "":
		return usageError{"what is to be done? list, call, session or tour"}
	case command == "list" || command == "session" || command == "tour":
		return usageError{command + " takes no arguments"}
	default:
		return usageError{fmt.Sprintf("unknown command: %s%s", command, didYouMean(command, commands))}
	}
}

func parse(flags *flag.FlagSet, argv []string) error {
	err := flags.Parse(argv)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError{err.Error()}
}

// didYouMean suggests the candidate nearest to a mistyped name.
func didYouMean(name string, candidates []string) string {
	if near, ok := levenshtein.Nearest(name, candidates); ok {
		return "; did you mean " + near + "?"
	}
	return ""
}

// open returns a session in the directory, and what is its own. Change may change
// its configuration.
func open(c console, dir string, opts options, change func(*tools.Config)) (_ *tools.Session, own belongings, err error) {
	defer func() {
		if err != nil {
			own.removeStore()
		}
	}()
	log := slog.New(slog.NewTextHandler(c.err, nil)) // it quotes what a terminal might obey
	cfg, err := opts.config(dir, log)
	if err != nil {
		return nil, own, usageError{err.Error()}
	}
	own.spool = cfg.Spool
	if own.artifacts, own.store, err = opts.artifacts(); err != nil {
		return nil, own, err
	}
	cfg.Store = own.artifacts
	if cfg.Locks, cfg.Shell.ReadOnly, err = opts.DirLock.locks(); err != nil {
		return nil, own, usageError{"options: " + err.Error()}
	}
	cfg.Shell.Hurry = c.hurry
	change(&cfg)
	session, err := tools.New(cfg)
	var noDirectory *workspace.Error
	var contradiction *tools.PolicyError
	switch {
	case errors.As(err, &contradiction):
		return nil, own, errors.Join(usageError{fmt.Sprintf("options: %s", contradiction)}, err)
	case errors.As(err, &noDirectory):
		return nil, own, usageError{fmt.Sprintf("cannot work in %s: %s", escape.Quote(cfg.Root), noDirectory.Reason)}
	case err != nil:
		return nil, own, usageError{err.Error()}
	}
	return session, own, nil
}

// belongings are what is a session's own beside it.
type belongings struct {
	spool     *artifact.Spool
	artifacts artifact.Store // nil if there is none
	store     string         // the directory of artifacts; "" if they are in memory
}

// close removes saved output, and the store.
func (b belongings) close() {
	_ = b.spool.Close() // what it cannot remove, a later one does
	b.removeStore()
}

func (b belongings) removeStore() {
	if b.store != "" {
		_ = os.RemoveAll(b.store)
	}
}

// firstSentence returns the start of a description.
func firstSentence(description string) string {
	line, _, _ := strings.Cut(description, "\n")
	sentence, _, _ := strings.Cut(line, ". ")
	return strings.TrimSuffix(sentence, ".")
}
