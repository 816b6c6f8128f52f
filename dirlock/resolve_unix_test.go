//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
)

// tree makes directories ("a/"), files ("f"), links ("l -> target") and FIFOs
// ("p|") in a new directory and returns its canonical path.
func tree(t testing.TB, entries ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, entry := range entries {
		name, target, link := strings.Cut(entry, " -> ")
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case link:
			require.NoError(t, os.Symlink(strings.ReplaceAll(target, "ROOT", root), path))
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(path, 0o755))
		case strings.HasSuffix(name, "|"):
			require.NoError(t, syscall.Mkfifo(strings.TrimSuffix(path, "|"), 0o600))
		default:
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		}
	}
	return root
}

// A lookup is a case of one of the functions that resolve paths: want is below
// the root, or a code.
type lookup struct{ path, want string }

func checkLookups(t *testing.T, root string, resolve func(base, path string) (string, error), lookups []lookup) {
	t.Helper()
	for _, l := range lookups {
		path := strings.ReplaceAll(l.path, "ROOT", root)
		got, err := resolve(root, path)
		if strings.ToUpper(l.want) == l.want && l.want != "" {
			var e *dirlock.Error
			require.ErrorAs(t, err, &e, l.path)
			require.Equal(t, l.want, e.Code, "%s: %v", l.path, err)
			continue
		}
		require.NoError(t, err, l.path)
		require.Equal(t, filepath.Join(root, l.want), got, l.path)
	}
}

var resolveTree = []string{
	"a/b/", "c/", "f", "p|",
	"ab -> a/b", "abs -> ROOT/a", "up -> ..", "file -> f", "gone -> missing/x", "chain -> ab", "loop -> loop2", "loop2 -> loop",
	"c/back -> ../a", "pipe -> p", "newfile -> c/new", "c/f -> ../f",
}

func TestCanonical(t *testing.T) {
	root := tree(t, resolveTree...)
	checkLookups(t, root, dirlock.Canonical, []lookup{
		{".", ""},
		{"a", "a"},
		{"a/", "a"},
		{"a//b/.", "a/b"},
		{"a/../c", "c"},
		{"ab", "a/b"},
		{"ab/..", "a"}, // the parent of the target
		{"ab/../../c", "c"},
		{"chain/..", "a"},
		{"abs/b", "a/b"},
		{"c/back/b", "a/b"},
		{"ROOT/c", "c"},
		{"a/b/../../../" + filepath.Base(root), ""},
		{"", "FS_NOT_FOUND"},
		{"x", "FS_NOT_FOUND"},
		{"x/../a", "FS_NOT_FOUND"},
		{"gone", "FS_NOT_FOUND"},
		{"gone/..", "FS_NOT_FOUND"},
		{"f", "FS_NOT_DIRECTORY"},
		{"file", "FS_NOT_DIRECTORY"},
		{"f/..", "FS_NOT_DIRECTORY"},
		{"f/.", "FS_NOT_DIRECTORY"},
		{"p", "FS_NOT_DIRECTORY"},
		{"pipe", "FS_NOT_DIRECTORY"},
		{"p/x", "FS_NOT_DIRECTORY"},
		{"loop", "FS_LOOP"},
		{"loop/x", "FS_LOOP"},
		{"~", "FS_NOT_FOUND"},
		{"$HOME", "FS_NOT_FOUND"},
		{"a\x00b", "FS_IO"},
		{strings.Repeat("x", 300), "FS_IO"},
	})
	for up := root; ; up = filepath.Dir(up) {
		if got, err := dirlock.Canonical("/", strings.Repeat("../", 3)+up); err != nil || up == "/" {
			require.NoError(t, err)
			require.Equal(t, "/", got)
			break
		}
	}
	_, err := dirlock.Canonical("relative", "a")
	require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeInternal})
	got, err := dirlock.Canonical(root+"/ab", "..") // a base need not be canonical
	require.NoError(t, err)
	require.Equal(t, root+"/a", got)
}

func TestWriteDir(t *testing.T) {
	root := tree(t, resolveTree...)
	checkLookups(t, root, dirlock.WriteDir, []lookup{
		{"f", ""},
		{"a/b/new", "a/b"},
		{"a/new/dir/f", "a"},
		{"file", ""},      // a link to a file here
		{"c/f", ""},       // and there
		{"newfile", "c"},  // a link to a file that is not there
		{"gone", ""},      // nor its directory
		{"ab/new", "a/b"}, // a link in the middle
		{"ab/../new", "a"},
		{"a", ""}, // a directory: that of its name
		{"ab", "a"},
		{"a/b/..", ""},
		{"a/b/.", "a"},
		{"p", ""},
		{"new/", ""},
		{"new/./f", ""},
		{"new/../f", "FS_NOT_FOUND"},
		{"gone/f", "FS_NOT_FOUND"}, // a link in the middle must lead somewhere
		{"f/x", "FS_NOT_DIRECTORY"},
		{"f/", "FS_NOT_DIRECTORY"},
		{"p/x", "FS_NOT_DIRECTORY"},
		{"loop", "FS_LOOP"},
		{"loop/f", "FS_LOOP"},
		{"", "FS_NOT_FOUND"},
	})
}

func TestEntryDir(t *testing.T) {
	root := tree(t, resolveTree...)
	checkLookups(t, root, dirlock.EntryDir, []lookup{
		{"f", ""},
		{"file", ""},
		{"c/f", "c"}, // the link, not what it leads to
		{"c/f/", "c"},
		{"gone", ""},
		{"loop", ""},
		{"ab/x", "a/b"},
		{"ab", ""},
		{"a/b/..", ""},
		{"ab/.", "a"},
		{"ROOT/c/f", "c"},
		{"x/f", "FS_NOT_FOUND"},
		{"f/x", "FS_NOT_DIRECTORY"},
		{"loop/x", "FS_LOOP"},
	})
	dir, err := dirlock.EntryDir("/", "/tmp")
	require.NoError(t, err)
	require.Equal(t, "/", dir)
}

func TestUnlockDir(t *testing.T) {
	const noDir = "none"
	root := tree(t, resolveTree...)
	for _, tt := range []struct{ path, want, code string }{
		{"ab", "a/b", ""},
		{"ab/gone/x", "a/b/gone/x", "FS_NOT_FOUND"},
		{"f", "f", "FS_NOT_DIRECTORY"}, // it was a directory before
		{"f/x", "f/x", "FS_NOT_DIRECTORY"},
		{"x", "x", "FS_NOT_FOUND"},
		{"x/./y/.", "x/y", "FS_NOT_FOUND"},
		{"f/.", "f", "FS_NOT_DIRECTORY"},
		{"f/..", noDir, "FS_NOT_DIRECTORY"}, // as for the kernel, there is nothing behind it
		{"f/x/../..", noDir, "FS_NOT_DIRECTORY"},
		{"x/../a", noDir, "FS_NOT_FOUND"},
		{"gone/../a", noDir, "FS_NOT_FOUND"},
		{"loop/..", noDir, "FS_LOOP"},
	} {
		got, err := dirlock.UnlockDir(root, tt.path)
		want := filepath.Join(root, tt.want)
		if tt.want == noDir {
			want = ""
		}
		require.Equal(t, want, got, tt.path)
		if tt.code == "" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, &dirlock.Error{Code: tt.code})
		}
	}
}

func TestLinksAreFollowedFortyTimes(t *testing.T) {
	entries := []string{"l0/"}
	for n := 1; n <= dirlock.MaxLinks+1; n++ {
		entries = append(entries, "l"+strconv.Itoa(n)+" -> l"+strconv.Itoa(n-1))
	}
	root := tree(t, entries...)
	checkLookups(t, root, dirlock.Canonical, []lookup{{"l40", "l0"}, {"l41", "FS_LOOP"}})
	checkLookups(t, root, dirlock.WriteDir, []lookup{{"l40/f", "l0"}, {"l41/f", "FS_LOOP"}})
}

// checkLikeTheKernel compares Canonical with what the kernel makes of a path.
func checkLikeTheKernel(t *testing.T, root, path string) {
	t.Helper()
	want, statErr := os.Stat(root + "/" + path)
	got, err := dirlock.Canonical(root, "./"+path)
	if statErr != nil || !want.IsDir() {
		require.Error(t, err, "%q", path)
		return
	}
	require.NoError(t, err, "%q", path)
	info, err := os.Lstat(got)
	require.NoError(t, err)
	require.True(t, os.SameFile(want, info), "%q gives %q", path, got)
	clean, err := filepath.EvalSymlinks(got)
	require.NoError(t, err)
	require.Equal(t, clean, got)
}

func TestCanonicalIsLikeTheKernel(t *testing.T) {
	root := tree(t, resolveTree...)
	names := []string{"a", "b", "c", "f", "ab", "abs", "up", "file", "gone", "chain", "back", "..", ".", "", "x", filepath.Base(root)}
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var parts []string
		for range 1 + r.IntN(6) {
			parts = append(parts, names[r.IntN(len(names))])
		}
		checkLikeTheKernel(t, root, strings.Join(parts, "/"))
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"ab/../c", "a//b/./..", "loop/x", "gone/..", "c/back/../..", "f/", "\xff", "up/../a"} {
		f.Add(seed)
	}
	root := tree(f, resolveTree...)
	f.Fuzz(func(t *testing.T, path string) {
		if strings.ContainsRune(path, 0) || len(path) > 1000 {
			t.Skip()
		}
		checkLikeTheKernel(t, root, path)
		if dir, err := dirlock.WriteDir(root, path); err == nil {
			again, err := dirlock.Canonical("/", dir)
			require.NoError(t, err)
			require.Equal(t, dir, again)
		}
	})
}

func TestIdentifyFindsOtherNames(t *testing.T) {
	root := tree(t, "a/b/")
	d := dirlock.Identify(root + "/a/b")
	require.Len(t, d.Chain, 1+strings.Count(d.Path, "/"))
	parent := dirlock.Identify(root + "/a")
	require.Equal(t, parent.Chain, d.Chain[:len(d.Chain)-1])
	require.NotContains(t, d.Chain, dirlock.Identity{})
	missing := dirlock.Identify(root + "/a/x")
	require.Equal(t, dirlock.Identity{}, missing.Chain[len(missing.Chain)-1])
	require.Len(t, dirlock.Identify("/").Chain, 1)
}
