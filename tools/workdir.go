package tools

import (
	"context"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/args"
)

const workdirDescription = `Read or set the directory that relative paths start at. Leave path out to read it. A relative path starts at the directory that was set last. The new directory must exist; it is made canonical and remembered for later calls, and the instructions and skills of its project take the place of the former ones.
Do not put calls that depend on a change into the same batch. For the directory of one command, use cwd of shell or workdir of shell_command.`

// The modes of workdir in a display.
const (
	modeGet = "get"
	modeSet = "set"
)

type workdirTool struct{ dirs *Workdirs }

// NewWorkdir returns the tool workdir, which asks for and sets the directory that
// the calling agent works in.
func NewWorkdir(env Env) Tool {
	t := &workdirTool{env.Workdirs}
	return NewTool(Definition{
		Name:        "workdir",
		Description: workdirDescription,
		Tags:        []string{"shell:workdir"},
		ReadOnly:    true,
		Idempotent:  true,
	}, workdirDisplay, t.call)
}

func workdirDisplay(a args.Workdir) Display {
	if a.Path == nil {
		return Display{Mode: modeGet}
	}
	return Display{Args: escape.Path(string(*a.Path)), Mode: modeSet}
}

func (t *workdirTool) call(ctx context.Context, call Call, a args.Workdir, d Display) Outcome {
	if a.Path == nil {
		return t.get(ctx, call, d)
	}
	dir, _, err := t.dirs.Set(ctx, call.Agent, string(*a.Path))
	if err != nil {
		return Fail(ctx, err, d)
	}
	return Succeed(framing.Result{Body: "Workdir changed to " + escape.Path(dir) + "."}, d)
}

// get tells where the agent is, and what is wrong there.
func (t *workdirTool) get(ctx context.Context, call Call, d Display) Outcome {
	dir, snapshot, ready, err := t.dirs.look(ctx, call.Agent)
	if err != nil {
		return Fail(ctx, err, d)
	}
	var r framing.Result
	r.Add("path", escape.Path(dir))
	d.Args = escape.Path(dir)
	if state := t.dirs.state(ctx, dir); state != "" {
		r.Add("status", state)
		d.Args += " (" + state + ")"
	}
	switch {
	case !ready:
		r.Add("discovery", "pending")
	case snapshot.Degraded:
		r.Add("discovery", "degraded")
	}
	return Succeed(r, d)
}
