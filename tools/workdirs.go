package tools

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/discovery"
	"github.com/taukit/taukit/tools/workspace"
)

// scanTimeout is how long a scan of a project may take.
const scanTimeout = 30 * time.Second

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
// independent of each other. The working directory of the process plays no part.
type Workdirs struct {
	workspace  *workspace.Workspace
	store      WorkdirStore // may be nil
	discoverer discovery.Discoverer
	scans      sync.WaitGroup

	mu     sync.Mutex
	agents map[string]*agent
}

// An agent is what is known of one agent. Its fields are guarded by Workdirs.mu,
// but for loaded.
type agent struct {
	loaded chan struct{} // closed when dir is known, or err
	err    error

	dir      string
	setting  bool          // a setter is pending
	commits  int           // of dir; a scan that an earlier one began is out of date
	ready    chan struct{} // closed when snapshot is that of the last commit
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
	return &Workdirs{workspace: ws, store: store, discoverer: discoverer, agents: map[string]*agent{}}
}

// nothing discovers nothing.
type nothing struct{}

func (nothing) User(context.Context) (discovery.Scope, error) { return discovery.Scope{}, nil }
func (nothing) Project(context.Context, string) (discovery.Scope, error) {
	return discovery.Scope{}, nil
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
	snapshot, _ = w.await(context.WithoutCancel(ctx), a)
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
	err := w.store.Save(name, dir)
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
	w.mu.Lock()
	if w.agents[child] != nil {
		w.mu.Unlock()
		return errors.New("tools: the agent to spawn is there already")
	}
	a := &agent{loaded: make(chan struct{})}
	w.agents[child] = a
	w.mu.Unlock()
	return w.open(a, child, func() (string, error) { return dir, w.save(child, dir) })
}

// Discovery returns what an agent was told last, with the Revision 0 if that is
// nothing yet.
func (w *Workdirs) Discovery(name string) discovery.Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.agents[name]; a != nil {
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
	for {
		w.mu.Lock()
		ready := a.ready
		w.mu.Unlock()
		if err := wait(ctx, ready); err != nil {
			return discovery.Snapshot{}, err
		}
		w.mu.Lock()
		current, snapshot := a.ready == ready, a.snapshot
		w.mu.Unlock()
		if current { // or there was another commit meanwhile
			return snapshot, nil
		}
	}
}

// look returns the directory of an agent, the snapshot that was installed last,
// and whether it is that of the directory.
func (w *Workdirs) look(ctx context.Context, name string) (dir string, s discovery.Snapshot, ready bool, err error) {
	a, err := w.agent(ctx, name)
	if err != nil {
		return "", s, false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-a.ready:
		ready = true
	default:
	}
	return a.dir, a.snapshot, ready, nil
}

// Close waits for running scans.
func (w *Workdirs) Close() error {
	w.scans.Wait()
	return nil
}

// agent returns an agent, whose directory is known then.
func (w *Workdirs) agent(ctx context.Context, name string) (*agent, error) {
	w.mu.Lock()
	a := w.agents[name]
	first := a == nil
	if first {
		a = &agent{loaded: make(chan struct{})}
		w.agents[name] = a
	}
	w.mu.Unlock()
	if first {
		return a, w.open(a, name, func() (string, error) { return w.load(name) })
	}
	if err := wait(ctx, a.loaded); err != nil {
		return nil, err
	}
	return a, a.err
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
	dir, err := find()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		a.err = err
		delete(w.agents, name)
		return err
	}
	w.scan(a, dir)
	return nil
}

func (w *Workdirs) load(name string) (string, error) {
	if w.store == nil {
		return w.workspace.Dir(), nil
	}
	dir, ok, err := w.store.Load(name)
	if err != nil {
		reason, _ := escape.Field(err.Error())
		return "", &framing.Error{Code: framing.CodeIO, Message: "cannot recall workdir: " + reason, Cause: err}
	}
	if !ok {
		return w.workspace.Dir(), nil
	}
	return dir, nil
}

// scan puts the agent in dir and looks at the project there, on a time of its
// own. It needs w.mu.
func (w *Workdirs) scan(a *agent, dir string) {
	a.dir = dir
	a.commits++
	commit := a.commits
	a.ready = make(chan struct{})
	w.scans.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), scanTimeout)
		defer cancel()
		user := w.userScope(ctx, a)
		project, err := w.discoverer.Project(ctx, dir)
		w.mu.Lock()
		defer w.mu.Unlock()
		if a.commits != commit {
			return
		}
		if next := a.snapshot.Revision + 1; err != nil {
			a.snapshot = discovery.Degrade(next, dir, user, scanFault(ctx, err))
		} else {
			a.snapshot = discovery.Join(next, dir, user, project)
		}
		close(a.ready)
	})
}

// scanFault words why a scan failed.
func scanFault(ctx context.Context, err error) string {
	var e *workspace.Error
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("timed out after %d s", scanTimeout/time.Second)
	case errors.As(err, &e):
		return e.Reason
	default:
		return err.Error()
	}
}

// userScope returns what belongs to the user, which is scanned once for an agent.
// If it cannot be, that is told, and the next scan tries again.
func (w *Workdirs) userScope(ctx context.Context, a *agent) discovery.Scope {
	w.mu.Lock()
	known := a.user
	w.mu.Unlock()
	if known != nil {
		return *known
	}
	user, err := w.discoverer.User(ctx)
	if err != nil {
		return discovery.NewScope(nil, nil, []discovery.Diagnostic{{Code: framing.CodeIO, Reason: scanFault(ctx, err)}})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a.user = &user
	return user
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
