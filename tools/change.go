package tools

import (
	"context"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/tools/diff"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

// A change is what one call does to one file.
type change struct {
	op     string // as messages word it
	path   string // as the call gave it
	intent func(*guard.Policy, string, workspace.Target) (workspace.Expect, error)
	// apply returns the new content of the file.
	apply func(ctx context.Context, c *workspace.Change) ([]byte, error)
}

// A changed is what became of a file.
type changed struct {
	workspace.Outcome
	after []byte
}

// do makes the change. The policy and the file system refuse on one road, and
// what happened is observed before the turn of the change ends.
func (e Env) do(ctx context.Context, call Call, ch change) (changed, error) {
	c, err := e.Workspace.Change(ctx, ch.op, call.Dir, ch.path)
	if err != nil {
		return changed{}, err
	}
	defer c.Close()
	done, err := e.attempt(ctx, call, c, ch)
	if err != nil {
		e.Guard.Failed(call.Agent, c.Target(), err)
		return changed{}, err
	}
	if e.Guard != nil {
		seen := guard.Observation{Present: true, Version: workspace.VersionOf(done.after)}
		e.Guard.Observed(call.Agent, c.Target(), seen)
	}
	return done, nil
}

func (e Env) attempt(ctx context.Context, call Call, c *workspace.Change, ch change) (changed, error) {
	expect, err := ch.intent(e.Guard, call.Agent, c.Target())
	if err != nil {
		return changed{}, err
	}
	if err := c.Require(ctx, expect); err != nil {
		return changed{}, err
	}
	after, err := ch.apply(ctx, c)
	if err != nil {
		return changed{}, err
	}
	outcome, err := c.Commit(ctx, after)
	return changed{outcome, after}, err
}

// show completes the display of a call with what became of its file.
func (ch changed) show(d Display, path string) Display {
	if !ch.Changed {
		return d
	}
	status := "M"
	if ch.Created {
		status = "A"
	}
	d.Changes = []Change{{status, escape.Path(path)}}
	if ch.Before == nil && !ch.Created { // too large to compare
		return d
	}
	payload := diff.For(ch.Before, ch.after)
	switch {
	case payload.Diff == nil:
		d.Diffs = payload
	case payload.Diff.Added+payload.Diff.Removed > 0: // an empty file has nothing to show
		d.Diffs = payload
		d.Figures = " " + payload.Diff.Chip()
	}
	return d
}
