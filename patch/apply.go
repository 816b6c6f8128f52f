package patch

import "context"

// Apply applies a patch to the files of fsys. In the Atomic mode that is
// [NewPlan] and [Plan.Commit]. In the Sequential mode each section is planned
// and committed before the next one is looked at, the first failure ends the
// call, and what the sections before it did stays. Of a file that is moved without
// change and is over [MaxFileBytes], or cannot be read, a change of its old name or
// its new one may have no data, and may be reported though the bytes are the same
// again.
//
// The result is the difference that was made, with or without an error. The
// error is one of those that NewPlan and Commit have.
func Apply(ctx context.Context, fsys FS, p *Patch, opts Options) (Result, error) {
	if opts.Mode == Sequential {
		return applySequential(ctx, fsys, p, opts)
	}
	plan, err := NewPlan(ctx, fsys, p, opts)
	if err != nil {
		return Result{}, err
	}
	return plan.Commit(ctx)
}

func applySequential(ctx context.Context, fsys FS, p *Patch, opts Options) (Result, error) {
	var net overlay
	var notes []Note
	for i := range p.Sections {
		plan := newPlan(fsys, opts)
		plan.earlier = history{&net}
		err := plan.section(ctx, &p.Sections[i])
		if err == nil {
			if len(p.Sections) > 1 {
				plan.rememberMoved(ctx)
			}
			_, err = plan.Commit(ctx)
			net.follow(&plan.overlay)
		}
		if err != nil {
			return Result{net.changes(planned), notes}, err
		}
		notes = append(notes, plan.notes...)
	}
	return Result{net.changes(planned), notes}, nil
}

// rememberMoved reads the files that are moved without change, as far as that is
// possible: other sections may change them, and the result then tells how.
func (p *Plan) rememberMoved(ctx context.Context) {
	for _, moved := range p.order {
		n := view(planned).source(moved)
		if n == nil || n.disk.Data != nil || !n.disk.Mode.IsRegular() || n.disk.Size > MaxFileBytes {
			continue
		}
		if s, err := p.fs.Read(ctx, n.key, MaxFileBytes); err == nil && s.Stamp == n.disk.Stamp {
			n.disk.Data = s.Data
		}
	}
}

// follow makes the changes that another overlay, which starts where o ends, has
// reached.
func (o *overlay) follow(next *overlay) {
	before := map[*node]*version{} // by node of next: what o had
	for _, n := range next.order {
		before[n] = o.node(n.key, n.path, n.disk).now
	}
	for _, n := range next.order {
		if v := reached(n); v != n.was {
			o.set(o.nodes[n.key], v.after(n, before), n.section)
		}
	}
}

// after returns the version that v, of a node of one overlay, is in another one
// that has had the given versions before.
func (v *version) after(n *node, before map[*node]*version) *version {
	switch {
	case v == nil:
		return nil
	case v.origin == nil || before[v.origin] == nil || v.origin != n && reached(v.origin) != nil:
		return &version{data: v.content()}
	case v.lost:
		return &version{origin: before[n].origin, lost: true}
	case v.edited():
		return before[v.origin].edit(v.data)
	default:
		return before[v.origin]
	}
}
