//go:build linux || darwin

package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools"
)

// A yard is a session with locking, and a tree to work in.
type yard struct {
	*tools.Session
	root    string
	waiting chan tools.Event // each time that a call waits
}

// newYard returns a session on a backend, by default one of its own.
func newYard(t *testing.T, backend dirlock.Backend, change func(*tools.Config)) *yard {
	t.Helper()
	ws := newWorkspace(t, map[string]string{"a/f.txt": "one\n", "a/child/c.txt": "c\n", "b/g.txt": "two\n"})
	if backend == nil {
		backend = dirlock.NewMemory()
	}
	y := &yard{root: ws.Dir(), waiting: make(chan tools.Event, 10)}
	cfg := tools.Config{
		Workspace: ws, Locks: backend, ExposeAll: true, Discoverer: tools.NoDiscovery(),
		Listener: tools.ListenerFunc(func(e tools.Event) {
			if e.Phase == tools.PhaseWaiting {
				y.waiting <- e
			}
		}),
	}
	if change != nil {
		change(&cfg)
	}
	y.Session, _ = openSession(t, cfg)
	return y
}

func (y *yard) call(ctx context.Context, t *testing.T, agent, tool string, arguments any) tools.Outcome {
	t.Helper()
	out := y.Call(ctx, tools.Call{Agent: agent, Tool: tool, Arguments: encode(t, arguments)})
	require.NoError(t, framing.Validate(out.Result))
	require.Equal(t, out.Result.Render(), out.Text)
	return out
}

func (y *yard) lock(t *testing.T, agent, command, dir string) tools.Outcome {
	t.Helper()
	return y.call(t.Context(), t, agent, "dir_lock", map[string]any{"command": command, "directory": dir})
}

func (y *yard) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(y.root, name))
	require.NoError(t, err)
	return string(text)
}

func replacing(path, from, to string) map[string]any {
	return map[string]any{"path": path, "edits": []map[string]string{{"oldText": from, "newText": to}}}
}

// async starts a call that is expected to wait, and returns what it will give.
func (y *yard) async(t *testing.T, agent, tool string, arguments any) (<-chan tools.Outcome, tools.Event) {
	t.Helper()
	done := make(chan tools.Outcome, 1)
	go func() { done <- y.call(t.Context(), t, agent, tool, arguments) }()
	select {
	case e := <-y.waiting:
		return done, e
	case out := <-done:
		t.Fatal("it did not wait: ", out.Text)
		return nil, tools.Event{}
	}
}

func TestWaitingIsShown(t *testing.T) {
	y := newYard(t, nil, nil)
	require.Equal(t, "canonical_directory: "+y.root+"/a\nlocked: true", y.lock(t, "A", "update", "a").Text)
	done, e := y.async(t, "B", "edit", replacing("a/f.txt", "one", "ONE"))
	require.Equal(t, "waiting for directory lock: "+y.root+"/a", e.Display.Waiting)
	require.Equal(t, []string{"a/f.txt", "waiting"}, []string{e.Display.Args, e.Display.Status})
	require.Equal(t, "one\n", y.read(t, "a/f.txt"))
	require.Equal(t, "locked: false", y.lock(t, "A", "unlock", y.root+"/a").Text)
	require.Nil(t, (<-done).Error)
	require.Equal(t, "ONE\n", y.read(t, "a/f.txt"))
}

func TestEveryToolThatChangesFilesLocks(t *testing.T) {
	patchOf := func(section string) string { return "*** Begin Patch\n" + section + "\n*** End Patch" }
	for name, c := range map[string]struct {
		tool      string
		arguments any
	}{
		"edit":               {"edit", replacing("a/f.txt", "one", "1")},
		"write":              {"write", map[string]any{"path": "a/child/../new/x", "content": "x"}},
		"patch that adds":    {"apply_patch", patchOf("*** Add File: a/n/m.txt\n+x")},
		"patch that updates": {"apply_patch", patchOf("*** Update File: a/f.txt\n@@\n-one\n+1")},
		"patch that deletes": {"apply_patch", patchOf("*** Delete File: a/f.txt")},
		"patch that moves":   {"apply_patch", patchOf("*** Update File: b/g.txt\n*** Move to: a/g.txt\n@@\n-two\n+2")},
		"patch that takes":   {"apply_patch", patchOf("*** Update File: a/f.txt\n*** Move to: b/f.txt\n@@\n-one\n+1")},
		"a second lock":      {"dir_lock", map[string]any{"command": "update", "directory": "a/child"}},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, nil, nil)
			y.lock(t, "A", "update", "a")
			done, _ := y.async(t, "B", c.tool, c.arguments)
			y.lock(t, "A", "unlock", "a")
			require.Nil(t, (<-done).Error)
		})
	}
	t.Run("line edit", func(t *testing.T) {
		y := newYard(t, nil, func(cfg *tools.Config) { cfg.EditStyle = tools.EditLines })
		y.lock(t, "A", "update", "a")
		done, _ := y.async(t, "B", "edit", `{"path":"a/f.txt","edits":[{"start_line":1,"end_line_exclusive":2,"newText":"1","context_line":""}]}`)
		y.lock(t, "A", "unlock", "a")
		require.Nil(t, (<-done).Error)
	})
}

func TestWhoReadsDoesNotWait(t *testing.T) {
	y := newYard(t, nil, nil)
	y.lock(t, "A", "update", ".")
	for tool, arguments := range map[string]string{
		"read": `{"path":"a/f.txt"}`, "ls": `{"path":"a"}`, "find": `{"pattern":"*.txt"}`, "grep": `{"pattern":"one"}`,
		"workdir": `{"path":"."}`, "shell": `{"command":"cat a/f.txt"}`, "shell_command": `{"command":"true"}`,
	} {
		require.Nil(t, y.call(t.Context(), t, "B", tool, arguments).Error)
	}
	require.Nil(t, y.UserShell(t.Context(), tools.UserCommand{Command: "echo u >a/f.txt"}).Error)
	require.Equal(t, "u\n", y.read(t, "a/f.txt"), "a person is not bound")
}

func TestACancelledWaiterChangesNothing(t *testing.T) {
	y := newYard(t, nil, nil)
	y.lock(t, "A", "update", "a")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan tools.Outcome, 1)
	go func() { done <- y.call(ctx, t, "B", "edit", replacing("a/f.txt", "one", "1")) }()
	<-y.waiting
	cancel(errors.New("the user"))
	require.Equal(t, "cancelled: the user", (<-done).Text)
	y.lock(t, "A", "unlock", "a")
	require.Equal(t, "one\n", y.read(t, "a/f.txt"))

	y.lock(t, "A", "update", "a")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	out := y.call(ctx, t, "B", "edit", replacing("a/f.txt", "one", "1"))
	require.Equal(t, "error: dir_lock_timeout\nblocking_directory: "+y.root+"/a\nlock_owner_id: A", out.Text)
	require.Equal(t, framing.CodeTimeout, out.Error.Code)
}

func TestAPathThatCannotBeLockedFailsAsUsual(t *testing.T) {
	y := newYard(t, nil, nil)
	require.NoError(t, os.Symlink("loop", filepath.Join(y.root, "loop")))
	off, _ := openSession(t, tools.Config{Root: y.root, ExposeAll: true, Discoverer: tools.NoDiscovery()})
	for _, path := range []string{"loop", "a/f.txt/x", "loop/x"} {
		for tool, arguments := range map[string]any{
			"edit": replacing(path, "x", "y"), "write": map[string]any{"path": path, "content": "x"},
			"apply_patch": "*** Begin Patch\n*** Update File: " + path + "\n@@\n-x\n+y\n*** End Patch",
		} {
			want := off.Call(t.Context(), tools.Call{Tool: tool, Arguments: encode(t, arguments)})
			require.NotNil(t, want.Error)
			require.Equal(t, want.Text, y.call(t.Context(), t, "B", tool, arguments).Text)
		}
	}
}

func TestAgentsThatEndReleaseTheirLocks(t *testing.T) {
	y := newYard(t, nil, nil)
	y.lock(t, "A", "update", "a")
	done, _ := y.async(t, "B", "edit", replacing("a/f.txt", "one", "1"))
	y.EndAgent("A")
	require.Nil(t, (<-done).Error)
}

func TestForceUnlockByAPerson(t *testing.T) {
	y := newYard(t, nil, nil)
	require.Equal(t, "error: no manual directory locks overlap "+y.root+"/a", y.ForceUnlock(t.Context(), "A", "a").Text)
	y.lock(t, "A", "update", "a")
	y.lock(t, "B B", "update", "b")
	y.lock(t, "C", "update", "b")
	out := y.ForceUnlock(t.Context(), "A", ".")
	require.Equal(t, "released: 2\nformat: owner directory...\n\nA "+y.root+"/a\nC "+y.root+"/b", out.Text)
	require.Equal(t, "error: agent `A` does not hold a directory lock for "+y.root+"/a\nreason: force_released\nreleased_by: user",
		y.lock(t, "A", "unlock", "a").Text)
}

func TestShellAccess(t *testing.T) {
	y := newYard(t, nil, func(cfg *tools.Config) { cfg.Shell.ReadOnly = tools.ReadOnlyOff })
	y.lock(t, "A", "update", "a")
	touch := map[string]any{"command": "touch x", "cwd": "a/child"}
	out := y.call(t.Context(), t, "A", "shell", touch)
	require.Equal(t, "termination_reason: exit\nstatus: 0", out.Text)
	require.Equal(t, "rw", out.Display.Mode)
	out = y.call(t.Context(), t, "B", "shell", touch)
	require.Equal(t, "termination_reason: exit\nstatus: 0\nread_only: unenforced", out.Text)
	require.Equal(t, "ro", out.Display.Mode)
	out = y.call(t.Context(), t, "A", "shell", map[string]any{"command": "true"})
	require.Equal(t, "unenforced", header(out, "read_only"), "a lock below does not cover")

	off := newYard(t, nil, func(cfg *tools.Config) { cfg.Locks = nil })
	out = off.call(t.Context(), t, "A", "shell", touch)
	require.Equal(t, "termination_reason: exit\nstatus: 0", out.Text)
	require.Empty(t, out.Display.Mode)
}

func TestReadOnlyCommandsCannotWrite(t *testing.T) {
	y := newYard(t, nil, nil)
	y.lock(t, "A", "update", "a")
	out := y.call(t.Context(), t, "B", "shell", map[string]any{
		"command": `for f in x ../x ../a/x; do (echo >$f) 2>/dev/null && echo "wrote $f"; done; f=$(mktemp) && echo t >"$f" && rm "$f" && echo ok`, "cwd": "b",
	})
	if header(out, "read_only") == "unenforced" {
		t.Skip("this machine has no method")
	}
	require.Equal(t, "out ok", out.Result.Body)
	require.NoFileExists(t, filepath.Join(y.root, "x"), "the working directory of the agent")
	require.NoFileExists(t, filepath.Join(y.root, "a/x"), "what another agent has locked")
	require.NoFileExists(t, filepath.Join(y.root, "b/x"), "where it runs")
}

func TestUnconfinedCommandsAreRefusedIfThatIsRequired(t *testing.T) {
	env := tools.Env{Workspace: newWorkspace(t, nil)}
	locks, err := dirlock.New(t.Context(), dirlock.NewMemory(), dirlock.Options{})
	require.NoError(t, err)
	defer locks.Close(context.Background())
	env.Locks = locks
	shell := tools.NewShell(env, tools.ShellConfig{ReadOnly: tools.ReadOnlyRequire})
	out := shell.Call(t.Context(), tools.Call{Agent: "A", Dir: env.Workspace.Dir(), Arguments: []byte(`{"command":"touch x"}`)})
	require.Equal(t, tools.CodeShellUnconfined, out.Error.Code)
	require.Equal(t, "error: read-only enforcement is required but unavailable", out.Text)
	require.NoFileExists(t, filepath.Join(env.Workspace.Dir(), "x"))
}

// A leased backend is one whose sessions can be lost.
type leased struct {
	*dirlock.Memory
	session *leasedSession
}

func (l *leased) Attach(ctx context.Context) (dirlock.Session, error) {
	s, err := l.Memory.Attach(ctx)
	if l.session == nil {
		l.session = &leasedSession{Session: s, lost: make(chan struct{})}
		s = l.session
	}
	return s, err
}

// A leasedSession is lost when it has been looked at a number of times.
type leasedSession struct {
	dirlock.Session
	lost chan struct{}
	once sync.Once

	mu   sync.Mutex
	left int // looks; 0 is no end
}

func (s *leasedSession) lose() { s.once.Do(func() { close(s.lost) }) }

func (s *leasedSession) after(looks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = looks
}

func (s *leasedSession) View(ctx context.Context, view func(*dirlock.Table) error) error {
	s.mu.Lock()
	if s.left > 0 {
		if s.left--; s.left == 0 {
			s.lose()
		}
	}
	s.mu.Unlock()
	select {
	case <-s.lost:
		return s.Err()
	default:
		return s.Session.View(ctx, view)
	}
}

func (s *leasedSession) Lost() <-chan struct{} { return s.lost }
func (s *leasedSession) Err() error {
	return &dirlock.Error{Code: dirlock.CodeLost, Msg: "lost", Reason: dirlock.ReasonExpired}
}

func TestALockThatIsLostStopsAnEdit(t *testing.T) {
	l := &leased{Memory: dirlock.NewMemory()}
	y := newYard(t, l, nil)
	l.session.after(1)
	out := y.call(t.Context(), t, "A", "edit", replacing("a/f.txt", "one", "1"))
	require.Equal(t, dirlock.CodeLost, out.Error.Code)
	require.True(t, strings.HasPrefix(out.Text, "error: dir_lock_lost\nlost_directory: "+y.root+"/a\nreason: lease_expired\n\nThe lock on `lost_directory`"), out.Text)
	require.Equal(t, "one\n", y.read(t, "a/f.txt"))
	entries, err := os.ReadDir(filepath.Join(y.root, "a"))
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left behind")
}

func TestAPatchWithoutItsLockSaysThatNothingIsChanged(t *testing.T) {
	const text = "*** Begin Patch\n*** Add File: a/new\n+1\n*** End Patch"
	y := newYard(t, nil, nil)
	y.lock(t, "A", "update", "a")
	y.call(t.Context(), t, "B", "dir_lock", `{"command":"unlock","directory":"a","owner_agent_id":"A"}`)
	out := y.call(t.Context(), t, "A", "apply_patch", text)
	require.Equal(t, []string{"error", "lost_directory", "reason", "released_by", "changed"}, keys(out))

	y.lock(t, "B", "update", "a")
	done, _ := y.async(t, "A", "apply_patch", text)
	y.EndAgent("A")
	require.Equal(t, "cancelled: the agent has ended", (<-done).Text, "that says it already")
}

func TestALockThatIsLostInTheMiddleOfAPatch(t *testing.T) {
	const text = "*** Begin Patch\n*** Update File: a/f.txt\n@@\n-one\n+1\n*** Update File: b/g.txt\n@@\n-two\n+2\n*** End Patch"
	for looks := 1; ; looks++ {
		l := &leased{Memory: dirlock.NewMemory()}
		y := newYard(t, l, nil)
		l.session.after(looks)
		out := y.call(t.Context(), t, "A", "apply_patch", text)
		f, g := y.read(t, "a/f.txt"), y.read(t, "b/g.txt")
		if out.Error == nil {
			require.Equal(t, "1\n2\n", f+g)
			require.Greater(t, looks, 2, "each file is checked for")
			return
		}
		require.Equal(t, dirlock.CodeLost, out.Error.Code)
		require.Equal(t, "two\n", g)
		require.Equal(t, y.root, strings.TrimSuffix(strings.TrimSuffix(header(out, "lost_directory"), "/a"), "/b"))
		if f == "one\n" {
			require.Equal(t, []string{"error", "lost_directory", "reason", "changed"}, keys(out))
			continue
		}
		require.Equal(t, []string{"error", "lost_directory", "reason", "partial", "files_changed"}, keys(out))
		require.Contains(t, out.Text, "Partial changes applied before failure:\nM a/f.txt\n")
	}
}

func TestALockThatIsLostEndsACommand(t *testing.T) {
	l := &leased{Memory: dirlock.NewMemory()}
	y := newYard(t, l, func(cfg *tools.Config) {
		cfg.Shell.Live = func(tools.Call, shellrec.Stream, []byte) { l.session.lose() }
	})
	y.lock(t, "A", "update", "a")
	out := y.call(t.Context(), t, "A", "shell", map[string]any{"command": "echo x; sleep 60", "cwd": "a"})
	require.Equal(t, dirlock.CodeLost, out.Error.Code)
	require.Equal(t, []string{"error", "lost_directory", "reason", "termination_reason", "signal"}, keys(out))
}

// TestAgentsDoNotLoseUpdates lets agents count in one file, some of them
// cancelled.
func TestAgentsDoNotLoseUpdates(t *testing.T) {
	y := newYard(t, nil, nil)
	require.NoError(t, os.WriteFile(filepath.Join(y.root, "b/n"), []byte("0\n"), 0o600))
	go func() {
		for range y.waiting { //nolint:revive // nobody asks
		}
	}()
	defer close(y.waiting)
	var agents sync.WaitGroup
	for i := range 4 {
		agents.Go(func() {
			name := fmt.Sprint("agent", i)
			for range 5 {
				if out := y.lock(t, name, "update", "b"); out.Error != nil {
					t.Error(out.Text)
					return
				}
				out := y.call(t.Context(), t, name, "shell", map[string]any{"command": "n=$(cat n); echo $((n+1)) >n", "cwd": "b"})
				if header(out, "read_only") != "" {
					t.Error(out.Text)
				}
				y.lock(t, name, "unlock", "b")
			}
		})
	}
	agents.Wait()
	require.Equal(t, "20\n", y.read(t, "b/n"))
}

func TestASessionThatCannotBeMadeLeavesNothing(t *testing.T) {
	file, err := dirlock.NewFile(dirlock.FileOptions{Dir: filepath.Join(t.TempDir(), "locks")})
	require.NoError(t, err)
	_, err = tools.New(tools.Config{Root: t.TempDir(), Locks: file, Tools: []string{"no such tool"}})
	require.EqualError(t, err, "unknown tool: no such tool")
	left, err := filepath.Glob(filepath.Join(file.Dir(), "instances", "*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
