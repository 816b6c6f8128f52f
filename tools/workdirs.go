package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/discovery"
	"github.com/taukit/taukit/tools/workspace"
)

// opSetWorkdir words what is done to a directory that is to be worked in.
const opSetWorkdir = "set workdir to"

// A WorkdirStore remembers the working directories of agents when a session has
// ended. It must be safe for concurrent use.
type WorkdirStore interface {
	// Load returns the directory of an agent; false if none is remembered.
	Load(agent string) (dir string, ok bool, err error)
	Save(agent, dir string) error
}

// Workdirs are the working directories of the agents of a session, and what each
// agent has been told of its project. It is safe for concurrent use; agents are
// independent of each other. An empty name is that of [DefaultAgent]. The working
// directory of the process plays no part.
type Workdirs struct {
	workspace  *workspace.Workspace
	store      WorkdirStore // may be nil
	discoverer discovery.Discoverer
	scans      sync.WaitGroup
	ctx        context.Context // done when they are closed
	cancel     context.CancelCauseFunc

	mu     sync.Mutex
	closed bool // no scan begins any more
	agents map[string]*agent
}

// An agent is what is known of one agent. Its fields are guarded by Workdirs.mu,
// but for loaded. A scan ends before another one begins.
type agent struct {
	loaded chan struct{} // closed when dir is known, or err
	err    error

	dir      string
	setting  bool          // a setter is pending
	used     bool          // a call has waited for the first scan
	ready    chan struct{} // closed when snapshot is that of dir
	snapshot discovery.Snapshot
	user     *discovery.Scope // once it has been scanned
}

// NewWorkdirs returns Workdirs for agents that start in the directory of ws,
// unless store, which may be nil, remembers another. The discoverer may be nil:
// then there is nothing to be told of projects.
func NewWorkdirs(ws *workspace.Workspace, store WorkdirStore, discoverer discovery.Discoverer) *Workdirs {
	if discoverer == nil {
		discoverer = nothing{}
	}
	w := &Workdirs{workspace: ws, store: store, discoverer: discoverer, agents: map[string]*agent{}}
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	return w
}

// Dir returns the directory that an agent works in, which may have vanished. The
// first use of an agent begins to look at its project.
func (w *Workdirs) Dir(ctx context.Context, name string) (string, error) {
	a, err := w.agent(ctx, name)
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return a.dir, nil
}

// Set makes the directory at path, seen from the agent's own, that of the agent,
// and scans its project. The change is committed when the store has saved it; from
// then on there is no way back, whatever becomes of ctx and the scan. It returns
// the directory that was committed, "" if none was, and then the snapshot that is
// in force.
//
// The errors are those of [github.com/taukit/taukit/framing.Error], with the code
// of the file system, WORKDIR_PENDING, FS_IO if the store failed, and, with the
// directory committed, DISCOVERY_DEGRADED or that of ctx.
func (w *Workdirs) Set(ctx context.Context, name, path string) (dir string, snapshot discovery.Snapshot, err error) {
	a, err := w.agent(ctx, name)
	if err != nil {
		return "", discovery.Snapshot{}, err
	}
	if !w.begin(a) {
		return "", discovery.Snapshot{}, &framing.Error{
			Code:    framing.CodeWorkdirPending,
			Message: "another workdir change is already pending for this agent",
		}
	}
	defer w.end(a)
	if dir, err = w.commit(ctx, a, name, path); err != nil {
		return "", discovery.Snapshot{}, err
	}
	snapshot, _ = w.await(context.WithoutCancel(ctx), a) // a scan takes its time and no more
	return dir, snapshot, setError(ctx, dir, snapshot)
}

// begin lets one setter in at a time.
func (w *Workdirs) begin(a *agent) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.setting {
		return false
	}
	a.setting = true
	return true
}

func (w *Workdirs) end(a *agent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.setting = false
}

// commit stores the new directory and begins to scan. Until it is stored,
// everything is as it was.
func (w *Workdirs) commit(ctx context.Context, a *agent, name, path string) (string, error) {
	w.mu.Lock()
	from := a.dir
	w.mu.Unlock()
	dir, err := w.workspace.Directory(ctx, from, path)
	if err != nil {
		return "", fileError(ctx, opSetWorkdir, path, err)
	}
	// The first scan comes first, so that revisions count what was installed.
	if _, err := w.await(ctx, a); err != nil {
		return "", err
	}
	if err := w.save(name, dir); err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scan(a, dir)
	return dir, nil
}

func (w *Workdirs) save(name, dir string) error {
	if w.store == nil {
		return nil
	}
	err := w.store.Save(agentName(name), dir)
	if err == nil {
		return nil
	}
	reason, _ := escape.Field(err.Error())
	return &framing.Error{Code: framing.CodeIO, Message: "cannot remember workdir: " + reason, Cause: err}
}

// setError returns what a setter has to say beyond that it is done.
func setError(ctx context.Context, dir string, s discovery.Snapshot) error {
	shown := escape.Path(dir)
	e := &framing.Error{Fields: []framing.Header{{Key: "path", Value: shown}}}
	if s.Degraded {
		reason, _ := escape.Field(s.Reason)
		e.Code = framing.CodeDiscoveryDegraded
		e.Message = fmt.Sprintf("workdir changed to %s, but project discovery failed: %s; only user instructions are active", shown, reason)
		e.Fields = append(e.Fields, framing.Header{Key: "discovery", Value: "degraded"})
	}
	switch {
	case ctx.Err() != nil:
		cancelled := contextError(ctx, ctx.Err())
		cancelled.Fields = e.Fields
		return cancelled
	case s.Degraded:
		return e
	default:
		return nil
	}
}

// Spawn makes child a new agent that starts in the directory of parent.
func (w *Workdirs) Spawn(ctx context.Context, parent, child string) error {
	dir, err := w.Dir(ctx, parent)
	if err != nil {
		return err
	}
	a, first, err := w.enter(child)
	if err != nil {
		return err
	}
	if !first {
		return errors.New("tools: the agent to spawn is there already")
	}
	return w.open(a, child, func() (string, error) { return dir, w.save(child, dir) })
}

// Forget forgets an agent that is done: what it was told, and where it was, unless
// the store remembers. If it is used again it is a new one.
func (w *Workdirs) Forget(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.agents, agentName(name))
}

// Discovery returns what an agent was told last, with the Revision 0 if that is
// nothing yet.
func (w *Workdirs) Discovery(name string) discovery.Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.agents[agentName(name)]; a != nil {
		return a.snapshot
	}
	return discovery.Snapshot{}
}

// WaitReady returns the snapshot of the directory that an agent works in, and
// waits until it is there.
func (w *Workdirs) WaitReady(ctx context.Context, name string) (discovery.Snapshot, error) {
	a, err := w.agent(ctx, name)
	if err != nil {
		return discovery.Snapshot{}, err
	}
	return w.await(ctx, a)
}

// await waits until the snapshot of the last commit is installed.
func (w *Workdirs) await(ctx context.Context, a *agent) (discovery.Snapshot, error) {
	w.mu.Lock()
	ready := a.ready
	w.mu.Unlock()
	if err := wait(ctx, ready); err != nil {
		return discovery.Snapshot{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return a.snapshot, nil
}

// look returns the directory of an agent, the snapshot that was installed last,
// and whether it is that of the directory. For a scan it waits a little.
func (w *Workdirs) look(ctx context.Context, name string) (dir string, s discovery.Snapshot, ready bool, err error) {
	a, err := w.agent(ctx, name)
	if err != nil {
		return "", s, false, err
	}
	w.awaitBriefly(ctx, a)
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-a.ready:
		ready = true
	default:
	}
	return a.dir, a.snapshot, ready, nil
}

// Close ends running scans. Later uses fail.
func (w *Workdirs) Close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel(errClosed)
	w.scans.Wait()
	return nil
}

// agentName returns the name of an agent that may not have been named.
func agentName(name string) string { return cmp.Or(name, DefaultAgent) }

// agent returns an agent, whose directory is known then.
func (w *Workdirs) agent(ctx context.Context, name string) (*agent, error) {
	a, first, err := w.enter(name)
	if err != nil {
		return nil, err
	}
	if first {
		return a, w.open(a, name, func() (string, error) { return w.load(ctx, name) })
	}
	if err := wait(ctx, a.loaded); err != nil {
		return nil, err
	}
	return a, a.err
}

// enter returns an agent, which is to be opened if this is its first use.
func (w *Workdirs) enter(name string) (a *agent, first bool, err error) {
	name = agentName(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, false, &framing.Error{Code: framing.CodeCancelled, Message: errClosed.Error()}
	}
	if a := w.agents[name]; a != nil {
		return a, false, nil
	}
	a = &agent{loaded: make(chan struct{})}
	w.agents[name] = a
	return a, true, nil
}

// wait waits until done is closed. It fails if ctx ends first.
func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done: // even if ctx has ended too
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// open finds the directory of a new agent, and begins to scan. If it cannot, the
// next use of the agent tries again.
func (w *Workdirs) open(a *agent, name string, find func() (string, error)) error {
	defer close(a.loaded)
	dir, err := recovered("workdir", find)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		a.err = err
		delete(w.agents, agentName(name))
		return err
	}
	w.scan(a, dir)
	return nil
}

// load returns the directory that an agent starts in. One that is not there any
// more is remembered nevertheless: it is told, not guessed.
func (w *Workdirs) load(ctx context.Context, name string) (string, error) {
	if w.store == nil {
		return w.workspace.Dir(), nil
	}
	dir, ok, err := w.store.Load(agentName(name))
	switch {
	case err == nil && !ok:
		return w.workspace.Dir(), nil
	case err == nil && !filepath.IsAbs(dir):
		err = errors.New("the path is not absolute")
	}
	if err != nil {
		reason, _ := escape.Field(err.Error())
		return "", &framing.Error{Code: framing.CodeIO, Message: "cannot recall workdir: " + reason, Cause: err}
	}
	canonical, err := w.workspace.Directory(ctx, "", dir)
	switch {
	case err == nil:
		return canonical, nil
	case isEnd(ctx, err):
		return "", err
	default:
		return dir, nil
	}
}

// recovered calls do, which is the harness's own, with a panic turned into an
// error.
func recovered[T any](tool string, do func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(tool, v)
		}
	}()
	return do()
}

// state returns what is wrong with the directory that an agent works in, in the
// words of the tool workdir; "" is nothing.
func (w *Workdirs) state(ctx context.Context, dir string) string {
	_, err := w.workspace.Directory(ctx, "", dir)
	switch {
	case err == nil, isEnd(ctx, err):
		return ""
	case errors.Is(err, workspace.ErrNotFound):
		return "missing"
	case errors.Is(err, workspace.ErrNotDirectory):
		return "not-directory"
	default:
		return "inaccessible"
	}
}
