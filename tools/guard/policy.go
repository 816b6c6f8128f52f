package guard

import (
	"errors"
	"io/fs"

	"github.com/taukit/taukit/tools/workspace"
)

// A Policy decides what a change may expect of a file. The zero value is ready,
// and a nil *Policy lets everything happen. It is safe for concurrent use,
// decides by its store alone and does no I/O. For a decision to hold, it is asked
// while the change has its turn, and told of the result before that ends.
type Policy struct {
	// Store holds the observations.
	Store Store
	// TrustMissingReads takes a read that failed because there is no file for
	// an observation that the file is absent. An agent may then make a file
	// again that somebody else has removed, once it has tried to read it.
	TrustMissingReads bool
}

// WriteIntent returns what creating a file or replacing all of it expects: the
// version that was seen last, or that there is no file. It is also for an editor
// that creates files which do not exist.
func (p *Policy) WriteIntent(owner string, t workspace.Target) (workspace.Expect, error) {
	if p == nil {
		return workspace.Any(), nil
	}
	if o, ok := p.Store.Lookup(owner, t); ok && o.Present {
		return workspace.IfVersion(o.Version), nil
	}
	return workspace.IfAbsent(), nil
}

// EditIntent returns what a change of content that exists expects. It is
// [workspace.ErrNotObserved] for a file that was never seen, and
// [workspace.ErrNotFound] for one that is known to be absent.
func (p *Policy) EditIntent(owner string, t workspace.Target) (workspace.Expect, error) {
	return p.existing(workspace.OpEdit, owner, t)
}

// DeleteIntent returns what the removal of a file expects. The errors are those
// of EditIntent.
func (p *Policy) DeleteIntent(owner string, t workspace.Target) (workspace.Expect, error) {
	return p.existing(workspace.OpDelete, owner, t)
}

func (p *Policy) existing(op, owner string, t workspace.Target) (workspace.Expect, error) {
	if p == nil {
		return workspace.Any(), nil
	}
	o, ok := p.Store.Lookup(owner, t)
	switch {
	case !ok:
		return workspace.Expect{}, failure(op, t, workspace.ErrNotObserved)
	case !o.Present:
		return workspace.Expect{}, failure(op, t, workspace.ErrNotFound)
	default:
		return workspace.IfVersion(o.Version), nil
	}
}

// failure returns the error of what was tried on a target.
func failure(op string, t workspace.Target, kind *workspace.Error) error {
	return &workspace.Error{Code: kind.Code, Op: op, Path: t.Display, Reason: kind.Reason, Err: kind}
}

// Observed notes what a call that succeeded has seen or made.
func (p *Policy) Observed(owner string, t workspace.Target, o Observation) {
	if p != nil {
		p.Store.Record(owner, t, o)
	}
}

// Failed notes what a call that failed says of the file. A change that found an
// observed file missing makes the observation one that equals no version, not
// even if the same bytes come back. Other failures change nothing, but for what
// TrustMissingReads says.
func (p *Policy) Failed(owner string, t workspace.Target, err error) {
	if p == nil {
		return
	}
	var e *workspace.Error
	switch {
	case !errors.As(err, &e):
	case e.Code == workspace.ErrStaleVersion.Code && errors.Is(err, fs.ErrNotExist):
		if o, ok := p.Store.Lookup(owner, t); ok && o.Present {
			p.Store.Record(owner, t, Observation{Present: true})
		}
	case p.TrustMissingReads && e.Code == workspace.ErrNotFound.Code && e.Op == workspace.OpRead:
		p.Store.Record(owner, t, Observation{})
	}
}
