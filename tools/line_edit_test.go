package tools_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/workspace"
)

// rangeEdit is an entry of the line edits.
type rangeEdit struct {
	Start   int    `json:"start_line"`
	End     int    `json:"end_line_exclusive"`
	New     string `json:"newText"`
	Context string `json:"context_line"`
}

// lineEditing returns the line editor on a file f; content "-" is none.
func lineEditing(t testing.TB, content string) (tools.Tool, string) {
	t.Helper()
	files := map[string]string{"f": content}
	if content == "-" {
		files = nil
	}
	ws := newWorkspace(t, files)
	return tools.NewLineEdit(tools.Env{Workspace: ws, Spool: newSpool(t, artifact.Options{})}), filepath.Join(ws.Dir(), "f")
}

func TestLineEditDefinition(t *testing.T) {
	d := tools.NewLineEdit(tools.Env{}).Definition()
	require.Equal(t, []any{"edit", "", false, true}, []any{d.Name, d.Internal, d.ReadOnly, d.Destructive})
	for _, part := range []string{"half-open", "end_line_exclusive B+1", "Equal numbers insert", "total_lines + 1", "original", "overlap", "context_line", "whole lines", "create a file", "new_max_valid_start_line", "next call", "total_bytes", "form of read"} {
		require.Contains(t, d.Description, part)
	}
}

func TestLineEditTellsWhatItDid(t *testing.T) {
	for _, tt := range []struct {
		content       string
		edits         []rangeEdit
		text, display string
		want          string
	}{
		{
			"a\nb\nc\n",
			[]rangeEdit{{2, 3, "B\nBB", "a"}, {4, 4, "d", "c"}},
			"edits: 2\nchanged: true\nnew_max_valid_start_line: 6\ntotal_bytes: 11", "f 2..<3,4..<4 +3/-1", "a\nB\nBB\nc\nd\n",
		},
		{
			"-",
			[]rangeEdit{{1, 1, "a", ""}},
			"edits: 1\nchanged: true\nnew_max_valid_start_line: 2\ntotal_bytes: 2", "f 1..<1 +1/-0", "a\n",
		},
		{
			"-",
			[]rangeEdit{{1, 1, "", ""}},
			"edits: 1\nchanged: true\nnew_max_valid_start_line: 1\ntotal_bytes: 0", "f 1..<1", "",
		},
		{
			"a\n",
			[]rangeEdit{{1, 2, "a", ""}},
			"edits: 1\nchanged: false\nnew_max_valid_start_line: 2\ntotal_bytes: 2", "f 1..<2", "a\n",
		},
	} {
		tool, path := lineEditing(t, tt.content)
		out := call(t, tool, editArgs{"f", tt.edits})
		require.Equal(t, tt.text, out.Text)
		require.Equal(t, tt.display, out.Display.Header())
		requireContent(t, path, tt.want)
	}
}

func TestContextMismatchShowsTheLinesAround(t *testing.T) {
	shown := func(first, last int) string {
		var lines []string
		for i := first; i <= last; i++ {
			lines = append(lines, fmt.Sprintf("%d line %[1]d", i))
		}
		return strings.Join(lines, "\n")
	}
	for _, tt := range []struct {
		edit    rangeEdit
		message string
		fields  string
		output  string
	}{
		{rangeEdit{3, 4, "", "stale"}, "edits[0]: context_line does not match line 2", "context_line_number: 2", shown(1, 12)},
		{rangeEdit{30, 31, "", "stale"}, "edits[0]: context_line does not match line 29", "context_line_number: 29", shown(19, 39)},
		{rangeEdit{30, 31, "", "line 5"}, "edits[0]: context_line does not match line 29", "context_line_number: 29\ncontext_line_at: 5", shown(19, 39)},
		{
			rangeEdit{30, 31, "", "line 30"},
			"edits[0]: context_line does not match line 29; it equals line 30, but it must be the line before start_line",
			"context_line_number: 29", shown(19, 39),
		},
		{rangeEdit{51, 51, "", "line 49"}, "edits[0]: context_line does not match line 50", "context_line_number: 50\ncontext_line_at: 49", shown(40, 50)},
		{rangeEdit{1, 2, "", "line 1"}, "edits[0]: context_line must be empty because start_line is 1", "context_line_number: 0\ncontext_line_at: 1", shown(1, 10)},
	} {
		tool, path := lineEditing(t, lineNumbers(50))
		out := call(t, tool, editArgs{"f", []rangeEdit{tt.edit}})
		require.Equal(t, framing.CodeContextMismatch, out.Error.Code)
		require.Equal(t, "error: "+tt.message+"\n"+tt.fields, headers(out))
		require.Equal(t, tt.output, out.Error.Output)
		require.True(t, out.Display.Diffs.IsZero())
		requireContent(t, path, lineNumbers(50))
	}
}

func TestContextMismatchOfAnEmptyFile(t *testing.T) {
	for _, content := range []string{"-", ""} {
		tool, path := lineEditing(t, content)
		out := call(t, tool, editArgs{"f", []rangeEdit{{1, 1, "a", "x"}}})
		require.Equal(t, "error: edits[0]: context_line must be empty because start_line is 1\n"+
			"context_line_number: 0\ntotal_lines: 0\ntotal_bytes: 0", out.Text)
		if content == "-" {
			require.NoFileExists(t, path)
		}
	}
}

func TestContextMismatchOfBytesThatAreNotUTF8(t *testing.T) {
	tool, _ := lineEditing(t, "a\xff\nb\n")
	out := call(t, tool, editArgs{"f", []rangeEdit{{2, 3, "", "a\ufffd"}}})
	require.Equal(t, "error: edits[0]: line 1 is not valid UTF-8, so no context_line can match it\n"+
		"context_line_number: 1\nvalid_utf8: false\n\n1(invalid-utf8) a\ufffd\n2 b", out.Text)
	out = call(t, tool, editArgs{"f", []rangeEdit{{3, 3, "é", "b"}}})
	requireFailure(t, out, framing.CodeInvalidUTF8, `cannot edit "f": not valid UTF-8; only ASCII text can be added`)
	require.Nil(t, call(t, tool, editArgs{"f", []rangeEdit{{3, 3, "e", "b"}}}).Error)
}

func TestContextMismatchStaysInTheBudget(t *testing.T) {
	tool, _ := lineEditing(t, "a\n"+strings.Repeat("x", 20_000)+"\r\n")
	out := call(t, tool, editArgs{"f", []rangeEdit{{2, 3, "", "b"}}})
	require.Equal(t, []string{
		"error", "context_line_number", "truncated", "total_lines", "total_bytes", "truncation_warning", "full_output_path",
	}, keys(out))
	require.Equal(t, "1 a\n2(crlf,truncated)", out.Error.Output)
	require.Equal(t, "1 a\n2(crlf) "+strings.Repeat("x", 20_000), saved(t, out))
}

func TestLineEditFailures(t *testing.T) {
	huge := strings.Repeat("x", workspace.MaxEditBytes)
	for _, tt := range []struct {
		content, path string
		edits         []rangeEdit
		code, message string
	}{
		{"a\n", "f", []rangeEdit{{3, 3, "", ""}}, framing.CodeInvalidArguments, "edits[0]: start_line 3 is past end of file (max_valid_start_line: 2)"},
		{"a\n", "f", []rangeEdit{{1, 3, "", ""}}, framing.CodeInvalidArguments, "edits[0]: end_line_exclusive 3 is past end of file (max_valid_start_line: 2)"},
		{"-", "f", []rangeEdit{{2, 2, "", ""}}, framing.CodeInvalidArguments, "edits[0]: start_line 2 is past end of file (max_valid_start_line: 1)"},
		{"a\nb\n", "f", []rangeEdit{{2, 2, "", "a"}, {1, 3, "", ""}}, framing.CodeOverlap, "edits[0] and edits[1] overlap"},
		{"a\n", "f/x", []rangeEdit{{1, 1, "", ""}}, framing.CodeNotDirectory, `cannot edit "f/x": not a directory`},
		{"a\n", "d/", []rangeEdit{{1, 1, "", ""}}, framing.CodeInvalidArguments, `cannot edit "d/": path must name a file`},
		{"a\n", "d/../x", []rangeEdit{{1, 1, "", ""}}, framing.CodeNotFound, `cannot edit "d/../x": no such file or directory`},
		{"a\n", ".", []rangeEdit{{1, 1, "", ""}}, framing.CodeIsDirectory, `cannot edit ".": is a directory`},
		{huge, "f", []rangeEdit{{1, 1, "y", ""}}, framing.CodeTooLarge, `cannot edit "f": result exceeds 10485760 bytes`},
		{huge + "x", "f", []rangeEdit{{1, 2, "y", ""}}, framing.CodeTooLarge, `cannot edit "f": file exceeds 10485760 bytes`},
	} {
		tool, path := lineEditing(t, tt.content)
		requireFailure(t, call(t, tool, editArgs{tt.path, tt.edits}), tt.code, tt.message)
		if tt.content != "-" {
			requireContent(t, path, tt.content)
		}
	}
}

func TestDisplayOfWrongArgumentsHasThePath(t *testing.T) {
	env := tools.Env{Workspace: newWorkspace(t, nil)}
	for _, tool := range []tools.Tool{tools.NewEdit(env), tools.NewLineEdit(env), tools.NewWrite(env)} {
		for arguments, want := range map[string]string{
			`{"path":"a\nb","edits":7,"content":7}`: `a\nb`,
			`{"edits":[],"path":"f","path":"g"}`:    "f",
			`{"path":7}`:                            "",
			`{"path":"f"`:                           "",
			`[]`:                                    "",
		} {
			out := call(t, tool, arguments)
			require.Equal(t, framing.CodeInvalidArguments, out.Error.Code)
			require.Equal(t, want, out.Display.Header())
		}
	}
}

// TestLineEditAgreesWithRead copies lines as read shows them: they are the
// contexts that the editor accepts, and writing them back changes nothing.
func TestLineEditAgreesWithRead(t *testing.T) {
	ws := newWorkspace(t, nil)
	env := tools.Env{Workspace: ws}
	read, line := tools.NewRead(env), tools.NewLineEdit(env)
	rapid.Check(t, func(r *rapid.T) {
		content := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "", " b", "\t", "é"}), 1, 8).Draw(r, "lines"), "\n") + "\n"
		require.NoError(t, writeFile(ws, "f", content))
		shown := strings.Split(call(t, read, whole).Result.Body, "\n")
		text := make([]string, len(shown))
		for i, record := range shown {
			_, text[i], _ = strings.Cut(record, " ")
		}
		first := rapid.IntRange(1, len(text)).Draw(r, "first")
		last := rapid.IntRange(first, len(text)).Draw(r, "last")
		context := ""
		if first > 1 {
			context = text[first-2]
		}
		back := strings.Join(text[first-1:last], "\n") + "\n"
		out := call(t, line, editArgs{"f", []rangeEdit{{first, last + 1, back, context}}})
		require.Nil(t, out.Error, out.Text)
		require.Equal(t, "false", header(out, "changed"))

		next, err := strconv.Atoi(header(out, "new_max_valid_start_line"))
		require.NoError(t, err)
		require.Equal(t, len(text), next-1)
		out = call(t, line, editArgs{"f", []rangeEdit{{next, next, "more", text[len(text)-1]}}})
		require.Nil(t, out.Error, out.Text)
	})
}
