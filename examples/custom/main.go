// Custom is a tool set of one's own, made of single packages: reading, searching
// and guarded editing as they come, a tool of its own for tests, and a
// permission question in front of all that may change something.
//
//	go run ./examples/custom [-C DIR] [-allow] TOOL JSON
//
// What runs the code of the project asks, too: tests can do anything.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

func main() { os.Exit(run()) }

// run makes one call and returns the status of the process.
func run() int {
	dir := flag.String("C", ".", "the directory to work in")
	allow := flag.Bool("allow", false, "answer yes when a tool asks to change something")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "want the name of a tool (read, grep, edit, go_test) and its arguments in JSON")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	handler, err := newHandler(*dir, func(string) bool { return *allow })
	if err != nil {
		fmt.Fprintln(os.Stderr, escape.TerminalLine(err.Error()))
		return 2
	}
	out := handler(ctx, tools.Call{Agent: "main", Tool: flag.Arg(0), Arguments: []byte(flag.Arg(1))})
	fmt.Println(escape.TerminalText(out.Text))
	if out.Error != nil {
		return 1
	}
	return 0
}

// newHandler returns what runs the calls of a model in dir. Question is asked
// before a tool may change anything.
func newHandler(dir string, question func(tool string) bool) (tools.Handler, error) {
	ws, err := workspace.New(dir)
	if err != nil {
		return nil, err
	}
	env := tools.Env{Workspace: ws, Guard: new(guard.Policy)}
	set, err := tools.NewSet(
		tools.NewRead(env),
		tools.NewGrep(env),
		tools.NewEdit(env),
		newGoTest(dir),
	)
	if err != nil {
		return nil, err
	}
	return permitted(set, question), nil
}

// permitted puts a question in front of the tools of a set that change
// something.
func permitted(set *tools.Set, question func(tool string) bool) tools.Handler {
	changes := map[string]bool{}
	for _, d := range set.Definitions() {
		changes[d.Name] = !d.ReadOnly
	}
	return func(ctx context.Context, call tools.Call) tools.Outcome {
		if changes[call.Tool] && !question(call.Tool) {
			denied := &framing.Error{Code: "DENIED", Message: "the user said no"}
			return tools.Fail(ctx, denied, tools.Display{})
		}
		return set.Call(ctx, call)
	}
}
