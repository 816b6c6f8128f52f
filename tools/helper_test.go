package tools_test

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/confine"
	"github.com/taukit/taukit/tools/workspace"
)

func TestMain(m *testing.M) {
	confine.RunHelper()
	goleak.VerifyTestMain(m)
}

// newWorkspace returns a workspace in a new directory with the given files.
func newWorkspace(t testing.TB, files map[string]string) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.New(t.TempDir())
	require.NoError(t, err)
	for name, content := range files {
		path := filepath.Join(ws.Dir(), filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o666))
	}
	return ws
}

// newSpool returns a spool that is closed with the test, in a new directory
// unless opts name one.
func newSpool(t testing.TB, opts artifact.Options) *artifact.Spool {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	spool, err := artifact.NewSpool(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, spool.Close()) })
	return spool
}

// call runs a tool with the given argument text or value, and checks what
// holds for every outcome.
func call(t testing.TB, tool tools.Tool, arguments any) tools.Outcome {
	t.Helper()
	out := tool.Call(t.Context(), tools.Call{Tool: tool.Definition().Name, Arguments: encode(t, arguments)})
	requireWellFormed(t, out)
	return out
}

// encode returns arguments as JSON; a string is argument text already.
func encode(t testing.TB, arguments any) []byte {
	t.Helper()
	if text, ok := arguments.(string); ok {
		return []byte(text)
	}
	text, err := json.Marshal(arguments)
	require.NoError(t, err)
	return text
}

// requireWellFormed checks what holds for every outcome of our tools.
func requireWellFormed(t testing.TB, out tools.Outcome) {
	t.Helper()
	require.NoError(t, framing.Validate(out.Result))
	require.NotEmpty(t, out.Text)
	require.Equal(t, out.Result.Render(), out.Text)
	require.NotContains(t, out.Display.Header()+out.Display.Status, "\n")
	if out.Error == nil {
		require.Equal(t, tools.StatusOK, out.Display.Status)
		return
	}
	require.NotEmpty(t, out.Error.Code)
	require.Nil(t, out.Display.Stats)
	if out.Error.Code == framing.CodeCancelled {
		require.Equal(t, tools.StatusCancelled, out.Display.Status)
	} else {
		require.Equal(t, out.Error.Error(), out.Display.Status)
	}
}

// requireFailure checks an outcome that is nothing but an error.
func requireFailure(t testing.TB, out tools.Outcome, code, message string) {
	t.Helper()
	require.NotNil(t, out.Error, "%.300s", out.Text)
	require.Equal(t, message, out.Error.Error())
	require.Equal(t, code, out.Error.Code)
	require.Empty(t, out.Result.Body)
}

// header returns the value of a header, "" if there is none.
func header(out tools.Outcome, key string) string {
	value, _ := out.Result.Get(key)
	return value
}

// keys returns the keys of the headers in order.
func keys(out tools.Outcome) []string {
	keys := []string{}
	for _, h := range out.Result.Headers {
		keys = append(keys, h.Key)
	}
	return keys
}

// headers returns the header block.
func headers(out tools.Outcome) string {
	return framing.Result{Headers: out.Result.Headers}.Render()
}

// saved returns the complete saved output of an outcome.
func saved(t testing.TB, out tools.Outcome) string {
	t.Helper()
	data, err := os.ReadFile(header(out, "full_output_path"))
	require.NoError(t, err, out.Text)
	return string(data)
}

// memFS is a file system with one file and one directory, under any name. With
// neither it has nothing.
type memFS struct {
	open    func() io.Reader // gives the content of the file
	size    int64            // what the file says its size is
	listing workspace.Dir
}

func (m memFS) Open(context.Context, string) (workspace.File, error) {
	if m.open == nil {
		return nil, workspace.ErrNotFound
	}
	return memFile{m.open(), m.size}, nil
}

func (m memFS) OpenDir(context.Context, string) (workspace.Dir, error) {
	if m.listing == nil {
		return nil, workspace.ErrNotFound
	}
	return m.listing, nil
}

func (m memFS) Canonical(_ context.Context, name string) (string, error) { return name, nil }

type memFile struct {
	io.Reader
	size int64
}

func (f memFile) Size() int64  { return f.size }
func (f memFile) Close() error { return nil }

// memDir is a directory of names, all of them regular files unless kind says
// otherwise.
type memDir struct {
	names []string
	kind  func(name string) (fs.FileMode, error)
}

func (d *memDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if len(d.names) == 0 {
		return nil, io.EOF
	}
	var batch []fs.DirEntry
	for _, name := range d.names[:min(n, len(d.names))] {
		batch = append(batch, memEntry{name, d.kind})
	}
	d.names = d.names[len(batch):]
	return batch, nil
}

func (d *memDir) Close() error { return nil }

// memEntry is an entry of a memDir. Its type is asked for when it is needed.
type memEntry struct {
	name string
	kind func(name string) (fs.FileMode, error)
}

func (e memEntry) Name() string               { return e.name }
func (e memEntry) IsDir() bool                { return e.Type().IsDir() }
func (e memEntry) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

func (e memEntry) Type() fs.FileMode {
	if e.kind == nil {
		return 0
	}
	mode, err := e.kind(e.name)
	if err != nil {
		return fs.ModeIrregular
	}
	return mode
}

// memory returns a workspace of a file system in memory.
func memory(t testing.TB, fsys memFS) *workspace.Workspace {
	t.Helper()
	root, err := filepath.Abs(string(filepath.Separator))
	require.NoError(t, err)
	ws, err := workspace.NewFS(t.Context(), fsys, root)
	require.NoError(t, err)
	return ws
}

// fileOf returns a workspace in which every path is a file with that content.
func fileOf(t testing.TB, content string) *workspace.Workspace {
	t.Helper()
	return memory(t, memFS{
		open: func() io.Reader { return strings.NewReader(content) },
		size: int64(len(content)),
	})
}

// span is an entry of the argument ranges.
type span struct {
	Start int `json:"start_line"`
	End   int `json:"end_line"`
}

// readArgs are arguments of read; zero fields are left out.
type readArgs struct {
	Path   string `json:"path"`
	Start  int    `json:"start_line,omitzero"`
	End    int    `json:"end_line,omitzero"`
	Ranges []span `json:"ranges,omitzero"`
}

// whole asks for all of a file.
var whole = readArgs{Path: "f"}

// writeLines replaces a file by one of n lines.
func writeLines(path string, n int) error {
	return os.WriteFile(path, []byte(strings.Repeat("x\n", n)), 0o666)
}

// writeFile writes a file of a workspace as somebody else would.
func writeFile(ws *workspace.Workspace, name, content string) error {
	return os.WriteFile(filepath.Join(ws.Dir(), name), []byte(content), 0o666)
}
