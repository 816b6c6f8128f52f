//go:build unix

package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/discovery"
	"github.com/taukit/taukit/tools/workspace"
)

// A scanner is a Discoverer whose scans a test can hold, and fail.
type scanner struct {
	hold chan struct{} // scans of projects wait for it, if it is not nil
	held chan string   // gets the directory of a scan that waits

	mu    sync.Mutex
	fault error
	users int
}

func (s *scanner) User(context.Context) (discovery.Scope, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
	return discovery.NewScope([]discovery.Instruction{{Path: "/home/AGENTS.md", Text: "user"}}, nil, nil), nil
}

func (s *scanner) Project(ctx context.Context, dir string) (discovery.Scope, error) {
	if s.hold != nil {
		s.held <- dir
		select {
		case <-s.hold:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return discovery.NewScope([]discovery.Instruction{{Path: filepath.Join(dir, "AGENTS.md"), Text: dir}}, nil, nil), s.fault
}

func (s *scanner) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
}

// A dirMemory is a WorkdirStore.
type dirMemory struct {
	mu    sync.Mutex
	dirs  map[string]string
	fault error
}

func (m *dirMemory) Load(agent string) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, ok := m.dirs[agent]
	return dir, ok, m.fault
}

func (m *dirMemory) Save(agent, dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault == nil {
		m.dirs[agent] = dir
	}
	return m.fault
}

// newWorkdirs returns Workdirs in a directory with some directories.
func newWorkdirs(t *testing.T, store tools.WorkdirStore, d discovery.Discoverer) (w *tools.Workdirs, root string) {
	t.Helper()
	ws := newWorkspace(t, nil)
	for _, dir := range []string{"a/b", "c"} {
		require.NoError(t, os.MkdirAll(filepath.Join(ws.Dir(), dir), 0o700))
	}
	w = tools.NewWorkdirs(ws, store, d)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w, ws.Dir()
}

func code(t *testing.T, err error) string {
	t.Helper()
	var e *framing.Error
	require.ErrorAs(t, err, &e)
	return e.Code
}

func TestWorkdirsAreRemembered(t *testing.T) {
	store := &dirMemory{dirs: map[string]string{"old": "/"}}
	w, root := newWorkdirs(t, store, nil)
	dir, err := w.Dir(t.Context(), "old")
	require.NoError(t, err)
	require.Equal(t, "/", dir)
	dir, _, err = w.Set(t.Context(), "new", "a")
	require.NoError(t, err)
	require.Equal(t, root+"/a", dir)
	require.Equal(t, root+"/a", store.dirs["new"])
	require.NoError(t, w.Spawn(t.Context(), "new", "child"))
	dir, err = w.Dir(t.Context(), "child")
	require.NoError(t, err)
	require.Equal(t, root+"/a", dir)
	require.Error(t, w.Spawn(t.Context(), "new", "child"), "it is there")

	store.fault = errors.New("disk\nfull")
	_, err = w.Dir(t.Context(), "third")
	require.EqualError(t, err, `cannot recall workdir: disk\nfull`)
	_, _, err = w.Set(t.Context(), "new", "b")
	require.EqualError(t, err, `cannot remember workdir: disk\nfull`)
	require.Equal(t, framing.CodeIO, code(t, err))
	store.fault = nil
	dir, err = w.Dir(t.Context(), "third")
	require.NoError(t, err)
	require.Equal(t, root, dir)
	dir, err = w.Dir(t.Context(), "new")
	require.NoError(t, err)
	require.Equal(t, root+"/a", dir)
}

func TestARememberedDirectoryIsMadeCanonical(t *testing.T) {
	store := &dirMemory{dirs: map[string]string{}}
	w, root := newWorkdirs(t, store, nil)
	require.NoError(t, os.Symlink("a", filepath.Join(root, "link")))
	store.dirs["link"], store.dirs["gone"], store.dirs["relative"], store.dirs["empty"] = root+"/link", root+"/gone", "a", ""
	dir, err := w.Dir(t.Context(), "link")
	require.NoError(t, err)
	require.Equal(t, root+"/a", dir)
	dir, err = w.Dir(t.Context(), "gone")
	require.NoError(t, err)
	require.Equal(t, root+"/gone", dir, "what became of it is told, not guessed")
	for _, agent := range []string{"relative", "empty"} {
		_, err = w.Dir(t.Context(), agent)
		require.EqualError(t, err, "cannot recall workdir: the path is not absolute")
		require.Equal(t, framing.CodeIO, code(t, err))
	}
}

func TestAnAgentWithoutANameIsTheDefaultOne(t *testing.T) {
	store := &dirMemory{dirs: map[string]string{}}
	w, root := newWorkdirs(t, store, nil)
	_, _, err := w.Set(t.Context(), "", "a")
	require.NoError(t, err)
	require.Equal(t, map[string]string{tools.DefaultAgent: root + "/a"}, store.dirs)
	dir, err := w.Dir(t.Context(), tools.DefaultAgent)
	require.NoError(t, err)
	require.Equal(t, root+"/a", dir)
	require.Equal(t, root+"/a", w.Discovery("").Dir)
}

func TestAForgottenAgentIsANewOne(t *testing.T) {
	w, root := newWorkdirs(t, nil, &scanner{})
	_, _, err := w.Set(t.Context(), "x", "a")
	require.NoError(t, err)
	w.Forget("x")
	require.Zero(t, w.Discovery("x").Revision)
	dir, err := w.Dir(t.Context(), "x")
	require.NoError(t, err)
	require.Equal(t, root, dir)
	w.Forget("x")
	require.NoError(t, w.Spawn(t.Context(), "y", "x"))
}

// A deaf is a Discoverer that answers when it is released, whatever its context
// says.
type deaf struct{ release chan struct{} }

func (s deaf) User(context.Context) (discovery.Scope, error) { return discovery.Scope{}, nil }
func (s deaf) Project(context.Context, string) (discovery.Scope, error) {
	<-s.release
	return discovery.Scope{}, nil
}

func TestAScanTakesItsTimeAndNoMore(t *testing.T) {
	ws := newWorkspace(t, nil)
	synctest.Test(t, func(t *testing.T) {
		s := deaf{make(chan struct{})}
		w := tools.NewWorkdirs(ws, nil, s)
		began := time.Now()
		snapshot, err := w.WaitReady(t.Context(), "x")
		require.NoError(t, err)
		require.Equal(t, 30*time.Second, time.Since(began))
		require.True(t, snapshot.Degraded)
		require.Equal(t, "timed out after 30 s", snapshot.Reason)

		_, _, err = w.Set(t.Context(), "x", ".")
		require.Equal(t, framing.CodeDiscoveryDegraded, code(t, err), "and the next setter is let in")

		_, err = w.Dir(t.Context(), "y")
		require.NoError(t, err)
		require.NoError(t, w.Close(), "it waits for no scan")
		require.Equal(t, 60*time.Second, time.Since(began))
		close(s.release)
	})
}

// A panicking Discoverer and WorkdirStore.
type panicking struct{}

func (panicking) User(context.Context) (discovery.Scope, error)            { panic("user") }
func (panicking) Project(context.Context, string) (discovery.Scope, error) { panic("project") }
func (panicking) Load(string) (string, bool, error)                        { panic("load") }
func (panicking) Save(string, string) error                                { panic("save") }

func TestAPanicOfTheHarnessIsAnError(t *testing.T) {
	w, _ := newWorkdirs(t, nil, panicking{})
	snapshot, err := w.WaitReady(t.Context(), "x")
	require.NoError(t, err)
	require.True(t, snapshot.Degraded)
	require.Equal(t, "internal error in tool workdir", snapshot.Reason)

	s, _ := sessionOf(t, tools.Config{Workdirs: panicking{}})
	for range 2 { // the second use does not find half an agent
		out := s.Call(t.Context(), tools.Call{Tool: "ls", Arguments: []byte(`{}`)})
		require.Equal(t, framing.CodeInternal, out.Error.Code)
	}
}

func TestClosedWorkdirs(t *testing.T) {
	w, _ := newWorkdirs(t, nil, &scanner{})
	var uses sync.WaitGroup
	for i := range 20 {
		uses.Go(func() {
			name := fmt.Sprint("agent ", i%5)
			_, _ = w.WaitReady(t.Context(), name)
			_, _, _ = w.Set(t.Context(), name, "a")
			_ = w.Spawn(t.Context(), name, fmt.Sprint("child ", i))
		})
	}
	require.NoError(t, w.Close())
	_, err := w.Dir(t.Context(), "late")
	require.Equal(t, framing.CodeCancelled, code(t, err))
	uses.Wait()
	require.NoError(t, w.Close())
}

func TestOneSetterAtATime(t *testing.T) {
	s := &scanner{}
	w, root := newWorkdirs(t, nil, s)
	_, err := w.WaitReady(t.Context(), "x")
	require.NoError(t, err)
	s.hold, s.held = make(chan struct{}), make(chan string)
	done := make(chan error, 1)
	go func() {
		_, _, err := w.Set(t.Context(), "x", "a")
		done <- err
	}()
	require.Equal(t, root+"/a", <-s.held)

	_, _, err = w.Set(t.Context(), "x", "c")
	require.Equal(t, framing.CodeWorkdirPending, code(t, err))
	dir, err := w.Dir(t.Context(), "x")
	require.NoError(t, err, "nobody waits for a scan")
	require.Equal(t, root+"/a", dir)
	require.EqualValues(t, 1, w.Discovery("x").Revision, "the old one until the new one is whole")
	close(s.hold)
	require.NoError(t, <-done)
	require.EqualValues(t, 2, w.Discovery("x").Revision)
}

func TestACommittedChangeOutlivesItsCall(t *testing.T) {
	s := &scanner{}
	w, root := newWorkdirs(t, nil, s)
	_, err := w.WaitReady(t.Context(), "x")
	require.NoError(t, err)
	s.hold, s.held = make(chan struct{}), make(chan string)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		dir, snapshot, err := w.Set(ctx, "x", "a")
		if dir != root+"/a" || snapshot.Revision != 2 {
			err = fmt.Errorf("%s %d", dir, snapshot.Revision)
		}
		done <- err
	}()
	<-s.held
	cancel(errors.New("enough"))
	s.hold <- struct{}{}
	err = <-done
	require.Equal(t, framing.CodeCancelled, code(t, err))
	var e *framing.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "cancelled: enough\npath: "+root+"/a", e.Render())
	require.Equal(t, root+"/a", w.Discovery("x").Dir)

	// Before the commit nothing is changed.
	_, _, err = w.Set(ctx, "x", "b")
	require.ErrorIs(t, err, context.Canceled)
	dir, err := w.Dir(t.Context(), "x")
	require.NoError(t, err)
	require.Equal(t, root+"/a", dir)
}

func TestTheUserIsScannedOnce(t *testing.T) {
	s := &scanner{}
	w, _ := newWorkdirs(t, nil, s)
	for _, path := range []string{"a", "b", "../../c"} {
		_, snapshot, err := w.Set(t.Context(), "x", path)
		require.NoError(t, err)
		require.Len(t, snapshot.Instructions(), 2)
	}
	require.Equal(t, 1, s.users)
	s.fail(errors.New("a\nb"))
	_, snapshot, err := w.Set(t.Context(), "x", ".")
	require.Equal(t, framing.CodeDiscoveryDegraded, code(t, err))
	require.ErrorContains(t, err, `project discovery failed: a\nb; only`)
	require.True(t, snapshot.Degraded)
	require.Len(t, snapshot.Instructions(), 1, "nothing of the former project")
}

// TestWorkdirsAgreeWithAModel makes random changes by several agents at once.
func TestWorkdirsAgreeWithAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &scanner{}
		w, root := newWorkdirs(t, nil, s)
		paths := []string{"a", "b", "..", "c", "none", root + "/a/b", root}
		plans := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(paths), 0, 6), 1, 4).Draw(rt, "plans")
		var agents sync.WaitGroup
		for i, plan := range plans {
			agents.Go(func() {
				name, want := fmt.Sprint("agent ", i), root
				for _, path := range plan {
					next := path
					if !filepath.IsAbs(next) {
						next = filepath.Join(want, path)
					}
					_, err := os.Stat(next)
					dir, snapshot, failure := w.Set(t.Context(), name, path)
					if (err == nil) != (failure == nil) {
						t.Error(path, err, failure)
					}
					if err == nil {
						want = next
						if dir != want || snapshot.Dir != want {
							t.Error(dir, snapshot.Dir, want)
						}
					}
					got, err := w.Dir(t.Context(), name)
					if err != nil || got != want {
						t.Error(got, want, err)
					}
					if d := w.Discovery(name); d.Revision > 0 && d.Instructions()[1].Text != d.Dir {
						t.Error("a mixture", d.Dir, d.Instructions()[1].Text)
					}
				}
			})
		}
		agents.Wait()
	})
}

func TestWorkdirGetterTellsTheState(t *testing.T) {
	ws, err := workspace.New(t.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(ws.Dir(), "d")
	require.NoError(t, os.Mkdir(dir, 0o700))
	s, _ := sessionOf(t, tools.Config{Workspace: ws, Discoverer: tools.NoDiscovery()})
	get := func() tools.Outcome {
		return s.Call(t.Context(), tools.Call{Tool: "workdir", Arguments: []byte("{}")})
	}
	set := s.Call(t.Context(), tools.Call{Tool: "workdir", Arguments: []byte(`{"path":"d"}`)})
	require.Equal(t, []string{"d", "set"}, []string{set.Display.Args, set.Display.Mode})
	require.Equal(t, "path: "+dir, get().Text)
	require.Equal(t, []string{dir, "get"}, []string{get().Display.Args, get().Display.Mode})
	require.NoError(t, os.Remove(dir))
	require.Equal(t, "path: "+dir+"\nstatus: missing", get().Text)
	require.Equal(t, dir+" (missing)", get().Display.Args)
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	require.Equal(t, "path: "+dir+"\nstatus: not-directory", get().Text)
	if os.Getuid() != 0 {
		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.Mkdir(dir, 0))
		require.Equal(t, "path: "+dir+"\nstatus: inaccessible", get().Text)
	}
}

func TestNothingMakesAVanishedWorkdirAgain(t *testing.T) {
	for _, style := range []tools.EditStyle{tools.EditReplace, tools.EditLines} {
		ws := newWorkspace(t, nil)
		dir := filepath.Join(ws.Dir(), "d")
		require.NoError(t, os.Mkdir(dir, 0o700))
		s, _ := sessionOf(t, tools.Config{Workspace: ws, EditStyle: style, ExposeAll: true})
		call := func(tool, arguments string) tools.Outcome {
			return s.Call(t.Context(), tools.Call{Tool: tool, Arguments: []byte(arguments)})
		}
		require.Nil(t, call("workdir", `{"path":"d"}`).Error)
		require.NoError(t, os.Remove(dir))
		for tool, arguments := range map[string]string{
			"write":       `{"path":"x/y","content":"z"}`,
			"apply_patch": "*** Begin Patch\n*** Add File: x/y\n+z\n*** End Patch",
			"edit":        `{"path":"x","edits":[{"start_line":1,"end_line_exclusive":1,"newText":"z","context_line":""}]}`,
		} {
			if tool == "edit" && style == tools.EditReplace {
				arguments = `{"path":"x","edits":[{"oldText":"a","newText":"b"}]}`
			}
			out := call(tool, arguments)
			require.Equal(t, framing.CodeNotFound, out.Error.Code, tool)
			require.Regexp(t, `^error: (cannot \w+ "x(/y)?": no such file or directory|file does not exist: "x")`, out.Text)
		}
		require.True(t, removed(dir))
		require.Nil(t, call("write", fmt.Sprintf(`{"path":%q,"content":"z"}`, filepath.Join(ws.Dir(), "e", "f"))).Error, "an absolute path starts elsewhere")
	}
}

func TestTheFirstCallIsTheFirstUse(t *testing.T) {
	for range 20 {
		ws := newWorkspace(t, map[string]string{".git/HEAD": "", "AGENTS.md": "first"})
		s, _ := sessionOf(t, tools.Config{Workspace: ws, Discoverer: discovery.New(discovery.Options{})})
		require.Nil(t, s.Call(t.Context(), tools.Call{Tool: "ls", Arguments: []byte(`{}`)}).Error)
		require.NoError(t, os.WriteFile(filepath.Join(ws.Dir(), "AGENTS.late.md"), []byte("late"), 0o600))
		snapshot, err := s.Workdirs().WaitReady(t.Context(), "")
		require.NoError(t, err)
		require.Len(t, snapshot.Instructions(), 1)
	}
}
