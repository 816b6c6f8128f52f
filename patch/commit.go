package patch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// A Result is what a patch has done.
type Result struct {
	Changes []Change // the net effect, in the order in which the patch mentions the files first
	Notes   []Note   // what is doubtful about the places of hunks, in the order of the patch; of a failed Commit, nothing
}

// Commit applies the plan. It prepares every file, checks that all that the plan
// is based on is still true, and then publishes: first new files, then those
// that are changed, then moves, then deletions. So a failure leaves no content
// gone that should have another name, unless files exchange theirs.
//
// The error is an [*Error], that of Options.Check, or that of ctx, which is
// honoured until the first file is published. Up to then nothing has changed, and
// directories that were made for files are removed again. After that, what was
// published stays. In any case the result is the difference that was made.
func (p *Plan) Commit(ctx context.Context) (Result, error) {
	c := commit{Plan: p, parents: map[string]bool{}, touched: map[string]bool{}}
	err := c.run(ctx)
	c.finish(context.WithoutCancel(ctx), err)
	if err != nil {
		return Result{Changes: p.changes(reached)}, err
	}
	return Result{p.changes(reached), p.notes}, nil
}

// A commit is the state of applying a plan.
type commit struct {
	*Plan
	steps   []*step
	parents map[string]bool // directories that exist
	made    []string        // directories that the commit made, parents first
	touched map[string]bool // directories that have changed
}

// A step is what is done for one effect.
type step struct {
	effect
	after  int    // of steps of one rank, those with less come first
	staged Staged // nil if no content is written
}

// run takes all steps.
func (c *commit) run(ctx context.Context) error {
	c.prepare()
	if n, err := c.checkNames(); err != nil {
		return c.failedAt(ctx, n, err)
	}
	for _, do := range []func(context.Context, *step) error{c.stage, c.sync, c.verify} {
		for _, s := range c.steps {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(ctx, s); err != nil {
				return c.failedAt(ctx, s.node, err)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	for _, s := range c.steps {
		if err := c.publish(ctx, s); err != nil {
			return c.failedAt(ctx, s.node, err)
		}
	}
	return nil
}

// failedAt is failed for what could not be done at a node.
func (c *commit) failedAt(ctx context.Context, n *node, err error) error {
	err = c.failed(ctx, n.section, err)
	var e *Error
	if errors.As(err, &e) && e.Key == "" && e.Path == n.section.Path {
		keyed := *e
		keyed.Key = n.key
		return &keyed
	}
	return err
}

// prepare finds the steps and puts them in order.
func (c *commit) prepare() {
	takers := map[*node]*node{} // by node: where its content on disk goes
	for _, n := range c.order {
		if n.now != nil && n.now.origin != n {
			takers[n.now.origin] = n
		}
	}
	for _, e := range c.effects(planned) {
		c.steps = append(c.steps, &step{effect: e, after: countTakers(e.node, takers)})
	}
	slices.SortStableFunc(c.steps, func(a, b *step) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.after, b.after))
	})
}

// checkNames refuses a patch that changes a file under two of its names: after
// the first change, the other name would have another file than the plan has
// seen.
func (c *commit) checkNames() (*node, error) {
	first := map[any]*node{}
	for _, s := range c.steps {
		for _, n := range []*node{s.node, s.from} {
			if n == nil || n.disk == nil || n.disk.File == nil || n.disk.Mode.Type() != 0 {
				continue
			}
			other := first[n.disk.File]
			first[n.disk.File] = n
			if other == nil || other == n || n.deletes() && other.deletes() {
				continue
			}
			return s.node, errTwoNames
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

// deletes reports whether the node is a file that is deleted, whose content shows
// whether it is still the same.
func (n *node) deletes() bool { return n.now == nil && n.disk.Data != nil }

// countTakers returns how many nodes must be written before n, so that content
// is kept: the one that gets what is at n now, the one that gets what is there,
// and so on. Names that are exchanged have no such order.
func countTakers(n *node, takers map[*node]*node) int {
	count := 0
	for taker := takers[n]; taker != nil && taker != n; taker = takers[taker] {
		count++
	}
	return count
}

// rank returns when a step is taken: creations, modifications, moves, deletions.
func (e effect) rank() int {
	switch {
	case e.status == 'A':
		return 0
	case e.status == 'M' && e.from == nil:
		return 1
	case e.status == 'M':
		return 2
	default:
		return 3
	}
}

// stage prepares the content of a step, and the directory it needs.
func (c *commit) stage(ctx context.Context, s *step) error {
	n := s.node
	if n.now == nil {
		return nil
	}
	if err := c.makeDir(ctx, path.Dir(n.key)); err != nil {
		return err
	}
	if n.now.data == nil {
		return nil
	}
	w := Write{Key: n.key, Data: n.now.data, Old: n.disk, NewFile: n.now.origin != n}
	if n.now.origin != nil {
		w.Like = n.now.origin.disk
		w.Writable = !bytes.Equal(w.Like.Data, w.Data) // hunks have changed it
	} else if n.disk != nil && n.disk.Mode.IsRegular() {
		w.Like = n.disk
	}
	staged, err := c.fs.Stage(ctx, w)
	if err != nil {
		return err
	}
	s.staged = staged
	return nil
}

// sync puts the content of a step on disk.
func (c *commit) sync(ctx context.Context, s *step) error {
	if s.staged == nil {
		return nil
	}
	return s.staged.Sync(ctx)
}

// makeDir makes a directory with its parents, if it is missing.
func (c *commit) makeDir(ctx context.Context, key string) error {
	if c.parents[key] || path.Dir(key) == key {
		return nil
	}
	_, err := c.fs.Stat(ctx, key)
	if hasCode(err, CodeNotFound) {
		if err := c.makeDir(ctx, path.Dir(key)); err != nil {
			return err
		}
		if err := c.check(ctx); err != nil {
			return err
		}
		if err = c.fs.Mkdir(ctx, key); err == nil {
			c.made = append(c.made, key)
			c.touched[path.Dir(key)] = true
		} else if hasCode(err, CodeExists) {
			err = nil // somebody else has made it
		}
	}
	c.parents[key] = err == nil
	return err
}

// verify checks that the names of a step are as they were.
func (c *commit) verify(ctx context.Context, s *step) error {
	if err := c.unchanged(ctx, s.node); err != nil || s.from == nil {
		return err
	}
	return c.unchanged(ctx, s.from)
}

// unchanged checks that what is at n is what was there. A file with the same
// data as before will do.
func (c *commit) unchanged(ctx context.Context, n *node) error {
	found, err := c.fs.Stat(ctx, n.key)
	missing := hasCode(err, CodeNotFound)
	switch {
	case err != nil && !missing:
		return err
	case n.disk == nil && missing:
		return nil
	case n.disk == nil:
		return fs.ErrExist
	case !missing && found.Stamp == n.disk.Stamp:
		return nil
	case missing:
		return errGone
	case n.disk.Data == nil || !found.Mode.IsRegular():
		return ErrStale
	}
	found, err = c.fs.Read(ctx, n.key, len(n.disk.Data))
	code := ""
	if err != nil {
		code, _ = explain(err)
	}
	switch {
	case code == CodeNotFound:
		return errGone
	case slices.Contains([]string{CodeTooLarge, CodeNotRegular, CodeIsDirectory, CodeNotDirectory}, code):
		return ErrStale
	case err == nil && !bytes.Equal(found.Data, n.disk.Data):
		return ErrStale
	default:
		return err
	}
}

// publish takes a step.
func (c *commit) publish(ctx context.Context, s *step) error {
	if s.staged != nil {
		err := c.act(ctx, func() error { return s.staged.Publish(ctx) }, s.node)
		if err != nil || s.from == nil {
			return err
		}
		return c.act(ctx, func() error { return c.fs.Remove(ctx, *s.from.disk) }, s.from)
	}
	if s.from != nil {
		return c.act(ctx, func() error { return c.fs.Rename(ctx, *s.from.disk, s.node.key) }, s.node, s.from)
	}
	return c.act(ctx, func() error { return c.fs.Remove(ctx, *s.node.disk) }, s.node)
}

// act does something that others can see, and notes at which nodes it is done.
func (c *commit) act(ctx context.Context, do func() error, nodes ...*node) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	err := do()
	if err != nil && !hasCode(err, CodeDamaged) {
		return err
	}
	for _, n := range nodes {
		n.done = true
		c.touched[path.Dir(n.key)] = true
		if err != nil {
			n.now = &version{origin: n, lost: true}
		}
	}
	return err
}

// check asks the hook whether to go on.
func (c *commit) check(ctx context.Context) error {
	if c.opts.Check == nil {
		return nil
	}
	if err := c.opts.Check(ctx); err != nil {
		return refusal{err}
	}
	return nil
}

// finish makes durable what was done, and removes what a failure has left.
func (c *commit) finish(ctx context.Context, err error) {
	if err != nil {
		for _, s := range c.steps {
			if s.staged != nil {
				s.staged.Discard()
			}
		}
		for _, dir := range slices.Backward(c.made) {
			_ = c.fs.Rmdir(ctx, dir) // it stays if it holds a file
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(c.touched)) {
		c.fs.SyncDir(ctx, dir)
	}
}
