package tools_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/workspace"
)

// inPatch returns a patch of the given lines.
func inPatch(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// treeOf returns the content of all files of a workspace; that of a directory
// without entries is "/".
func treeOf(t rapid.TB, ws *workspace.Workspace) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(ws.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == ws.Dir() {
			return err
		}
		name, _ := filepath.Rel(ws.Dir(), path)
		name = filepath.ToSlash(name)
		if d.Type() == fs.ModeSymlink {
			files[name], err = os.Readlink(path)
			return err
		}
		if !d.IsDir() {
			data, err := os.ReadFile(path)
			files[name] = string(data)
			return err
		}
		entries, err := os.ReadDir(path)
		if len(entries) == 0 {
			files[name] = "/"
		}
		return err
	}))
	return files
}

func TestApplyPatchDefinition(t *testing.T) {
	d := tools.NewApplyPatch(tools.Env{}, patch.Atomic).Definition()
	require.Equal(t, []any{"apply_patch", "", true, true, false}, []any{d.Name, d.Internal, d.Freeform, d.Destructive, d.ReadOnly})
	require.Contains(t, string(d.Schema), `"required": ["input"]`)
	for _, part := range []string{
		"*** Begin Patch", "*** Add File:", "*** Delete File:", "*** Update File:", "directly under", "starts with +", "three lines of context",
		"@@ func main() {", "order of the file", "refuse a destination that exists", "checked as a whole first", "one a line after A",
	} {
		require.Contains(t, d.Description, part)
	}
	require.NotContains(t, d.Description, "fuzzy")
	d = tools.NewApplyPatch(tools.Env{}, patch.Sequential).Definition()
	require.Contains(t, d.Description, "one by one, up to the first")
}

func TestApplyPatchTellsWhatItDid(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"a.txt": "one\ntwo\n", "b.txt": "x\n", "c.txt": "y\n", "bin": "\x00"})
	out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), inPatch(
		"*** Update File: a.txt", "*** Move to: d/a.txt", "@@", "-two", "+2",
		"*** Delete File: b.txt",
		"*** Add File: new.txt", "+first", "+second",
		"*** Update File: c.txt", "@@", " y",
		"*** Delete File: bin",
	))
	require.Equal(t, "Success. Updated the following files:\nA new.txt\nM d/a.txt\nD b.txt\nD bin", out.Text)
	require.Equal(t, "d/a.txt,… 4F +3/-2", out.Display.Header())
	require.Equal(t, []tools.Change{{Status: "M", Path: "d/a.txt"}, {Status: "D", Path: "b.txt"}, {Status: "A", Path: "new.txt"}, {Status: "D", Path: "bin"}}, out.Display.Changes)
	var paths []string
	for _, f := range out.Display.Diffs.Files {
		paths = append(paths, f.Path)
	}
	require.Equal(t, []string{"d/a.txt", "b.txt", "new.txt"}, paths)
	require.Equal(t, map[string]string{"d/a.txt": "one\n2\n", "new.txt": "first\nsecond\n", "c.txt": "y\n"}, treeOf(t, ws))
}

func TestApplyPatchThatFailsShowsNoPath(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"a": "x\n"})
	for _, mode := range []patch.Mode{patch.Atomic, patch.Sequential} {
		tool := tools.NewApplyPatch(tools.Env{Workspace: ws}, mode)
		for text, code := range map[string]string{
			inPatch("*** Update File: a", "@@", "-y"): framing.CodeContextMismatch,
			inPatch("*** Add File: a"):                framing.CodeExists,
			inPatch("*** Frob File: a"):               patch.CodeInvalid,
			"":                                        patch.CodeInvalid,
			inPatch("*** Delete File: no\r\"such"):    framing.CodeNotFound,
			"\xff":                                    patch.CodeInvalid,
			inPatch("*** Update File: a/b", "@@", "-x"): framing.CodeNotDirectory,
		} {
			out := call(t, tool, text)
			require.Equal(t, code, out.Error.Code, out.Text)
			require.Equal(t, "false", header(out, "changed"))
			require.Empty(t, out.Display.Header())
			require.Empty(t, out.Display.Changes)
			require.True(t, out.Display.Diffs.IsZero())
		}
		out := call(t, tool, `{"patch":"x"}`)
		requireFailure(t, out, framing.CodeInvalidArguments, `unknown field "patch"; allowed: input`)
		require.Equal(t, []string{"error"}, keys(out))
	}
	require.Equal(t, map[string]string{"a": "x\n"}, treeOf(t, ws))
}

func TestPartialPatchTellsWhatItDid(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"a.txt": "x\n", "b.txt": "y\n"})
	out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Sequential), inPatch(
		"*** Update File: a.txt", "@@", "-x", "+X",
		"*** Add File: created.txt", "+new",
		"*** Update File: b.txt", "@@", "-nope",
	))
	require.Equal(t, "error: failed to find expected lines in \"b.txt\" (hunk 1 of 1)\npartial: true\nfiles_changed: 2\n\n"+
		"Partial changes applied before failure:\nA created.txt\nM a.txt\n\nexpected lines in b.txt (hunk 1):\n-nope", out.Text)
	require.Equal(t, "a.txt,… 2F +2/-1", out.Display.Header())
	require.Len(t, out.Display.Diffs.Files, 2)
	require.Equal(t, map[string]string{"a.txt": "X\n", "created.txt": "new\n", "b.txt": "y\n"}, treeOf(t, ws))
}

func TestNotesAreCapped(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"f": strings.Repeat("x\n", 100)})
	lines := []string{"*** Update File: f"}
	for range 12 {
		lines = append(lines, "@@", "-x", "+y")
	}
	out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), inPatch(lines...))
	body := strings.Split(out.Text, "\n")
	require.Len(t, body, 2+10+1)
	require.Equal(t, "note: f hunk 1 matched 100 places; used line 1", body[2])
	require.Equal(t, "note: 2 more", body[12])
}

// drawPatch returns a patch that fits often: files are few and small.
func drawPatch(t *rapid.T) string {
	name := rapid.SampledFrom([]string{"a", "b", "d/a", "d/e/b", "./a", "d/../b"})
	line := rapid.SampledFrom([]string{"one", "one", "two", "two", "three", " one"})
	var lines []string
	for range rapid.IntRange(1, 5).Draw(t, "sections") {
		path := name.Draw(t, "path")
		switch rapid.IntRange(0, 4).Draw(t, "op") {
		case 0:
			lines = append(lines, "*** Add File: "+path, "+"+line.Draw(t, "added"), "+two")
		case 1:
			lines = append(lines, "*** Delete File: "+path)
		case 2:
			lines = append(lines, "*** Update File: "+path, "*** Move to: "+name.Draw(t, "to"))
		case 3:
			lines = append(lines, "*** Update File: "+path, "*** Move to: "+name.Draw(t, "to"), "@@", "-"+line.Draw(t, "old"), "+"+line.Draw(t, "new"))
		default:
			lines = append(lines, "*** Update File: "+path, "@@", "-"+line.Draw(t, "old"), "+"+line.Draw(t, "new"))
		}
	}
	return inPatch(lines...)
}

// TestDiskAgreesWithMemory applies random patches to a directory and to the
// files in memory that the package patch brings.
func TestDiskAgreesWithMemory(t *testing.T) {
	root := t.TempDir()
	runs, fits := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		ws, err := workspace.New(root)
		require.NoError(t, err)
		dir := filepath.Join(ws.Dir(), strconv.Itoa(runs))
		require.NoError(t, os.Mkdir(dir, 0o777))
		ws, err = workspace.NewFS(t.Context(), workspace.OS{NoSync: true}, dir)
		require.NoError(t, err)
		before := map[string]string{}
		for _, name := range []string{"a", "b", "d/a"} {
			if rapid.Bool().Draw(t, name) {
				before[name] = strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"one\n", "two\r\n", "three"}), 0, 4).Draw(t, "content"), "")
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(before[name]), 0o666))
			}
		}
		text := drawPatch(t)
		mode := rapid.SampledFrom([]patch.Mode{patch.Atomic, patch.Sequential}).Draw(t, "mode")
		mem := patch.NewMem(before)
		p, err := patch.Parse(text)
		require.NoError(t, err)
		result, wantErr := patch.Apply(t.Context(), mem, p, patch.Options{Mode: mode})

		out := tools.NewApplyPatch(tools.Env{Workspace: ws}, mode).Call(t.Context(), tools.Call{Arguments: []byte(text)})
		if wantErr == nil {
			require.Nil(t, out.Error, out.Text)
			fits++
		} else {
			require.NotNil(t, out.Error, wantErr)
			require.Equal(t, wantErr.Error(), out.Error.Message)
		}
		var want []tools.Change
		for _, c := range result.Changes {
			want = append(want, tools.Change{Status: string(c.Status), Path: c.Path})
		}
		require.Equal(t, want, out.Display.Changes)
		after := treeOf(t, ws)
		maps.DeleteFunc(after, func(_, content string) bool { return content == "/" })
		remembered := map[string]string{}
		for key, content := range mem.Files() {
			remembered[strings.TrimPrefix(key, "/")] = content
		}
		require.Equal(t, remembered, after)
	})
	require.NotZero(t, fits)
}

func TestPatchOfManyFiles(t *testing.T) {
	files := map[string]string{}
	var lines []string
	for i := range 1000 {
		path := fmt.Sprintf("d%d/f%d", i%50, i)
		switch i % 3 {
		case 0:
			lines = append(lines, "*** Add File: "+path, "+new")
			continue
		case 1:
			lines = append(lines, "*** Update File: "+path, "@@", "-old", "+new")
		case 2:
			lines = append(lines, "*** Update File: "+path, "*** Move to: moved/"+path)
		}
		files[path] = "old\n"
	}
	ws := newWorkspace(t, files)
	out := call(t, tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic), inPatch(lines...))
	require.Nil(t, out.Error, out.Text)
	require.Len(t, out.Display.Changes, 1000)
	after := treeOf(t, ws)
	maps.DeleteFunc(after, func(_, content string) bool { return content == "/" })
	require.Len(t, after, 1000)
	count := map[string]int{}
	for _, content := range slices.Collect(maps.Values(after)) {
		count[content]++
	}
	require.Equal(t, map[string]int{"new\n": 667, "old\n": 333}, count)
}
