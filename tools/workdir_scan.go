package tools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/discovery"
	"github.com/taukit/taukit/tools/workspace"
)

// scanTimeout is how long a scan of a project may take.
const scanTimeout = 30 * time.Second

// scanPatience is how long a call waits for a scan: that takes milliseconds, and
// what it finds does not depend on what the call does then.
const scanPatience = 2 * time.Second

// awaitFirst waits for the scan that the first use of an agent has begun, but not
// for long.
func (w *Workdirs) awaitFirst(ctx context.Context, name string) {
	w.mu.Lock()
	a := w.agents[agentName(name)]
	first := a != nil && a.ready != nil && !a.used
	if first {
		a.used = true
	}
	w.mu.Unlock()
	if first {
		w.awaitBriefly(ctx, a)
	}
}

func (w *Workdirs) awaitBriefly(ctx context.Context, a *agent) {
	ctx, cancel := context.WithTimeout(ctx, scanPatience)
	defer cancel()
	_, _ = w.await(ctx, a)
}

// scan puts the agent in dir and looks at the project there, on a time of its
// own. It needs w.mu.
func (w *Workdirs) scan(a *agent, dir string) {
	ready := make(chan struct{})
	a.dir, a.ready = dir, ready
	if w.closed {
		close(ready)
		return
	}
	user, revision := a.user, a.snapshot.Revision+1
	w.scans.Go(func() {
		defer close(ready)
		found := w.discover(user, dir, revision)
		w.mu.Lock()
		defer w.mu.Unlock()
		a.snapshot, a.user = found.snapshot, found.user
	})
}

// A found is what a scan has found.
type found struct {
	user     *discovery.Scope // nil if it could not be scanned: the next scan tries again
	snapshot discovery.Snapshot
}

// discover scans a project, and the user's own if that is not known yet. It ends
// in time: a scan that does not, as on a file system that does not answer, is left
// behind.
func (w *Workdirs) discover(user *discovery.Scope, dir string, revision uint64) found {
	ctx, cancel := context.WithTimeout(w.ctx, scanTimeout)
	defer cancel()
	scanned := make(chan found, 1)
	go func() {
		var f found
		var own discovery.Scope
		f.user, own = w.userScope(ctx, user)
		project, err := recovered("workdir", func() (discovery.Scope, error) { return w.discoverer.Project(ctx, dir) })
		if err != nil {
			f.snapshot = discovery.Degrade(revision, dir, own, scanFault(ctx, err))
		} else {
			f.snapshot = discovery.Join(revision, dir, own, project)
		}
		scanned <- f
	}()
	select {
	case f := <-scanned:
		return f
	case <-ctx.Done():
	}
	own := discovery.Scope{}
	if user != nil {
		own = *user
	}
	return found{user, discovery.Degrade(revision, dir, own, scanFault(ctx, ctx.Err()))}
}

// userScope returns what belongs to the user, which is scanned once for an agent.
// If it cannot be, that is told.
func (w *Workdirs) userScope(ctx context.Context, known *discovery.Scope) (*discovery.Scope, discovery.Scope) {
	if known != nil {
		return known, *known
	}
	user, err := recovered("workdir", func() (discovery.Scope, error) { return w.discoverer.User(ctx) })
	if err != nil {
		return nil, discovery.NewScope(nil, nil, []discovery.Diagnostic{{Code: framing.CodeIO, Reason: scanFault(ctx, err)}})
	}
	return &user, user
}

// scanFault words why a scan failed.
func scanFault(ctx context.Context, err error) string {
	var e *workspace.Error
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("timed out after %d s", scanTimeout/time.Second)
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	case errors.As(err, &e):
		return e.Reason
	default:
		return err.Error()
	}
}

// nothing discovers nothing.
type nothing struct{}

func (nothing) User(context.Context) (discovery.Scope, error) { return discovery.Scope{}, nil }
func (nothing) Project(context.Context, string) (discovery.Scope, error) {
	return discovery.Scope{}, nil
}
