//go:build unix

package workspace_test

import (
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/workspace"
)

// zoo returns a workspace with one entry of each kind, and a symbolic link
// "to-KIND" to each.
func zoo(t *testing.T) *workspace.Workspace {
	t.Helper()
	ws := tree(t, "regular")
	at := func(name string) string { return filepath.Join(ws.Dir(), name) }
	require.NoError(t, os.WriteFile(at("empty"), nil, 0o666))
	require.NoError(t, os.Mkdir(at("dir"), 0o777))
	require.NoError(t, unix.Mkfifo(at("fifo"), 0o666))
	listen(t, at("socket"))
	require.NoError(t, os.Symlink("/dev/null", at("null")))
	require.NoError(t, os.Symlink("/dev/zero", at("zero")))
	require.NoError(t, os.Symlink("nowhere", at("dangling")))
	require.NoError(t, os.Symlink("loop", at("loop")))
	for _, name := range []string{"regular", "empty", "dir", "fifo", "socket", "null", "zero", "dangling", "loop"} {
		require.NoError(t, os.Symlink(name, at("to-"+name)))
	}
	return ws
}

// listen makes a unix socket. The address of one is shorter than most paths,
// so it is bound from within its directory.
func listen(t *testing.T, path string) {
	t.Helper()
	t.Chdir(filepath.Dir(path))
	l, err := net.Listen("unix", filepath.Base(path))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
}

func TestOpenTakesRegularFilesOnly(t *testing.T) {
	ws := zoo(t)
	require.Equal(t, "regular", contents(t, ws, "regular"))
	require.Equal(t, "regular", contents(t, ws, "to-regular"))
	require.Equal(t, "regular", contents(t, ws, ws.Dir()+"/dir/../regular"))
	require.Empty(t, contents(t, ws, "to-empty"))

	for _, tt := range []struct {
		path, code, reason string
		is                 error
	}{
		{"dir", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{"dir/", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{".", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{"/", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{"fifo", framing.CodeNotRegular, "not a regular file", workspace.ErrNotRegular},
		{"socket", framing.CodeNotRegular, "not a regular file", workspace.ErrNotRegular},
		{"null", framing.CodeNotRegular, "not a regular file", workspace.ErrNotRegular},
		{"zero", framing.CodeNotRegular, "not a regular file", workspace.ErrNotRegular},
		{"dangling", framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"missing", framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"missing/x", framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"loop", framing.CodeLoop, "too many levels of symbolic links", workspace.ErrLoop},
		{"loop/x", framing.CodeLoop, "too many levels of symbolic links", workspace.ErrLoop},
		{"regular/x", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{"regular/", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{strings.Repeat("n", 256), framing.CodeIO, "file name too long", nil},
		{strings.Repeat("d/", 2100) + "x", framing.CodeIO, "file name too long", nil},
	} {
		for _, path := range []string{tt.path, "to-" + tt.path} {
			if path != tt.path && !exists(ws.Dir()+"/"+path) {
				continue
			}
			f, err := ws.Open(t.Context(), "", path)
			requireError(t, err, "read", ws.Resolve("", path), tt.code, tt.reason, tt.is)
			require.Nil(t, f)
		}
	}
}

func TestOpenDirTakesDirectoriesOnly(t *testing.T) {
	ws := zoo(t)
	for _, path := range []string{"dir", "to-dir", "dir/", "to-dir/", "dir/.", ".", "..", "/"} {
		d, err := ws.OpenDir(t.Context(), "", path)
		require.NoError(t, err, path)
		require.NoError(t, d.Close())
	}
	for _, tt := range []struct {
		path, code, reason string
		is                 error
	}{
		{"regular", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{"fifo", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{"socket", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{"null", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{"dangling", framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"loop", framing.CodeLoop, "too many levels of symbolic links", workspace.ErrLoop},
	} {
		for _, path := range []string{tt.path, "to-" + tt.path} {
			d, err := ws.OpenDir(t.Context(), "", path)
			requireError(t, err, "list", ws.Resolve("", path), tt.code, tt.reason, tt.is)
			require.Nil(t, d)
		}
	}
}

func TestDirectoryTellsNamesAndTypes(t *testing.T) {
	ws := zoo(t)
	d, err := ws.OpenDir(t.Context(), "", "")
	require.NoError(t, err)
	defer d.Close() //nolint:errcheck // a directory

	types := map[string]fs.FileMode{}
	for err == nil {
		var batch []fs.DirEntry
		batch, err = d.ReadDir(3)
		require.LessOrEqual(t, len(batch), 3)
		for _, e := range batch {
			types[e.Name()] = e.Type()
		}
	}
	require.Equal(t, io.EOF, err)
	require.Len(t, types, 18)
	require.NotContains(t, types, ".")

	for name, want := range map[string]fs.FileMode{
		"regular": 0, "empty": 0, "dir": fs.ModeDir, "fifo": fs.ModeNamedPipe, "socket": fs.ModeSocket,
		"dangling": fs.ModeSymlink, "loop": fs.ModeSymlink, "to-dir": fs.ModeSymlink, "to-regular": fs.ModeSymlink,
	} {
		require.Equal(t, want, types[name], name)
	}
}

func TestTypeOfDevices(t *testing.T) {
	ws := tree(t)
	d, err := ws.OpenDir(t.Context(), "", "/dev")
	require.NoError(t, err)
	defer d.Close() //nolint:errcheck // a directory
	entries, err := d.ReadDir(1 << 16)
	require.NoError(t, err)
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "null" })
	require.Equal(t, fs.ModeDevice, entries[i].Type()&fs.ModeDevice)
}

func TestTypeIsAboutTheOpenDirectory(t *testing.T) {
	ws := tree(t, "old/name", "new/name/x")
	d, err := ws.OpenDir(t.Context(), "", "old")
	require.NoError(t, err)
	defer d.Close() //nolint:errcheck // a directory
	require.NoError(t, os.Rename(ws.Dir()+"/old", ws.Dir()+"/gone"))
	require.NoError(t, os.Rename(ws.Dir()+"/new", ws.Dir()+"/old"))
	entries, err := d.ReadDir(8)
	require.NoError(t, err)
	require.Zero(t, entries[0].Type(), "of the file, not of the directory that has its path now")
}

func TestTypesNeedNoPermissionToSearch(t *testing.T) {
	ws := tree(t, "d/sub/x")
	require.NoError(t, os.Chmod(ws.Dir()+"/d", 0o400))
	t.Cleanup(func() { _ = os.Chmod(ws.Dir()+"/d", 0o700) })
	d, err := ws.OpenDir(t.Context(), "", "d")
	require.NoError(t, err)
	defer d.Close() //nolint:errcheck // a directory
	entries, err := d.ReadDir(8)
	require.NoError(t, err)
	require.Equal(t, fs.ModeDir, entries[0].Type())
}

func TestOpenFileOutlivesItsName(t *testing.T) {
	ws := tree(t, "a", "b")
	f, err := ws.Open(t.Context(), "", "a")
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	require.NoError(t, os.Rename(ws.Dir()+"/b", ws.Dir()+"/a"))
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "a", string(data))
	require.EqualValues(t, 1, f.Size())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
