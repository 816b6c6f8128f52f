package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/workspace"
)

// change begins a change that ends with the test.
func change(t *testing.T, ws *workspace.Workspace, op, path string) *workspace.Change {
	t.Helper()
	c, err := ws.Change(t.Context(), op, "", path)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// write gives a file new content after it was read, if it exists.
func write(t *testing.T, ws *workspace.Workspace, path, content string) workspace.Outcome {
	t.Helper()
	c := change(t, ws, workspace.OpWrite, path)
	defer c.Close()
	out, err := c.Commit(t.Context(), []byte(content), nil)
	require.NoError(t, err)
	return out
}

func requireContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestCommitReplacesContent(t *testing.T) {
	ws := tree(t, "f")
	c := change(t, ws, workspace.OpEdit, "f")
	require.True(t, c.Exists())
	require.Equal(t, workspace.Target{Key: filepath.Join(ws.Dir(), "f"), Display: "f"}, c.Target())
	require.Equal(t, ws.Dir(), c.Dir())
	old, err := c.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "f", string(old))

	out, err := c.Commit(t.Context(), []byte("new content"), nil)
	require.NoError(t, err)
	require.Equal(t, workspace.Outcome{Changed: true, Before: []byte("f")}, out)
	require.Equal(t, "new content", contents(t, ws, "f"))
	require.Equal(t, []string{"f"}, names(t, ws.Dir()))
}

func TestCommitOfTheSameContentWritesNothing(t *testing.T) {
	ws := tree(t, "f")
	before, err := os.Stat(filepath.Join(ws.Dir(), "f"))
	require.NoError(t, err)
	out := write(t, ws, "f", "f")
	require.Equal(t, workspace.Outcome{Before: []byte("f")}, out)
	after, err := os.Stat(filepath.Join(ws.Dir(), "f"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	require.Equal(t, before.ModTime(), after.ModTime())
}

func TestCommitCreates(t *testing.T) {
	ws := tree(t, "dir/x")
	for _, path := range []string{"new", "dir/new", "a/b/c/new", "a/./b//d/new", "dir/../e/new"} {
		c := change(t, ws, workspace.OpWrite, path)
		require.False(t, c.Exists())
		_, err := c.Read(t.Context())
		require.ErrorIs(t, err, workspace.ErrNotFound)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.EqualError(t, err, fmt.Sprintf(`cannot write "%s": no such file or directory`, path))
		out, err := c.Commit(t.Context(), nil, nil)
		require.NoError(t, err, path)
		require.Equal(t, workspace.Outcome{Created: true, Changed: true}, out)
		c.Close()
		require.Empty(t, contents(t, ws, path))
		require.Equal(t, filepath.Join(ws.Dir(), path), c.Target().Key)
	}
	require.Equal(t, []string{"a", "dir", "e", "new"}, names(t, ws.Dir()))
}

func TestKeyIsTheSameBeforeAndAfterCreation(t *testing.T) {
	ws := tree(t)
	before := change(t, ws, workspace.OpWrite, "a/b/f").Target()
	after, err := ws.Target(t.Context(), ws.Dir()+"/a/..", "./a/b/f")
	require.ErrorIs(t, err, workspace.ErrNotFound, "through a directory that is not there yet")
	require.Zero(t, after)
	require.NoError(t, os.MkdirAll(filepath.Join(ws.Dir(), "a", "b"), 0o777))
	for range 2 {
		after, err = ws.Target(t.Context(), ws.Dir()+"/a/..", "./a/b/f")
		require.NoError(t, err)
		require.Equal(t, before.Key, after.Key)
		require.Equal(t, "./a/b/f", after.Display)
		require.NoError(t, os.WriteFile(before.Key, nil, 0o666))
	}
}

func TestPathsThatNameNoFile(t *testing.T) {
	ws := tree(t, "file", "dir/x")
	for _, tt := range []struct {
		path, code, reason string
		is                 error
	}{
		{"dir", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{"dir/", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{".", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{"dir/..", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{"/", framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{"missing/", framing.CodeInvalidArguments, "path must name a file", workspace.ErrNoFileName},
		{"missing/.", framing.CodeInvalidArguments, "path must name a file", workspace.ErrNoFileName},
		{"missing/..", framing.CodeInvalidArguments, "path must name a file", workspace.ErrNoFileName},
		{"missing/../x", framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"missing/a/../x", framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"dir/missing/../x/y", framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"file/x", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{"file/x/y", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{"file/", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{"file/../x", framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
	} {
		_, err := ws.Change(t.Context(), workspace.OpEdit, "", tt.path)
		requireError(t, err, workspace.OpEdit, tt.path, tt.code, tt.reason, tt.is)
		require.Equal(t, tt.code, workspace.CodeOf(err))
	}
	require.Equal(t, []string{"dir", "file"}, names(t, ws.Dir()))
}

func TestRequire(t *testing.T) {
	ws := tree(t, "f")
	v := workspace.VersionOf([]byte("f"))
	for _, tt := range []struct {
		op, path string
		expect   workspace.Expect
		is       error
		message  string
	}{
		{workspace.OpEdit, "f", workspace.Any(), nil, ""},
		{workspace.OpEdit, "f", workspace.IfVersion(v), nil, ""},
		{workspace.OpEdit, "new", workspace.Any(), nil, ""},
		{workspace.OpEdit, "new", workspace.IfAbsent(), nil, ""},
		{workspace.OpEdit, "f", workspace.IfVersion("x"), workspace.ErrStaleVersion, `cannot edit "f": file changed since it was read`},
		{workspace.OpEdit, "f", workspace.IfVersion(""), workspace.ErrStaleVersion, `cannot edit "f": file changed since it was read`},
		{workspace.OpWrite, "f", workspace.IfVersion("x"), workspace.ErrStaleVersion, `cannot write "f": file changed since it was read`},
		{workspace.OpEdit, "new", workspace.IfVersion(v), workspace.ErrStaleVersion, `cannot edit "new": file changed since it was read`},
		{workspace.OpDelete, "new", workspace.IfVersion(v), workspace.ErrStaleVersion, `cannot delete "new": file changed since it was read`},
		{workspace.OpWrite, "new", workspace.IfVersion(v), workspace.ErrStaleVersion, `cannot write "new": file no longer exists`},
		{workspace.OpWrite, "f", workspace.IfAbsent(), workspace.ErrNotObserved, `cannot overwrite existing "f" without reading it first`},
		{workspace.OpEdit, "f", workspace.IfAbsent(), workspace.ErrNotObserved, `edit requires reading "f" first`},
	} {
		c := change(t, ws, tt.op, tt.path)
		err := c.Require(t.Context(), tt.expect)
		if tt.is == nil {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, tt.is)
			require.EqualError(t, err, tt.message)
			require.Equal(t, tt.path == "new", errors.Is(err, fs.ErrNotExist), "gone: %v", err)
		}
		c.Close()
	}
}

// TestWhatHappensBeforeTheLastLook changes the file at the very last moment:
// when the change asks its check.
func TestWhatHappensBeforeTheLastLook(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(path string) error
		ok   bool
		gone bool
	}{
		{"nothing", func(string) error { return nil }, true, false},
		{"touched", touch, true, false},
		{"written with the same bytes", func(p string) error { return os.WriteFile(p, []byte("file"), 0o666) }, true, false},
		{"replaced by the same bytes", replaceWith("file"), true, false},
		{"changed", func(p string) error { return os.WriteFile(p, []byte("other"), 0o666) }, false, false},
		{"changed to the same size and time", sameSizeAndTime, false, false},
		{"replaced", replaceWith("elif"), false, false},
		{"removed", os.Remove, false, true},
		{"became a directory", func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o777)) }, false, false},
		{"became a link", func(p string) error { return errors.Join(os.Rename(p, p+"2"), os.Symlink(p+"2", p)) }, false, false},
	} {
		for _, way := range []string{"commit", "commit in place", "remove"} {
			t.Run(tt.name+"/"+way, func(t *testing.T) {
				ws := tree(t, "file")
				path := filepath.Join(ws.Dir(), "file")
				if way == "commit in place" {
					require.NoError(t, os.Link(path, path+" link"))
				}
				c := change(t, ws, workspace.OpEdit, "file")
				_, err := c.Read(t.Context())
				require.NoError(t, err)
				check := func(context.Context) error { return tt.do(path) }
				if way == "remove" {
					err = c.Remove(t.Context(), check)
				} else {
					_, err = c.Commit(t.Context(), []byte("new"), check)
				}
				for _, name := range names(t, ws.Dir()) {
					require.NotContains(t, name, ".file", "no temporary file")
				}
				if tt.ok {
					require.NoError(t, err)
					if way == "remove" {
						require.NoFileExists(t, path)
					} else {
						requireContent(t, path, "new")
					}
					return
				}
				require.ErrorIs(t, err, workspace.ErrStaleVersion)
				require.EqualError(t, err, `cannot edit "file": file changed since it was read`)
				require.Equal(t, tt.gone, errors.Is(err, fs.ErrNotExist))
			})
		}
	}
}

func touch(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	later := info.ModTime().Add(1e9)
	return os.Chtimes(path, later, later)
}

func replaceWith(content string) func(string) error {
	return func(path string) error {
		return errors.Join(os.WriteFile(path+"~", []byte(content), 0o666), os.Rename(path+"~", path))
	}
}

func sameSizeAndTime(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, []byte("elif"), 0o666), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// TestWhatHappensAfterReading changes the file between its reading and the
// commit: however that shows first, the file is not what was read.
func TestWhatHappensAfterReading(t *testing.T) {
	for name, do := range map[string]func(path string) error{
		"removed":                      os.Remove,
		"removed with its directory":   func(p string) error { return os.RemoveAll(filepath.Dir(p)) },
		"became a directory":           func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o777)) },
		"became a link":                func(p string) error { return errors.Join(os.Rename(p, p+"2"), os.Symlink(p+"2", p)) },
		"changed, with the old time":   sameSizeAndTime,
		"became larger than is edited": func(p string) error { return os.Truncate(p, workspace.MaxEditBytes+1) },
	} {
		t.Run(name, func(t *testing.T) {
			ws := tree(t, "d/file")
			path := filepath.Join(ws.Dir(), "d", "file")
			long := time.Now().Add(-time.Hour) // ago: the time itself proves nothing
			require.NoError(t, os.WriteFile(path, []byte("file"), 0o666))
			require.NoError(t, os.Chtimes(path, long, long))
			v := workspace.VersionOf([]byte("file"))
			c := change(t, ws, workspace.OpWrite, "d/file")
			require.NoError(t, c.Require(t.Context(), workspace.IfVersion(v)))
			require.NoError(t, do(path))
			_, err := c.Commit(t.Context(), []byte("new"), nil)
			require.ErrorIs(t, err, workspace.ErrStaleVersion)
			gone := strings.HasPrefix(name, "removed")
			require.Equal(t, gone, errors.Is(err, fs.ErrNotExist))
			if gone {
				require.EqualError(t, err, `cannot write "d/file": file no longer exists`)
			}
		})
	}
}

func TestWorkspacesOfOneProcessTakeTurns(t *testing.T) {
	one := tree(t, "n")
	two, err := workspace.New(one.Dir())
	require.NoError(t, err)
	c := change(t, one, workspace.OpEdit, "n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = two.Change(ctx, workspace.OpEdit, "", "n")
	require.Equal(t, context.Canceled, err)
	c.Close()
	change(t, two, workspace.OpEdit, "n").Close()
}

func TestSeveralFilesTakeTurnsInOneOrder(t *testing.T) {
	ws := tree(t)
	var all sync.WaitGroup
	for i := range 4 {
		keys := []string{"/a", "/b", "/a", "/c"}
		if i%2 == 1 {
			slices.Reverse(keys)
		}
		all.Go(func() {
			for range 100 {
				done, err := ws.Turns(t.Context(), keys...)
				if err != nil {
					t.Error(err)
					return
				}
				done()
			}
		})
	}
	all.Wait()
	done, err := ws.Turns(t.Context(), "/b")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ws.Turns(ctx, "/a", "/b")
	require.Equal(t, context.Canceled, err)
	done()
	done, err = ws.Turns(t.Context(), "/a", "/b")
	require.NoError(t, err, "what was waited for in vain is free")
	done()
}

func TestChangeIsCommittedOnce(t *testing.T) {
	ws := tree(t, "f")
	c := change(t, ws, workspace.OpEdit, "f")
	_, err := c.Commit(t.Context(), []byte("f"), nil)
	require.NoError(t, err, "nothing to do")
	_, err = c.Commit(t.Context(), []byte("new"), nil)
	require.NoError(t, err)
	_, err = c.Commit(t.Context(), []byte("newer"), nil)
	require.Error(t, err)
	require.Error(t, c.Remove(t.Context(), nil))
	require.Equal(t, "new", contents(t, ws, "f"))
}

func TestFileThatAppearsIsNotReplaced(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(path string) error
	}{
		{"file", func(p string) error { return os.WriteFile(p, []byte("theirs"), 0o666) }},
		{"directory", func(p string) error { return os.Mkdir(p, 0o777) }},
		{"link", func(p string) error { return os.Symlink("nowhere", p) }},
	} {
		for _, path := range []string{"f", "a/b/f"} {
			for _, expect := range []workspace.Expect{workspace.Any(), workspace.IfAbsent()} {
				ws := tree(t)
				c := change(t, ws, workspace.OpWrite, path)
				require.NoError(t, c.Require(t.Context(), expect))
				_, err := c.Commit(t.Context(), []byte("ours"), func(context.Context) error {
					return tt.make(filepath.Join(ws.Dir(), path))
				})
				if expect == workspace.IfAbsent() {
					require.ErrorIs(t, err, workspace.ErrNotObserved)
				} else {
					require.ErrorIs(t, err, workspace.ErrStaleVersion)
				}
				require.Equal(t, []string{"f"}, names(t, filepath.Join(ws.Dir(), filepath.Dir(path))), "theirs, and no temporary file")
				if tt.name == "file" {
					requireContent(t, filepath.Join(ws.Dir(), path), "theirs")
				}
			}
		}
	}
}

func TestCheckKeepsItsError(t *testing.T) {
	own := errors.New("lost the lock")
	for _, path := range []string{"f", "a/new"} {
		ws := tree(t, "f")
		c := change(t, ws, workspace.OpEdit, path)
		_, err := c.Commit(t.Context(), []byte("new"), func(context.Context) error { return own })
		require.True(t, err == own, "%v", err) //nolint:errorlint // as it is
		require.Equal(t, []string{"f"}, names(t, ws.Dir()))
		require.Equal(t, "f", contents(t, ws, "f"))
	}
}

func TestChangesOfOneFileTakeTurns(t *testing.T) {
	ws := tree(t, "n")
	require.NoError(t, os.Symlink("n", filepath.Join(ws.Dir(), "link")))
	const agents, edits = 4, 50
	var all sync.WaitGroup
	for i := range agents {
		path := []string{"n", "link"}[i%2]
		all.Go(func() {
			for range edits {
				c, err := ws.Change(t.Context(), workspace.OpEdit, "", path)
				if err != nil {
					t.Error(err)
					return
				}
				old, err := c.Read(t.Context())
				if err == nil {
					_, err = c.Commit(t.Context(), append(append([]byte{}, old...), 'x'), nil)
				}
				if err != nil {
					t.Error(err)
				}
				c.Close()
			}
		})
	}
	all.Wait()
	require.Len(t, contents(t, ws, "n"), 1+agents*edits)
}

func TestWaitingForATurnIsCancelled(t *testing.T) {
	ws := tree(t, "f")
	first := change(t, ws, workspace.OpEdit, "f")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := ws.Change(ctx, workspace.OpEdit, "", "f")
		failed <- err
	}()
	cancel()
	require.Equal(t, context.Canceled, <-failed)
	first.Close()
	first.Close() // harmless
	change(t, ws, workspace.OpEdit, "f").Close()
	_, err := ws.Change(ctx, workspace.OpEdit, "", "f")
	require.Equal(t, context.Canceled, err)
}

func TestSizes(t *testing.T) {
	ws := tree(t)
	path := filepath.Join(ws.Dir(), "f")
	content := make([]byte, workspace.MaxEditBytes)
	require.NoError(t, os.WriteFile(path, content, 0o666))
	c := change(t, ws, workspace.OpEdit, "f")
	got, err := c.Read(t.Context())
	require.NoError(t, err)
	require.Len(t, got, workspace.MaxEditBytes)
	c.Close()

	content = append(content, 0)
	require.NoError(t, os.WriteFile(path, content, 0o666))
	c = change(t, ws, workspace.OpEdit, "f")
	_, err = c.Read(t.Context())
	require.ErrorIs(t, err, workspace.ErrTooLarge)
	require.EqualError(t, err, `cannot edit "f": file exceeds 10485760 bytes`)
	require.NoError(t, c.Require(t.Context(), workspace.IfVersion(workspace.VersionOf(content))), "of any size")
	out, err := c.Commit(t.Context(), []byte("small"), nil)
	require.NoError(t, err)
	require.Equal(t, workspace.Outcome{Changed: true}, out, "what was there is too large to keep")
	requireContent(t, path, "small")
}

func TestHugeFileIsCheckedByItsDigest(t *testing.T) {
	for _, change := range []func(string) error{touch, func(p string) error { return os.Truncate(p, workspace.MaxEditBytes+7) }} {
		ws := tree(t)
		path := filepath.Join(ws.Dir(), "f")
		require.NoError(t, os.WriteFile(path, make([]byte, workspace.MaxEditBytes+1), 0o666))
		c, err := ws.Change(t.Context(), workspace.OpWrite, "", "f")
		require.NoError(t, err)
		require.NoError(t, c.Require(t.Context(), workspace.IfVersion(workspace.VersionOf(make([]byte, workspace.MaxEditBytes+1)))))
		require.NoError(t, change(path))
		_, err = c.Commit(t.Context(), []byte("new"), nil)
		c.Close()
		if info, _ := os.Stat(path); info.Size() == workspace.MaxEditBytes+7 {
			require.ErrorIs(t, err, workspace.ErrStaleVersion)
		} else {
			require.NoError(t, err)
		}
	}
}

func TestRemove(t *testing.T) {
	ws := tree(t, "f", "g")
	c := change(t, ws, workspace.OpDelete, "f")
	require.NoError(t, c.Remove(t.Context(), nil))
	require.Equal(t, []string{"g"}, names(t, ws.Dir()))
	c.Close()
	c = change(t, ws, workspace.OpDelete, "f")
	require.EqualError(t, c.Remove(t.Context(), nil), `cannot delete "f": no such file or directory`)
}

func TestFileSystemMayBeReadOnly(t *testing.T) {
	ws, err := workspace.NewFS(t.Context(), fakeFS{}, root)
	require.NoError(t, err)
	_, err = ws.Change(t.Context(), workspace.OpEdit, "", "f")
	require.EqualError(t, err, `cannot edit "f": read-only file system`)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	target, err := ws.Target(t.Context(), "", "f")
	require.NoError(t, err)
	require.Equal(t, workspace.Target{Key: ws.Resolve("", "f"), Display: "f"}, target)
}

func TestVersion(t *testing.T) {
	const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855:0"
	require.EqualValues(t, empty, workspace.VersionOf(nil))
	var h workspace.Digest
	require.EqualValues(t, empty, h.Version())
	for _, piece := range []string{"a", "", "bc"} {
		_, err := h.Write([]byte(piece))
		require.NoError(t, err)
	}
	require.Equal(t, workspace.VersionOf([]byte("abc")), h.Version())
	require.Equal(t, h.Version(), h.Version())
}
