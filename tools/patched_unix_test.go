//go:build unix

package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

// A meddler is the file system of the host on which somebody does something
// before the n-th lookup, from 0.
type meddler struct {
	workspace.OS
	n      int
	meddle func()
}

func (m *meddler) Lookup(ctx context.Context, name string, follow bool) (workspace.Entry, error) {
	m.n--
	if m.n == -1 && m.meddle != nil {
		m.meddle()
	}
	return m.OS.Lookup(ctx, name, follow)
}

// meddled is the patch of the tests below, and the tree that it fits. It makes,
// changes, moves and removes files, in directories that exist or not.
var (
	meddledPatch = inPatch(
		"*** Add File: new/sub/file", "+new",
		"*** Update File: d/changed", "@@", "-old", "+new",
		"*** Update File: d/linked", "@@", "-old", "+new",
		"*** Update File: d/moved", "*** Move to: e/moved",
		"*** Update File: d/both", "*** Move to: e/both", "@@", "-old", "+new",
		"*** Delete File: d/deleted",
	)
	meddledTree = map[string]string{
		"d/changed": "old\n", "d/linked": "old\n", "d/moved": "old\n", "d/both": "old\n", "d/deleted": "old\n",
		"changed": "old\n", "linked": "old\n", "moved": "old\n", "both": "old\n", "deleted": "old\n",
		"elsewhere/changed": "old\n", "elsewhere/moved": "old\n", "elsewhere/both": "old\n", "elsewhere/deleted": "old\n",
	}
)

// meddledWorkspace returns the tree as a workspace, seen through m.
func meddledWorkspace(t *testing.T, m *meddler) *workspace.Workspace {
	t.Helper()
	dir := newWorkspace(t, meddledTree).Dir()
	require.NoError(t, os.Link(filepath.Join(dir, "d/linked"), filepath.Join(dir, "elsewhere/linked")))
	m.NoSync = true
	ws, err := workspace.NewFS(t.Context(), m, dir)
	require.NoError(t, err)
	return ws
}

// lookups returns how many lookups the patch takes when nobody meddles, and how
// many of them are done when it is planned.
func lookups(t *testing.T) (all, planned int) {
	t.Helper()
	for _, p := range []struct {
		text  string
		count *int
	}{
		{meddledPatch, &all},
		{strings.Replace(meddledPatch, "*** End", "*** Add File: d/changed\n*** End", 1), &planned},
	} {
		m := &meddler{}
		out := call(t, tools.NewApplyPatch(tools.Env{Workspace: meddledWorkspace(t, m)}, patch.Atomic), p.text)
		require.Equal(t, p.count == &all, out.Error == nil, out.Text)
		*p.count = -m.n
	}
	return all, planned
}

// requireTruth checks that the differences between two trees are those that
// an outcome reports, and that no temporary file is left.
func requireTruth(t *testing.T, before, after map[string]string, out tools.Outcome) {
	t.Helper()
	delete(before, "elsewhere/linked") // another name of a file of the patch
	delete(after, "elsewhere/linked")
	reported := map[string]string{}
	for _, c := range out.Display.Changes {
		reported[c.Path] = c.Status
	}
	for name, content := range after {
		require.NotContains(t, name, ".taukit-")
		if old, ok := before[name]; ok && old == content || content == "/" {
			continue
		}
		require.Contains(t, []string{"new\n", "old\n"}, content, name)
		require.Contains(t, reported, name, "%s\n%v\n%v", out.Text, before, after)
		delete(reported, name)
	}
	for name := range before {
		if _, ok := after[name]; ok {
			continue
		}
		moved := strings.Replace(name, "d/", "e/", 1)
		if after[moved] == "" {
			require.Equal(t, "D", reported[name], "%s: %s", name, out.Text)
		}
		delete(reported, name)
	}
	require.Empty(t, reported, out.Text)
	if out.Error != nil {
		require.Equal(t, len(out.Display.Changes) == 0, header(out, "changed") == "false" || out.Error.Code == framing.CodeCancelled)
	}
}

// TestSomebodyMeddlesWithAPatch lets somebody do each of these things at each
// step of a patch. What they did stays, and what the patch did is what it says.
func TestSomebodyMeddlesWithAPatch(t *testing.T) {
	n, planned := lookups(t)
	for name, meddle := range map[string]func(dir string) error{
		"change":  func(dir string) error { return os.WriteFile(dir+"/d/changed", []byte("theirs\n"), 0o666) },
		"remove":  func(dir string) error { return os.Remove(dir + "/d/deleted") },
		"appear":  func(dir string) error { return makeFile(dir + "/new/sub/file") },
		"appear2": func(dir string) error { return makeFile(dir + "/e/moved") },
		"clear": func(dir string) error {
			return errors.Join(os.RemoveAll(dir+"/d"), os.RemoveAll(dir+"/e"), os.RemoveAll(dir+"/new"))
		},
		"swap": func(dir string) error {
			return errors.Join(os.Rename(dir+"/d", dir+"/was"), os.Symlink("elsewhere", dir+"/d"))
		},
		"swap new": func(dir string) error {
			_ = os.Rename(dir+"/e", dir+"/was")
			return os.Symlink("elsewhere", dir+"/e")
		},
	} {
		for i := range n {
			t.Run(fmt.Sprint(name, "/", i), func(t *testing.T) {
				t.Parallel()
				m := &meddler{n: i}
				ws := meddledWorkspace(t, m)
				done := false
				m.meddle = func() {
					if meddle(ws.Dir()) != nil {
						return // too late: the patch has been there
					}
					done = true
				}
				out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), meddledPatch)
				if !done {
					return
				}
				after := treeOf(t, ws)
				for _, name := range []string{"changed", "moved", "both", "deleted"} {
					if i >= planned { // before that, a path may well lead there
						require.Equal(t, "old\n", after["elsewhere/"+name], "nobody has named it")
					}
				}
				if name == "appear" && after["new/sub/file"] != "new\n" {
					require.Equal(t, "theirs\n", after["new/sub/file"])
				}
				for _, c := range out.Display.Changes { // what it says it did
					if strings.HasPrefix(name, "swap") || name == "clear" {
						break // the names lead elsewhere by now
					}
					content, there := after[c.Path]
					require.Equal(t, c.Status != "D", there, "%s %s\n%s", c.Status, c.Path, out.Text)
					if there && i >= planned && name != "change" { // which may have come afterwards
						require.Contains(t, []string{"new\n", "old\n"}, content)
					}
				}
				for _, name := range []string{"changed", "moved", "both", "deleted", "linked"} {
					require.Equal(t, "old\n", after[name], "what has the name one level up")
				}
				if out.Error == nil {
					return
				}
				require.Contains(t, []string{
					framing.CodeStaleVersion, framing.CodeExists, framing.CodeNotFound, framing.CodeContextMismatch,
				}, out.Error.Code, out.Text)
				for file := range after {
					require.NotContains(t, file, ".taukit-")
				}
			})
		}
	}
}

func makeFile(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return os.ErrExist
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("theirs\n"), 0o666))
}

func TestPatchIsCancelledAtEachStep(t *testing.T) {
	n, _ := lookups(t)
	for i := range n {
		ctx, cancel := context.WithCancel(t.Context())
		m := &meddler{n: i, meddle: cancel}
		ws := meddledWorkspace(t, m)
		before := treeOf(t, ws)
		out := tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic).Call(ctx, tools.Call{Arguments: []byte(meddledPatch)})
		requireWellFormed(t, out)
		if out.Error != nil {
			require.Equal(t, framing.CodeCancelled, out.Error.Code)
			require.Equal(t, "cancelled: cancelled by the caller", out.Text)
			require.Equal(t, before, treeOf(t, ws))
		} else {
			requireTruth(t, before, treeOf(t, ws), out)
		}
		cancel()
	}
}

func TestPatchFailsAtEachStep(t *testing.T) {
	n, planned := lookups(t)
	failed, partial := 0, 0
	for i := range n {
		m := &failing{n: i}
		dir := newWorkspace(t, meddledTree).Dir()
		require.NoError(t, os.Link(filepath.Join(dir, "d/linked"), filepath.Join(dir, "elsewhere/linked")))
		ws, err := workspace.NewFS(t.Context(), m, dir)
		require.NoError(t, err)
		before := treeOf(t, ws)
		out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), meddledPatch)
		after := treeOf(t, ws)
		requireTruth(t, before, after, out)
		if out.Error == nil { // it was only about a turn, or a directory to be synced
			continue
		}
		failed++
		require.Equal(t, framing.CodeIO, out.Error.Code, out.Text)
		require.Contains(t, out.Text, "input/output error")
		if header(out, "partial") != "" {
			partial++
		}
	}
	require.Greater(t, failed, (n-planned)/2)
	require.NotZero(t, partial, "some have changed a part")
}

// A failing file system cannot do the n-th lookup.
type failing struct {
	workspace.OS
	n int
}

func (f *failing) Lookup(ctx context.Context, name string, follow bool) (workspace.Entry, error) {
	f.n--
	if f.n == -1 {
		return nil, syscall.EIO
	}
	return f.OS.Lookup(ctx, name, follow)
}

// TestPatchIsKilledAtEachStep kills a process at each step of a patch: each
// file is the old or the new one.
func TestPatchIsKilledAtEachStep(t *testing.T) {
	const variable = "TAUKIT_PATCH"
	if order := os.Getenv(variable); order != "" {
		number, dir, _ := strings.Cut(order, " ")
		n, err := strconv.Atoi(number)
		require.NoError(t, err)
		ws, err := workspace.NewFS(t.Context(), &meddler{n: n, meddle: func() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}}, dir)
		require.NoError(t, err)
		call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), meddledPatch)
		t.Fatal("not killed")
	}
	n, planned := lookups(t)
	for i := planned - 3; i < n; i++ { // before, it only reads
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			ws := meddledWorkspace(t, &meddler{})
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPatchIsKilledAtEachStep$")
			child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", variable, i, ws.Dir()))
			out, err := child.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "%s", out)
			require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), "%s", out)
			after := treeOf(t, ws)
			for name, content := range after {
				if strings.Contains(name, ".taukit-") || content == "/" {
					continue
				}
				require.Contains(t, []string{"old\n", "new\n"}, content, name)
			}
			require.Equal(t, "old\n", after["elsewhere/changed"])
			for _, name := range []string{"moved", "both"} { // at one of its names at least
				require.NotEmpty(t, after["d/"+name]+after["e/"+name])
			}
		})
	}
}

// TestGuardBetweenSections lets somebody write to a file between the sections of
// a sequential patch: what they wrote is never changed or removed unseen.
func TestGuardBetweenSections(t *testing.T) {
	for _, second := range []string{"*** Delete File: a", "*** Update File: a\n@@\n-theirs\n+gone", "*** Update File: a\n*** Move to: b\n@@\n-theirs\n+gone"} {
		text := inPatch("*** Update File: a\n@@\n-old\n+new", second)
		for i := 0; ; i++ {
			m := &meddler{OS: workspace.OS{NoSync: true}, n: i}
			ws, err := workspace.NewFS(t.Context(), m, newWorkspace(t, map[string]string{"a": "old\n"}).Dir())
			require.NoError(t, err)
			done := false
			env := tools.Env{Workspace: ws, Guard: new(guard.Policy)}
			target := workspace.Target{Key: filepath.Join(ws.Dir(), "a")}
			env.Guard.Observed("", target, guard.Observation{Present: true, Version: workspace.VersionOf([]byte("old\n"))})
			m.meddle = func() {
				done = true
				require.NoError(t, os.WriteFile(target.Key, []byte("theirs\n"), 0o666))
			}
			out := call(t, tools.NewApplyPatch(env, patch.Sequential), text)
			if !done {
				break
			}
			require.Equal(t, map[string]string{"a": "theirs\n"}, treeOf(t, ws), "%d\n%s", i, out.Text)
		}
	}
}

func TestPatchOfLinksAndModes(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"target": "old\n", "one": "old\n", "exec": "old\n", "moved": "old\n"})
	at := func(name string) string { return filepath.Join(ws.Dir(), name) }
	require.NoError(t, os.Symlink("target", at("link")))
	require.NoError(t, os.Symlink("target", at("replaced")))
	require.NoError(t, os.Link(at("one"), at("two")))
	require.NoError(t, os.Chmod(at("exec"), 0o751))
	require.NoError(t, os.Chmod(at("moved"), 0o640))
	out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), inPatch(
		"*** Update File: link", "@@", "-old", "+new",
		"*** Delete File: replaced", "*** Add File: replaced", "+a file",
		"*** Update File: two", "@@", "-old", "+new",
		"*** Update File: exec", "@@", "-old", "+new",
		"*** Update File: moved", "*** Move to: d/moved", "@@", "-old", "+new",
	))
	require.Nil(t, out.Error, out.Text)
	for name, want := range map[string]string{"target": "new\n", "one": "new\n", "exec": "new\n", "d/moved": "new\n", "replaced": "a file\n"} {
		requireContent(t, at(name), want)
	}
	var st unix.Stat_t
	require.NoError(t, unix.Lstat(at("link"), &st))
	require.EqualValues(t, unix.S_IFLNK, st.Mode&unix.S_IFMT)
	require.NoError(t, unix.Lstat(at("replaced"), &st))
	require.EqualValues(t, unix.S_IFREG, st.Mode&unix.S_IFMT)
	require.NoError(t, unix.Lstat(at("exec"), &st))
	require.EqualValues(t, 0o751, st.Mode&0o777)
	require.NoError(t, unix.Lstat(at("d/moved"), &st))
	require.EqualValues(t, 0o640, st.Mode&0o777)
	require.NoError(t, unix.Lstat(at("one"), &st))
	require.EqualValues(t, 2, st.Nlink)
}

func TestTwoNamesOfOneFile(t *testing.T) {
	for body, ok := range map[string]bool{
		"*** Update File: a\n@@\n-old\n+new\n*** Update File: b\n@@\n-old\n+new":   false,
		"*** Update File: a\n*** Move to: c\n*** Update File: b\n*** Move to: d":   false,
		"*** Update File: a\n@@\n-old\n+new\n*** Delete File: b":                   false,
		"*** Delete File: a\n*** Delete File: b":                                   true,
		"*** Update File: a\n@@\n-old\n+new\n*** Update File: a\n@@\n-new\n+newer": true,
	} {
		ws := newWorkspace(t, map[string]string{"a": "old\n"})
		require.NoError(t, os.Link(filepath.Join(ws.Dir(), "a"), filepath.Join(ws.Dir(), "b")))
		out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), inPatch(body))
		if ok {
			require.Nil(t, out.Error, out.Text)
			continue
		}
		require.NotNil(t, out.Error, body)
		require.Contains(t, out.Text, "under another name (hard link)")
		require.Equal(t, "false", header(out, "changed"))
		require.Equal(t, map[string]string{"a": "old\n", "b": "old\n"}, treeOf(t, ws))
	}
}

func TestPureRenameKeepsTheFile(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"a": "\x00binary"})
	before, err := os.Stat(filepath.Join(ws.Dir(), "a"))
	require.NoError(t, err)
	out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), inPatch("*** Update File: a", "*** Move to: d/b"))
	require.Equal(t, "Success. Updated the following files:\nM d/b", out.Text)
	require.Equal(t, "d/b 1F", out.Display.Header())
	after, err := os.Stat(filepath.Join(ws.Dir(), "d", "b"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

func TestPatchesOfOneFileTakeTurns(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"a": "", "b": ""})
	tool := tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic)
	const agents, patches = 4, 10
	done := make(chan error, agents)
	for i := range agents {
		order := []string{"a", "b"}
		if i%2 == 1 {
			order = []string{"b", "a"}
		}
		go func() {
			for range patches {
				out := tool.Call(t.Context(), tools.Call{Arguments: []byte(inPatch(
					"*** Update File: "+order[0], "@@", "+line", "*** Update File: "+order[1], "@@", "+line",
				))})
				if out.Error != nil {
					done <- out.Error
					return
				}
			}
			done <- nil
		}()
	}
	for range agents {
		require.NoError(t, <-done)
	}
	for _, name := range []string{"a", "b"} {
		requireContent(t, filepath.Join(ws.Dir(), name), strings.Repeat("line\n", agents*patches))
	}
}

// TestSequentialTellsWhatBecameOfMovedFiles moves a file in one section and changes
// its old name or its new one in another.
func TestSequentialTellsWhatBecameOfMovedFiles(t *testing.T) {
	for name, c := range map[string]struct{ text, header string }{
		"updated after the move":     {"*** Update File: a\n*** Move to: b\n*** Update File: b\n@@\n-one\n+1\n", "b 1F +1/-1"},
		"another one of the name":    {"*** Update File: a\n*** Move to: b\n*** Add File: a\n+n\n", "a,… 2F +3/-2"},
		"the same one again":         {"*** Update File: a\n*** Move to: b\n*** Add File: a\n+one\n+two\n", "b 1F +2/-0"},
		"deleted after it was moved": {"*** Update File: a\n*** Move to: b\n*** Delete File: b\n", "a 1F +0/-2"},
	} {
		for _, mode := range []patch.Mode{patch.Atomic, patch.Sequential} {
			ws := newWorkspace(t, map[string]string{"a": "one\ntwo\n"})
			env := tools.Env{Workspace: ws, Guard: new(guard.Policy)}
			require.Nil(t, call(t, tools.NewRead(env), map[string]string{"path": "a"}).Error)
			out := tools.NewApplyPatch(env, mode).Call(t.Context(), tools.Call{Arguments: []byte("*** Begin Patch\n" + c.text + "*** End Patch")})
			require.Nil(t, out.Error, name)
			require.Equal(t, c.header, out.Display.Header(), "%s, mode %v", name, mode)
			if name == "another one of the name" {
				require.Nil(t, call(t, tools.NewEdit(env), editArgs{"b", []textEdit{{"one", "1"}}}).Error, "R6: what was moved has been seen")
			}
		}
	}
}
