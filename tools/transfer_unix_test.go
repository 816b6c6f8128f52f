//go:build unix

package tools_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

// newTransfer returns a session with a store and files.
func newTransfer(t *testing.T, store artifact.Store, files map[string]string) (s *tools.Session, root string) {
	t.Helper()
	ws := newWorkspace(t, files)
	s, _ = sessionOf(t, tools.Config{Workspace: ws, Store: store, ExposeAll: true, Images: true, ImportDir: t.TempDir(), Discoverer: tools.NoDiscovery()})
	return s, ws.Dir()
}

func transfer(t *testing.T, s *tools.Session, tool string, arguments map[string]any) tools.Outcome {
	t.Helper()
	out := s.Call(t.Context(), tools.Call{Tool: tool, Arguments: encode(t, arguments)})
	requireWellFormed(t, out)
	return out
}

func TestExportAndImport(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "text.txt": "a\r\nb\x00\xff", "largest": strings.Repeat("x", artifact.MaxBytes),
	} {
		t.Run(name, func(t *testing.T) {
			s, root := newTransfer(t, artifact.NewMemStore(), map[string]string{name: content})
			out := transfer(t, s, "export", map[string]any{"path": name})
			require.Equal(t, len(content), out.Display.Stats.Bytes)
			require.Equal(t, artifact.KeyOf([]byte(content)).Reference(), header(out, "artifact"))

			back := transfer(t, s, "import", map[string]any{"key": header(out, "artifact"), "filename": "../../" + name + ".sh"})
			path := header(back, "path")
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, content == string(got))
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())
			require.False(t, strings.HasPrefix(path, root))
			require.NoError(t, s.Close())
			require.True(t, removed(path))
		})
	}
}

func TestExportHints(t *testing.T) {
	s, _ := newTransfer(t, artifact.NewMemStore(), map[string]string{"a\nb.PNG": "x"})
	out := transfer(t, s, "export", map[string]any{"path": "a\nb.PNG"})
	require.Equal(t, []string{"artifact", "size", "filename", "mime_type"}, keys(out))
	require.Equal(t, `a\nb.PNG`, header(out, "filename"))
	require.Equal(t, "image/png", header(out, "mime_type"))
	out = transfer(t, s, "export", map[string]any{"path": "a\nb.PNG", "mime_type": " text/x\ty "})
	require.Equal(t, `text/x\ty`, header(out, "mime_type"))
}

func TestExportRefuses(t *testing.T) {
	s, root := newTransfer(t, artifact.NewMemStore(), map[string]string{"large": strings.Repeat("x", artifact.MaxBytes+1)})
	require.NoError(t, os.Mkdir(filepath.Join(root, "dir"), 0o700))
	require.NoError(t, unix.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	require.NoError(t, os.Symlink("loop", filepath.Join(root, "loop")))
	for path, want := range map[string][2]string{
		"large":     {framing.CodeTooLarge, `cannot export "large": file exceeds 16777216 bytes`},
		"dir":       {framing.CodeIsDirectory, `cannot export "dir": is a directory`},
		"fifo":      {framing.CodeNotRegular, `cannot export "fifo": not a regular file`},
		"loop":      {framing.CodeLoop, `cannot export "loop": too many levels of symbolic links`},
		"none\"\n":  {framing.CodeNotFound, `cannot export "none\"\n": no such file or directory`},
		"dir/x/..y": {framing.CodeNotFound, `cannot export "dir/x/..y": no such file or directory`},
	} {
		requireFailure(t, transfer(t, s, "export", map[string]any{"path": path}), want[0], want[1])
	}
}

// A brokenStore fails, or hands out what it should not.
type brokenStore struct {
	*artifact.MemStore
	err     error
	content string
	size    int64
}

func (b brokenStore) Put(context.Context, int64, io.Reader) (artifact.Descriptor, error) {
	return artifact.Descriptor{}, b.err
}

func (b brokenStore) Open(_ context.Context, key artifact.Key) (io.ReadCloser, artifact.Descriptor, error) {
	return io.NopCloser(strings.NewReader(b.content)), artifact.Descriptor{Key: key, Size: b.size}, b.err
}

func TestBrokenStores(t *testing.T) {
	key := artifact.KeyOf([]byte("x"))
	for _, tt := range []struct {
		store artifact.Store
		code  string
		want  string
	}{
		{nil, framing.CodeArtifactUnavailable, "artifact storage is unavailable; a persistent store is required"},
		{brokenStore{err: artifact.ErrBusy}, framing.CodeBusy, "artifact storage is busy; retry this tool call"},
		{brokenStore{err: errors.New("secret path")}, framing.CodeIO, "artifact storage I/O failed"},
		{brokenStore{err: artifact.ErrIntegrity}, framing.CodeArtifactIntegrity, "artifact size or digest verification failed"},
	} {
		s, _ := newTransfer(t, tt.store, map[string]string{"f": "x"})
		for tool, arguments := range map[string]map[string]any{"export": {"path": "f"}, "import": {"key": string(key)}} {
			requireFailure(t, transfer(t, s, tool, arguments), tt.code, tt.want)
		}
	}
	for _, tt := range []struct {
		store brokenStore
		code  string
		want  string
	}{
		{brokenStore{content: "y", size: 1}, framing.CodeArtifactIntegrity, "artifact size or digest verification failed"},
		{brokenStore{content: "x", size: 2}, framing.CodeArtifactIntegrity, "artifact size or digest verification failed"},
		{brokenStore{content: "xx", size: 1}, framing.CodeArtifactIntegrity, "artifact size or digest verification failed"},
		{brokenStore{size: artifact.MaxBytes + 1}, framing.CodeTooLarge, "cannot import: artifact exceeds 16777216 bytes"},
	} {
		s, _ := newTransfer(t, tt.store, nil)
		requireFailure(t, transfer(t, s, "import", map[string]any{"key": string(key)}), tt.code, tt.want)
	}
	s, _ := newTransfer(t, artifact.NewMemStore(), nil)
	requireFailure(t, transfer(t, s, "import", map[string]any{"key": string(key)}), framing.CodeArtifactUnavailable, "artifact is unavailable")
}

func TestClipboardImage(t *testing.T) {
	store := artifact.NewMemStore()
	text, err := tools.ClipboardImage(t.Context(), store, []byte("png"))
	require.NoError(t, err)
	key := artifact.KeyOf([]byte("png"))
	require.Equal(t, key.Reference()+" (mime_type: image/png)", text)
	got, err := artifact.ReadAll(t.Context(), store, key, 10)
	require.NoError(t, err)
	require.True(t, bytes.Equal([]byte("png"), got))
	_, err = tools.ClipboardImage(t.Context(), nil, nil)
	require.Equal(t, framing.CodeArtifactUnavailable, code(t, err))
}
