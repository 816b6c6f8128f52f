//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/workspace"
)

func TestResolveJoinsWithoutCleaning(t *testing.T) {
	ws, err := workspace.New(t.TempDir())
	require.NoError(t, err)
	for _, tt := range []struct{ dir, path, want string }{
		{"", "a.txt", ws.Dir() + "/a.txt"},
		{"", "link/..", ws.Dir() + "/link/.."},
		{"", "./a//b/", ws.Dir() + "/./a//b/"},
		{"", "..", ws.Dir() + "/.."},
		{"", "~/a", ws.Dir() + "/~/a"},
		{"", "$HOME", ws.Dir() + "/$HOME"},
		{"", "", ws.Dir() + "/"},
		{"", "/abs/../x/", "/abs/../x/"},
		{"", "/", "/"},
		{"/other", "a.txt", "/other/a.txt"},
		{"/other/", "a.txt", "/other/a.txt"},
		{"/other", "/abs", "/abs"},
		{"/", "a.txt", "/a.txt"},
		{"/", "", "/"},
	} {
		require.Equal(t, tt.want, ws.Resolve(tt.dir, tt.path), "%q from %q", tt.path, tt.dir)
	}
}

func TestParentOfLinkIsParentOfTarget(t *testing.T) {
	ws := tree(t, "here.txt", "far/away/x", "far/there.txt")
	require.NoError(t, os.Symlink("far/away", ws.Dir()+"/link"))

	require.Equal(t, "far/there.txt", contents(t, ws, "link/../there.txt"))
	_, err := ws.Open(t.Context(), "", "link/../here.txt")
	require.ErrorIs(t, err, workspace.ErrNotFound)

	d, err := ws.OpenDir(t.Context(), "", "link/..")
	require.NoError(t, err)
	defer d.Close() //nolint:errcheck // a directory
	entries, err := d.ReadDir(10)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.ElementsMatch(t, []string{"away", "there.txt"}, names)
}

func TestNewMakesTheDirectoryCanonical(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir+"/far/away", 0o777))
	require.NoError(t, os.Symlink("far/away", dir+"/link"))
	t.Chdir(dir)

	for _, tt := range []struct{ given, want string }{
		{"", dir},
		{".", dir},
		{dir + "/", dir},
		{dir + "/./far//away/", dir + "/far/away"},
		{dir + "/link", dir + "/far/away"},
		{"link", dir + "/far/away"},
		{"far/..", dir},
		{"/", "/"},
	} {
		ws, err := workspace.New(tt.given)
		require.NoError(t, err, tt.given)
		require.Equal(t, tt.want, ws.Dir(), tt.given)
	}
}

func TestNewParentOfLinkIsParentOfTarget(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir+"/far/away", 0o777))
	require.NoError(t, os.Symlink("far/away", dir+"/link"))
	t.Chdir(dir)

	for _, given := range []string{dir + "/link/..", "link/.."} {
		ws, err := workspace.New(given)
		require.NoError(t, err)
		require.Equal(t, dir+"/far", ws.Dir(), given)
	}
}

func TestNewErrors(t *testing.T) {
	dir := tree(t, "file").Dir()
	require.NoError(t, os.Symlink("loop", dir+"/loop"))
	require.NoError(t, os.Symlink("nowhere", dir+"/dangling"))
	for _, tt := range []struct{ name, path, code string }{
		{"missing", "/none", framing.CodeNotFound},
		{"dangling link", "/dangling", framing.CodeNotFound},
		{"through a file", "/file/x", framing.CodeNotDirectory},
		{"regular file", "/file", framing.CodeNotDirectory},
		{"loop", "/loop", framing.CodeLoop},
		{"name too long", "/" + strings.Repeat("n", 256), framing.CodeIO},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := workspace.New(dir + tt.path)
			var e *workspace.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.code, e.Code, "%v", err)
		})
	}
}

func TestNewFSNeedsAnAbsoluteDirectory(t *testing.T) {
	for _, dir := range []string{"", ".", "testing"} {
		_, err := workspace.NewFS(t.Context(), fakeFS{}, dir)
		require.Error(t, err, "%q", dir)
	}
}
