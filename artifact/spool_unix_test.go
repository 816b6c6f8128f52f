//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/artifact"
)

// newSpool returns a Spool that is closed, successfully, when the test ends. An
// empty Dir is a new directory.
func newSpool(t testing.TB, opts artifact.Options) (*artifact.Spool, string) {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	s, err := artifact.NewSpool(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, opts.Dir
}

func save(t testing.TB, s *artifact.Spool, content string) string {
	t.Helper()
	saved, err := s.Save([]byte(content))
	require.NoError(t, err)
	return saved.Path
}

func create(t testing.TB, s *artifact.Spool) *artifact.Writer {
	t.Helper()
	w, err := s.Create()
	require.NoError(t, err)
	return w
}

func requireFile(t testing.TB, path, content string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, content, string(got))
}

func requireGone(t testing.TB, path string) {
	t.Helper()
	_, err := os.Lstat(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func requireEmpty(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func requireMode(t testing.TB, path string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode(), path)
}

func TestSavedLayoutAndModes(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{Prefix: "my-tool"})
	saved, err := s.Save([]byte("line 1\nline 2"))
	require.NoError(t, err)

	require.Equal(t, artifact.Saved{Path: saved.Path, Bytes: 13, Total: 13, Complete: true}, saved)
	require.Regexp(t, fmt.Sprintf("^%s/my-tool-%d-[0-9a-f]{32}/output$", regexp.QuoteMeta(dir), os.Geteuid()), saved.Path)
	own := filepath.Dir(saved.Path)
	requireMode(t, own, fs.ModeDir|0o300)
	requireMode(t, saved.Path, 0o600)
	requireMode(t, filepath.Join(own, "owner.lock"), 0o600)
	requireFile(t, saved.Path, "line 1\nline 2")
}

func TestEachArtifactHasItsDirectory(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{})
	paths := map[string]bool{}
	for range 20 {
		paths[save(t, s, "")] = true
	}
	require.Len(t, paths, 20)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 20)
}

func TestDefaultDirectoryIsTheSystems(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir+"/")
	s, err := artifact.NewSpool(artifact.Options{})
	require.NoError(t, err)
	path := save(t, s, "x")
	require.Equal(t, dir, filepath.Dir(filepath.Dir(path)))
	require.NotContains(t, path, "//")
	require.Regexp(t, `/tool-output-\d+-`, path)
	require.NoError(t, s.Close())
	requireEmpty(t, dir)
}

func TestUnsafeDirectory(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, dir string) string
		err     error
	}{
		"relative":        {func(*testing.T, string) string { return "relative" }, artifact.ErrUnsafeDir},
		"not UTF-8":       {under("a\xffb"), artifact.ErrUnsafeDir},
		"line feed":       {under("a\nb"), artifact.ErrUnsafeDir},
		"delete":          {under("a\x7fb"), artifact.ErrUnsafeDir},
		"next line":       {under("a\u0085b"), artifact.ErrUnsafeDir},
		"U+2028":          {under("a\u2028b"), artifact.ErrUnsafeDir},
		"U+2029":          {under("a\u2029b"), artifact.ErrUnsafeDir},
		"world-writable":  {mode(0o777), artifact.ErrUnsafeDir},
		"others only":     {mode(0o702), artifact.ErrUnsafeDir},
		"group-writable":  {mode(0o770), artifact.ErrUnsafeDir},
		"sticky":          {mode(0o777 | fs.ModeSticky), nil},
		"group, sticky":   {mode(0o770 | fs.ModeSticky), nil},
		"readable":        {mode(0o755), nil},
		"not listable":    {mode(0o300), nil},
		"spaces, unicode": {under("with space, Ünïcode, 雪"), nil},
		"other user's":    {chown, artifact.ErrUnsafeDir},
		"missing":         {func(_ *testing.T, dir string) string { return dir + "/missing" }, fs.ErrNotExist},
		"a file":          {file, unix.ENOTDIR},
		"a symbolic link": {link, nil},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir := test.prepare(t, base)
			s, _ := newSpool(t, artifact.Options{Dir: dir})
			saved, err := s.Save([]byte("x"))
			require.ErrorIs(t, err, test.err)
			if test.err == nil {
				requireFile(t, saved.Path, "x")
				require.Equal(t, dir, filepath.Dir(filepath.Dir(saved.Path)))
				require.NoError(t, s.Close())
			}
			require.NoError(t, os.Chmod(base, 0o700))
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				requireEmpty(t, dir)
			}
		})
	}
}

func under(name string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		dir = filepath.Join(dir, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Skipf("the file system does not take the name: %v", err)
		}
		return dir
	}
}

func mode(mode fs.FileMode) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		require.NoError(t, os.Chmod(dir, mode))
		return dir
	}
}

func chown(t *testing.T, dir string) string {
	needRoot(t)
	require.NoError(t, os.Chown(dir, nobody, nobody))
	return dir
}

func file(t *testing.T, dir string) string {
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	return path
}

func link(t *testing.T, dir string) string {
	target := filepath.Join(dir, "target")
	require.NoError(t, os.Mkdir(target, 0o700))
	path := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(target, path))
	return path
}
