package integration_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/etcdlock"
	"github.com/taukit/taukit/tools"
)

// TestScenario31And32ALossWhileAToolRuns cuts the connection right before a tool
// makes its first, or its second, change.
func TestScenario31And32ALossWhileAToolRuns(t *testing.T) {
	edit := map[string]any{"path": "a/1.txt", "edits": []map[string]string{{"oldText": "old", "newText": "new"}}}
	patch := "*** Begin Patch\n*** Update File: a/1.txt\n@@\n-old\n+new\n*** Update File: b/2.txt\n@@\n-old\n+new\n*** End Patch"
	for name, c := range map[string]struct {
		tool      string
		arguments any
		check     int // at which the connection is cut
		first     string
	}{
		"31 an edit changes nothing":       {"edit", edit, 1, "old\n"},
		"32 a patch changes only one file": {"apply_patch", patch, 2, "new\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, name := range []string{"a/1.txt", "b/2.txt"} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("old\n"), 0o600))
			}
			p := newProxy(t, shared.Addr())
			opts := etcdlock.Options{Root: root, Scope: newScope(t), TTL: etcdlock.MinTTL}
			cutting := &cuttingBackend{Backend: newBackend(t, connect(t, p.Addr()), opts), at: c.check, cut: p.Cut}
			a := openSession(t, root, cutting)
			b := openSession(t, root, newBackend(t, connect(t, shared.Addr()), opts))

			out := call(t, a, c.tool, c.arguments)
			require.NotNil(t, out.Error, out.Text)
			require.Equal(t, dirlock.CodeLost, out.Error.Code)
			require.Contains(t, out.Text, "error: dir_lock_lost")
			require.Contains(t, out.Text, "reason: lease_expired")
			requireFile(t, root, "a/1.txt", c.first)
			requireFile(t, root, "b/2.txt", "old\n")
			left, err := filepath.Glob(filepath.Join(root, "*", "*"))
			require.NoError(t, err)
			require.Len(t, left, 2, "no temporary file is left")
			if c.check == 2 {
				require.Contains(t, out.Text, "1.txt", "what was changed is told")
			}

			out = call(t, b, "edit", map[string]any{"path": "b/2.txt", "edits": []map[string]string{{"oldText": "old", "newText": "B was here"}}})
			require.Nil(t, out.Error, out.Text)
			requireFile(t, root, "b/2.txt", "B was here\n")
		})
	}
}

func openSession(t *testing.T, root string, locks dirlock.Backend) *tools.Session {
	t.Helper()
	s, err := tools.New(tools.Config{Root: root, Locks: locks, ExposeAll: true, Discoverer: tools.NoDiscovery()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func call(t *testing.T, s *tools.Session, tool string, arguments any) tools.Outcome {
	t.Helper()
	raw, err := json.Marshal(arguments)
	require.NoError(t, err)
	if text, ok := arguments.(string); ok {
		raw = []byte(text)
	}
	return s.Call(t.Context(), tools.Call{Agent: "A", Tool: tool, Arguments: raw})
}

func requireFile(t *testing.T, root, name, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	require.Equal(t, want, string(got), name)
}

// A cuttingBackend is cut off when a session of it is looked at for the nth time,
// as a check does.
type cuttingBackend struct {
	dirlock.Backend
	at  int
	cut func()
}

func (b *cuttingBackend) Attach(ctx context.Context) (dirlock.Session, error) {
	s, err := b.Backend.Attach(ctx)
	return &cuttingSession{Session: s, backend: b}, err
}

type cuttingSession struct {
	dirlock.Session
	backend *cuttingBackend
}

func (s *cuttingSession) View(ctx context.Context, view func(*dirlock.Table) error) error {
	if s.backend.at--; s.backend.at == 0 {
		s.backend.cut()
	}
	return s.Session.View(ctx, view)
}
