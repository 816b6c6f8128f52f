package tools

import (
	"context"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/tools/diff"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

// A mutation is what one call does to one file.
type mutation struct {
	op     string // as messages word it
	path   string // as the call gave it
	intent func(*guard.Policy, string, workspace.Target) (workspace.Expect, error)
	// apply returns the new content of the file.
	apply func(ctx context.Context, c *workspace.Change) ([]byte, error)
}

// A mutated is a file after its mutation.
type mutated struct {
	workspace.Outcome
	after []byte
}

// mutate makes the change. The policy and the file system refuse on one road, and
// what happened is observed before the turn of the change ends.
func (e Env) mutate(ctx context.Context, call Call, m mutation) (mutated, error) {
	c, err := e.Workspace.Change(ctx, m.op, call.Dir, m.path)
	if err != nil {
		return mutated{}, err
	}
	defer c.Close()
	done, err := e.judgeAndCommit(ctx, call, c, m)
	if err != nil {
		e.Guard.Failed(call.Agent, c.Target(), err)
		return mutated{}, err
	}
	if e.Guard != nil {
		seen := guard.Observation{Present: true, Version: workspace.VersionOf(done.after)}
		e.Guard.Observed(call.Agent, c.Target(), seen)
	}
	return done, nil
}

func (e Env) judgeAndCommit(ctx context.Context, call Call, c *workspace.Change, m mutation) (mutated, error) {
	expect, err := m.intent(e.Guard, call.Agent, c.Target())
	if err != nil {
		return mutated{}, err
	}
	if err := c.Require(ctx, expect); err != nil {
		return mutated{}, err
	}
	after, err := m.apply(ctx, c)
	if err != nil {
		return mutated{}, err
	}
	// Once more before directories are made, of which the commit asks nobody.
	if err := call.holds(ctx); err != nil {
		return mutated{}, err
	}
	outcome, err := c.Commit(ctx, after, call.check)
	return mutated{outcome, after}, err
}

// display completes the display of a call with what became of its file.
func (m mutated) display(ctx context.Context, d Display, path string) Display {
	if !m.Changed {
		return d
	}
	status := "M"
	if m.Created {
		status = "A"
	}
	d.Changes = []Change{{status, escape.Path(path)}}
	if m.Before == nil && !m.Created || ctx.Err() != nil { // too large to compare, or nobody waits
		return d
	}
	payload := diff.For(m.Before, m.after)
	switch {
	case payload.Diff == nil:
		d.Diffs = payload
	case payload.Diff.Added+payload.Diff.Removed > 0: // an empty file has nothing to show
		d.Diffs = payload
		d.Figures = " " + payload.Diff.Chip()
	}
	return d
}
