//go:build unix

package search

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestDotDotBehindASymbolicLink(t *testing.T) {
	noUser(t)
	top := tree(t, "work/a", "needle\n", "far/dir/b", "needle\n", "far/c", "needle\n", "work/file", "")
	require.NoError(t, os.Symlink(filepath.Join(top, "far", "dir"), filepath.Join(top, "work", "link")))
	t.Chdir(filepath.Join(top, "work"))
	needle := mustCompile(t, "needle")
	for _, root := range []string{"link/..", "link/../", "./link/../.", top + "/work/link/..", "link/../dir/.."} {
		o := WalkOptions{Root: root}
		require.Equal(t, []string{"c", "dir/b"}, walk(t, o), root)
		require.Equal(t, "c\n1:needle\ndir/b\n1:needle\n", mustGrep(t, GrepOptions{WalkOptions: o, Pattern: needle}), root)
	}
	require.Equal(t, "\n1:needle\n", mustGrep(t, GrepOptions{WalkOptions: WalkOptions{Root: "link/../c"}, Pattern: needle}))
	require.Equal(t, []string{"a", "file"}, walk(t, WalkOptions{}))

	for root, errno := range map[string]syscall.Errno{
		"missing/../link": syscall.ENOENT,
		"file/..":         syscall.ENOTDIR,
		"file/":           syscall.ENOTDIR,
		"file/.":          syscall.ENOTDIR,
	} {
		_, err := grep(t.Context(), GrepOptions{WalkOptions: WalkOptions{Root: root}, Pattern: needle})
		require.ErrorIs(t, err, errno, root)
		for _, err := range Walk(t.Context(), WalkOptions{Root: root}) {
			require.ErrorIs(t, err, errno, root)
		}
	}
}

func TestWalkOfASpecialFile(t *testing.T) {
	root := tree(t)
	t.Chdir(root) // the path of a socket must be short
	require.NoError(t, unix.Mkfifo("p", 0o600))
	l, err := net.Listen("unix", "s")
	require.NoError(t, err)
	defer l.Close()
	for _, name := range []string{"p", "s", "/dev/null"} {
		calls := 0
		for _, err := range Walk(t.Context(), WalkOptions{Root: name}) {
			calls++
			require.ErrorIs(t, err, ErrNotDirectory, name)
			var e *fs.PathError
			require.ErrorAs(t, err, &e)
			require.Equal(t, name, e.Path)
		}
		require.Equal(t, 1, calls)
	}
}

func TestWholePathsOnlyUnderTheLiteralPrefix(t *testing.T) {
	if asNobody(t) {
		return
	}
	noUser(t)
	root := tree(t, "src/a/x.go", "", "src/a/x.ts", "", "src/b/y.go", "", "lib/z.go", "")
	deny(t, root+"/src/b", root+"/lib")
	for glob, want := range map[string][]string{
		"src/a/*.go":             {"src/a/x.go"},
		"src/a/**/*.{ts,go}":     {"src/a/x.go", "src/a/x.ts"},
		"src/{a/x,a/y}.{go,c}":   {"src/a/x.go"},
		"{src/a/*.go,src/a/d/*}": {"src/a/x.go"},
		"src/a/{x,y/z}.go":       {"src/a/x.go"},
		"src/a/{x.go,**/y}":      {"src/a/x.go"},
	} {
		var u unsearched
		require.Equal(t, want, walk(t, WalkOptions{Root: root, Glob: mustGlob(t, glob), Errors: u.add}), glob)
		require.Empty(t, u, glob)
	}
	for glob, want := range map[string]unsearched{
		"{src,lib}/a/*": {"lib: permission denied", "src/b: permission denied"},
		"src/*/x.go":    {"src/b: permission denied"},
		"src/{a,b}/*":   {"src/b: permission denied"},
	} {
		var u unsearched
		walk(t, WalkOptions{Root: root, Glob: mustGlob(t, glob), Errors: u.add})
		require.Equal(t, want, u, glob)
	}
}
