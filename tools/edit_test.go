package tools_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/lineedit"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/replace"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/diff"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

// textEdit is an entry of the exact-text edits.
type textEdit struct {
	Old string `json:"oldText"`
	New string `json:"newText"`
}

type editArgs struct {
	Path  string `json:"path"`
	Edits any    `json:"edits"`
}

// edit returns the arguments that replace one text of the file f.
func edit(oldText, newText string) editArgs {
	return editArgs{"f", []textEdit{{oldText, newText}}}
}

// editing returns the exact-text editor on a file f.
func editing(t testing.TB, content string) (tools.Tool, string) {
	t.Helper()
	ws := newWorkspace(t, map[string]string{"f": content})
	return tools.NewEdit(tools.Env{Workspace: ws, Spool: newSpool(t, artifact.Options{})}), filepath.Join(ws.Dir(), "f")
}

func requireContent(t testing.TB, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func TestEditDefinition(t *testing.T) {
	d := tools.NewEdit(tools.Env{}).Definition()
	require.Equal(t, []any{"edit", "replace", false, true}, []any{d.Name, d.Internal, d.ReadOnly, d.Destructive})
	for _, part := range []string{"UTF-8", "exactly once", "original", "overlap", "line number", "Whitespace", "LF matches CRLF", "several edits", "empty newText", "total_bytes", "form of read"} {
		require.Contains(t, d.Description, part)
	}
}

func TestEditTellsWhatItDid(t *testing.T) {
	tool, path := editing(t, "alpha\r\nbeta\r\n")
	out := call(t, tool, editArgs{"f", []textEdit{{"alpha\n", "one\ntwo\n"}, {"beta", "beta"}}})
	require.Equal(t, "edits: 2\nchanged: true\ntotal_bytes: 16", out.Text)
	require.Equal(t, "f +2/-1", out.Display.Header())
	require.Equal(t, []tools.Change{{Status: "M", Path: "f"}}, out.Display.Changes)
	require.NotNil(t, out.Display.Diffs.Diff)
	requireContent(t, path, "one\r\ntwo\r\nbeta\r\n")
}

func TestLimitsAreTheSameEverywhere(t *testing.T) {
	require.Equal(t, workspace.MaxEditBytes, replace.MaxFileBytes)
	require.Equal(t, workspace.MaxEditBytes, patch.MaxFileBytes)
	require.Equal(t, replace.MaxEdits, lineedit.MaxEdits)
	for _, tool := range []tools.Tool{tools.NewEdit(tools.Env{}), tools.NewLineEdit(tools.Env{})} {
		require.Contains(t, string(tool.Definition().Schema), fmt.Sprintf(`"maxItems": %d`, replace.MaxEdits))
	}
	require.Contains(t, string(tools.NewWrite(tools.Env{}).Definition().Schema), strconv.Itoa(workspace.MaxEditBytes))
}

func TestEditThatChangesNothing(t *testing.T) {
	tool, path := editing(t, "a\r\nb")
	before, err := os.Stat(path)
	require.NoError(t, err)
	out := call(t, tool, edit("a\r\nb", "a\nb"))
	require.Equal(t, "edits: 1\nchanged: false\ntotal_bytes: 4", out.Text)
	require.Equal(t, "f", out.Display.Header())
	require.Empty(t, out.Display.Changes)
	require.True(t, out.Display.Diffs.IsZero())
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime())
	require.True(t, os.SameFile(before, after))
}

// lineNumbers returns lines of which each holds its own number.
func lineNumbers(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	return text.String()
}

func TestExcerptOfTheNearestPlace(t *testing.T) {
	for _, tt := range []struct {
		old         string
		near        string
		first, last int
	}{
		{"line  1\n", "1", 1, 3},
		{"line  2\n", "2", 1, 4},
		{"line  9\n", "9", 7, 11},
		{"line  49\nline 50\n", "49", 47, 50},
		{"line  9\nline 10\nline 11", "9", 7, 13},
		{"line 9\nnothing of this\n", "9", 7, 12},
	} {
		tool, path := editing(t, lineNumbers(50))
		out := call(t, tool, edit(tt.old, ""))
		require.Equal(t, framing.CodeNoMatch, out.Error.Code)
		require.Equal(t, []string{"error", "hint", "near_line"}, keys(out))
		require.Equal(t, tt.near, header(out, "near_line"))
		require.True(t, strings.HasPrefix(out.Error.Output, fmt.Sprintf("%d line %[1]d\n", tt.first)), out.Error.Output)
		require.True(t, strings.HasSuffix(out.Error.Output, fmt.Sprintf("\n%d line %[1]d", tt.last)), out.Error.Output)
		requireContent(t, path, lineNumbers(50))
		require.True(t, out.Display.Diffs.IsZero())
	}
}

func TestExcerptIsAtMostTwentyLines(t *testing.T) {
	tool, _ := editing(t, lineNumbers(50))
	lines := strings.SplitAfter(lineNumbers(50), "\n")
	for first, want := range map[int]string{1: "1 line 1\n", 10: "8 line 8\n"} {
		out := call(t, tool, edit(strings.ReplaceAll(strings.Join(lines[first-1:first+29], ""), "line", "line "), ""))
		require.Equal(t, "whitespace", header(out, "hint"))
		require.Equal(t, 20, strings.Count(out.Error.Output, "\n")+1)
		require.True(t, strings.HasPrefix(out.Error.Output, want), out.Error.Output)
	}
}

func TestExcerptStaysInTheBudget(t *testing.T) {
	tool, _ := editing(t, "first\n"+strings.Repeat("x", 20_000)+"\r\nlast")
	out := call(t, tool, edit("first ", ""))
	require.Equal(t, []string{"error", "hint", "near_line", "truncated", "total_lines", "total_bytes", "truncation_warning", "full_output_path"}, keys(out))
	require.Equal(t, "3", header(out, "total_lines"))
	require.Equal(t, "20012", header(out, "total_bytes"))
	require.Equal(t, "1 first\n2(crlf,truncated)\n3(no_nl) last", out.Error.Output)
	require.Equal(t, "1 first\n2(crlf) "+strings.Repeat("x", 20_000)+"\n3(no_nl) last", saved(t, out))
}

func TestAmbiguousTextListsFiveLines(t *testing.T) {
	for n, want := range map[int]string{2: "1,2", 5: "1,2,3,4,5", 6: "1,2,3,4,5,…", 200: "1,2,3,4,5,…"} {
		tool, path := editing(t, strings.Repeat("x\n", n))
		out := call(t, tool, edit("x", "y"))
		require.Equal(t, framing.CodeAmbiguousMatch, out.Error.Code)
		require.Equal(t, want, header(out, "match_lines"))
		require.Equal(t, []string{"error", "match_lines"}, keys(out))
		requireContent(t, path, strings.Repeat("x\n", n))
	}
}

func TestEditFailures(t *testing.T) {
	huge := strings.Repeat("x", workspace.MaxEditBytes)
	for _, tt := range []struct {
		name, content string
		arguments     editArgs
		code, message string
	}{
		{"missing", "", editArgs{"no\nsuch", []textEdit{{"a", "b"}}}, framing.CodeNotFound, `cannot edit "no\nsuch": no such file or directory`},
		{"directory", "", editArgs{".", []textEdit{{"a", "b"}}}, framing.CodeIsDirectory, `cannot edit ".": is a directory`},
		{"not UTF-8", "a\xff", edit("a", "b"), framing.CodeInvalidUTF8, `cannot edit "f": not valid UTF-8`},
		{"too large", huge + "y", edit("y", ""), framing.CodeTooLarge, `cannot edit "f": file exceeds 10485760 bytes`},
		{"result too large", huge[1:] + "y", edit("y", "yz"), framing.CodeTooLarge, `cannot edit "f": result exceeds 10485760 bytes`},
		{"overlap", "abc", editArgs{"f", []textEdit{{"bc", ""}, {"ab", ""}}}, framing.CodeOverlap, "edits[0] and edits[1] overlap"},
		{"no match", "abc", edit("x", ""), framing.CodeNoMatch, "edits[0]: oldText was not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool, path := editing(t, tt.content)
			out := call(t, tool, tt.arguments)
			requireFailure(t, out, tt.code, tt.message)
			require.Empty(t, out.Display.Changes)
			requireContent(t, path, tt.content)
		})
	}
	tool, path := editing(t, huge[1:]+"y")
	require.Nil(t, call(t, tool, edit("y", "z")).Error, "exactly the limit")
	requireContent(t, path, huge[1:]+"z")
}

func TestCauseOfAnEditIsKept(t *testing.T) {
	tool, _ := editing(t, "abc")
	out := call(t, tool, edit("x", ""))
	var e *replace.Error
	require.ErrorAs(t, out.Error, &e)
	require.Zero(t, e.Index)
	out = call(t, tool, editArgs{"missing", []textEdit{{"a", "b"}}})
	require.ErrorIs(t, out.Error, fs.ErrNotExist)
	require.ErrorIs(t, out.Error, workspace.ErrNotFound)
}

func TestWriteTellsWhatItDid(t *testing.T) {
	for _, tt := range []struct {
		name, before, content string // before "-" is a missing file
		text, display         string
	}{
		{"create", "-", "a\nb\n", "changed: true\ncreated: true\ntotal_bytes: 4", "d/f +2/-0"},
		{"create empty", "-", "", "changed: true\ncreated: true\ntotal_bytes: 0", "d/f"},
		{"replace", "x\n", "y", "changed: true\ntotal_bytes: 1", "d/f +1/-1"},
		{"same", "x\n", "x\n", "changed: false\ntotal_bytes: 2", "d/f"},
		{"empty", "x\n", "", "changed: true\ntotal_bytes: 0", "d/f +0/-1"},
		{"crlf to lf", "x\r\n", "y\n", "changed: true\nline_endings: crlf to lf\ntotal_bytes: 2", "d/f +1/-1"},
		{"mixed to cr", "x\r\ny\n", "y\r", "changed: true\nline_endings: mixed to cr\ntotal_bytes: 2", "d/f +1/-2"},
		{"none to lf", "x", "y\n", "changed: true\ntotal_bytes: 2", "d/f +1/-1"},
		{"lf to mixed", "a\n", "a\n\r\n", "changed: true\nline_endings: lf to mixed\ntotal_bytes: 4", "d/f +1/-0"},
		{"binary", "\x00", "y\n", "changed: true\ntotal_bytes: 2", "d/f"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"d/f": tt.before}
			if tt.before == "-" {
				files = nil
			}
			ws := newWorkspace(t, files)
			out := call(t, tools.NewWrite(tools.Env{Workspace: ws}), map[string]string{"path": "d/f", "content": tt.content})
			require.Equal(t, tt.text, out.Text)
			require.Equal(t, tt.display, out.Display.Header())
			requireContent(t, filepath.Join(ws.Dir(), "d", "f"), tt.content)
			require.Equal(t, strings.Contains(tt.display, "+"), out.Display.Diffs.Diff != nil)
			if tt.name == "binary" {
				require.Equal(t, diff.Payload{Text: "[diff skipped: file looks binary]"}, out.Display.Diffs)
			}
		})
	}
}

func TestWriteOverAHugeFile(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"f": ""})
	require.NoError(t, os.Truncate(filepath.Join(ws.Dir(), "f"), 1<<40)) // it would take hours to read
	out := call(t, tools.NewWrite(tools.Env{Workspace: ws}), map[string]string{"path": "f", "content": "x\n"})
	require.Equal(t, "changed: true\ntotal_bytes: 2", out.Text)
	require.Equal(t, "f", out.Display.Header(), "there is nothing to compare with")
	require.True(t, out.Display.Diffs.IsZero())

	require.NoError(t, os.Truncate(filepath.Join(ws.Dir(), "f"), 1<<40))
	policy := new(guard.Policy)
	policy.Observed("", workspace.Target{Key: filepath.Join(ws.Dir(), "f")}, guard.Observation{Present: true, Version: workspace.VersionOf([]byte("x\n"))})
	out = call(t, tools.NewWrite(tools.Env{Workspace: ws, Guard: policy}), map[string]string{"path": "f", "content": "y\n"})
	require.Equal(t, framing.CodeStaleVersion, out.Error.Code, "the size tells")
}

func TestWriteHasALimit(t *testing.T) {
	ws := newWorkspace(t, nil)
	tool := tools.NewWrite(tools.Env{Workspace: ws})
	content := strings.Repeat("x", workspace.MaxEditBytes)
	out := call(t, tool, map[string]string{"path": "d/f", "content": content + "x"})
	requireFailure(t, out, framing.CodeTooLarge, `cannot write "d/f": content exceeds 10485760 bytes`)
	require.NoDirExists(t, filepath.Join(ws.Dir(), "d"))
	require.Nil(t, call(t, tool, map[string]string{"path": "d/f", "content": content}).Error)
	requireContent(t, filepath.Join(ws.Dir(), "d", "f"), content)
}

func TestEditorsOfAReadOnlyFileSystem(t *testing.T) {
	env := tools.Env{Workspace: fileOf(t, "x\n")}
	for _, tool := range []tools.Tool{tools.NewEdit(env), tools.NewLineEdit(env)} {
		arguments := editArgs{"f", []textEdit{{"x", "y"}}}
		if tool.Definition().Internal == "" {
			arguments.Edits = []rangeEdit{{1, 2, "y", ""}}
		}
		out := call(t, tool, arguments)
		requireFailure(t, out, framing.CodeIO, `cannot edit "f": read-only file system`)
		require.ErrorIs(t, out.Error, errors.ErrUnsupported)
	}
}
