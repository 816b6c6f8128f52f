package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/workspace"
)

// newSession returns a session in a new directory with the given files, and
// the directory that it saves output in.
func newSession(t testing.TB, files map[string]string) (s *tools.Session, artifacts string) {
	t.Helper()
	ws := newWorkspace(t, files)
	return openSession(t, tools.Config{Root: ws.Dir()})
}

// newSessionFS is newSession on a file system of its own.
func newSessionFS(t testing.TB, fsys workspace.FS) (s *tools.Session, artifacts string) {
	t.Helper()
	root, err := filepath.Abs(string(filepath.Separator))
	require.NoError(t, err)
	ws, err := workspace.NewFS(t.Context(), fsys, root)
	require.NoError(t, err)
	return openSession(t, tools.Config{Workspace: ws})
}

func openSession(t testing.TB, cfg tools.Config) (s *tools.Session, artifacts string) {
	t.Helper()
	artifacts = t.TempDir()
	if !cfg.NoSpool {
		cfg.Spool = newSpool(t, artifact.Options{Dir: artifacts})
	}
	s, err := tools.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, artifacts
}

// sessionOf returns a session in a new directory with tools of the test's own,
// and the log of its events.
func sessionOf(t testing.TB, cfg tools.Config, own ...tools.Tool) (*tools.Session, *eventLog) {
	t.Helper()
	log := &eventLog{}
	if cfg.Root == "" && cfg.Workspace == nil {
		cfg.Root = t.TempDir()
	}
	cfg.Own, cfg.Listener = own, log
	s, _ := openSession(t, cfg)
	return s, log
}

// eventLog remembers events.
type eventLog struct {
	mu     sync.Mutex
	events []tools.Event
}

func (l *eventLog) Event(e tools.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// of returns the events of one call in order.
func (l *eventLog) of(id string) (events []tools.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.CallID == id {
			events = append(events, e)
		}
	}
	return events
}

// requireLife checks that a call has started once and ended once, in that
// phase, and returns the two displays.
func (l *eventLog) requireLife(t testing.TB, id string, end tools.Phase) (first, last tools.Display) {
	t.Helper()
	events := l.of(id)
	require.Len(t, events, 2)
	require.Equal(t, []tools.Phase{tools.PhaseStarted, end}, []tools.Phase{events[0].Phase, events[1].Phase})
	same := events[1]
	same.Phase, same.Display = events[0].Phase, events[0].Display
	require.Equal(t, events[0], same, "id, agent and names are those of the call")
	return events[0].Display, events[1].Display
}

// A testTool is a tool made of a function.
type testTool struct {
	definition tools.Definition
	run        func(ctx context.Context, call tools.Call) tools.Outcome
}

func (t testTool) Definition() tools.Definition { return t.definition }
func (t testTool) Call(ctx context.Context, call tools.Call) tools.Outcome {
	return t.run(ctx, call)
}

// named returns a tool made of a function.
func named(name string, run func(ctx context.Context, call tools.Call) tools.Outcome) testTool {
	return testTool{tools.Definition{Name: name, Schema: json.RawMessage(`{}`)}, run}
}

// A previewingTool also says what it is about to do.
type previewingTool struct {
	testTool
	preview func(call tools.Call) tools.Display
}

func (t previewingTool) Preview(call tools.Call) tools.Display { return t.preview(call) }

// removed reports whether nothing is at path.
func removed(path string) bool {
	_, err := os.Lstat(path)
	return os.IsNotExist(err)
}
