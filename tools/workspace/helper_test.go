package workspace_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/taukit/taukit/tools/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree returns a workspace in a new directory with the given files. Each holds
// its own name.
func tree(t *testing.T, files ...string) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.New(t.TempDir())
	require.NoError(t, err)
	for _, name := range files {
		path := filepath.Join(ws.Dir(), filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o666))
	}
	return ws
}

// contents reads a file through the workspace.
func contents(t *testing.T, ws *workspace.Workspace, path string) string {
	t.Helper()
	f, err := ws.Open(t.Context(), "", path)
	require.NoError(t, err)
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(data)
}

// fakeFS is a file system with one file and one directory, whatever the name.
type fakeFS struct {
	file  workspace.File
	dir   workspace.Dir
	fault error // of every operation
}

func (f fakeFS) Open(context.Context, string) (workspace.File, error)     { return f.file, f.fault }
func (f fakeFS) OpenDir(context.Context, string) (workspace.Dir, error)   { return f.dir, f.fault }
func (f fakeFS) Canonical(_ context.Context, name string) (string, error) { return name, nil }

// brokenFS fails to resolve any directory.
type brokenFS struct{ fakeFS }

func (f brokenFS) Canonical(context.Context, string) (string, error) { return "", f.fault }

// fakeFile counts its reads, and fails them if it has a fault.
type fakeFile struct {
	reads int
	fault error
}

func (f *fakeFile) Read(p []byte) (int, error) {
	f.reads++
	return copy(p, "data"), f.fault
}
func (f *fakeFile) Close() error { return nil }
func (f *fakeFile) Size() int64  { return 4 }

// fakeDir counts its batches of entries, and fails them if it has a fault.
type fakeDir struct {
	batches int
	fault   error
}

func (d *fakeDir) ReadDir(int) ([]fs.DirEntry, error) {
	d.batches++
	return []fs.DirEntry{nil}, d.fault
}
func (d *fakeDir) Close() error { return nil }

func requireError(t *testing.T, err error, op, path, code, reason string, is error) {
	t.Helper()
	var e *workspace.Error
	require.ErrorAs(t, err, &e, path)
	require.Equal(t, []string{code, op, path, reason}, []string{e.Code, e.Op, e.Path, e.Reason})
	if is != nil {
		require.ErrorIs(t, err, is)
	}
}
