package search

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree makes a directory with files, given as path and content in turn. A path
// that ends in a slash is a directory, and its content is not used.
func tree(t testing.TB, files ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(root, filepath.FromSlash(files[i]))
		if strings.HasSuffix(files[i], "/") {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(files[i+1]), 0o600))
	}
	return root
}

// noUser keeps the git configuration of whoever runs the test out of it.
func noUser(t testing.TB) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
}

func walk(t testing.TB, o WalkOptions) []string {
	t.Helper()
	var paths []string
	for path, err := range Walk(t.Context(), o) {
		require.NoError(t, err)
		paths = append(paths, path)
	}
	return paths
}

func mustCompile(t testing.TB, pattern string) *Pattern {
	t.Helper()
	p, err := Compile(pattern, PatternOptions{})
	require.NoError(t, err)
	return p
}

func mustGlob(t testing.TB, glob string) *Glob {
	t.Helper()
	g, err := CompileGlob(glob)
	require.NoError(t, err)
	return g
}

func mustFilter(t testing.TB, filter string) *Filter {
	t.Helper()
	f, err := CompileFilter(filter)
	require.NoError(t, err)
	return f
}

// grep returns the records of a search, and the error that ended it.
func grep(ctx context.Context, o GrepOptions) (records string, err error) {
	var out []byte
	for m, err := range Grep(ctx, o) {
		if err != nil {
			return string(out), err
		}
		if !m.Continued {
			out, _ = AppendHeading(out, m.Path)
			out = append(out, '\n')
		}
		for _, l := range m.Lines {
			out, _ = AppendLine(out, l)
			out = append(out, '\n')
		}
	}
	return string(out), nil
}

func mustGrep(t testing.TB, o GrepOptions) string {
	t.Helper()
	out, err := grep(t.Context(), o)
	require.NoError(t, err)
	return out
}
