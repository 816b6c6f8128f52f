package main

import (
	"context"
	"errors"
	"io"

	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/args"
)

// errToolFailed says that a call was made and failed; its text is printed.
var errToolFailed = errors.New("the tool failed")

// call makes one call and prints what came of it.
func call(ctx context.Context, c console, dir string, opts options, argv []string) error {
	// The spool is not closed: what is printed may name a saved output, which
	// is to be read afterwards. A later run removes it as the remains of a dead
	// process, when it is 15 minutes old.
	session, own, err := open(c, dir, opts, func(cfg *tools.Config) {
		cfg.Listener = tools.ListenerFunc(func(e tools.Event) {
			if e.Phase == tools.PhaseWaiting {
				printWaiting(c.err, e)
			}
		})
		if isTerminal(c.err) {
			cfg.Shell.Live = live(c.err)
		}
	})
	if err != nil {
		return err
	}
	defer own.removeStore()
	defer session.Close() //nolint:errcheck // the process is about to end

	name := argv[0]
	if err := checkName(session, name); err != nil {
		return err
	}
	arguments, err := argumentText(ctx, c, argv[1:])
	if err != nil {
		return err
	}
	out := session.Call(ctx, tools.Call{ID: "1", Agent: opts.Agent, Tool: name, Arguments: arguments})
	if err := printText(c.out, out.Text); err != nil {
		return err
	}
	printDisplay(c.err, name, out.Display)
	if out.Error != nil {
		return errToolFailed
	}
	return nil
}

// checkName refuses the name of a tool that is not there, with a suggestion.
func checkName(session *tools.Session, name string) error {
	var names []string
	for _, d := range session.Definitions() {
		if d.Name == name {
			return nil
		}
		names = append(names, d.Name)
	}
	return usageError{"unknown tool: " + name + didYouMean(name, names)}
}

// argumentText returns the arguments from the command line or from standard
// input; none are an empty object.
func argumentText(ctx context.Context, c console, argv []string) ([]byte, error) {
	switch {
	case len(argv) == 0:
		return []byte("{}"), nil
	case argv[0] != "-":
		return []byte(argv[0]), nil
	}
	type input struct {
		text []byte
		err  error
	}
	read := make(chan input, 1)
	go func() { // left behind when ctx ends: nothing can interrupt a read
		text, err := io.ReadAll(io.LimitReader(c.in, args.MaxBytes+1)) // one byte too many is refused by the tool
		read <- input{text, err}
	}()
	select {
	case in := <-read:
		return in.text, in.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
