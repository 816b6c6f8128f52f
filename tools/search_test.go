package tools_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

func TestSearchDefinitions(t *testing.T) {
	for _, tt := range []struct {
		tool  tools.Tool
		parts []string
	}{
		{tools.NewGrep(tools.Env{}), []string{
			"RE2 syntax", "look-around or back-references", "literal: true", "within one line", "Ignore files are respected", "hidden files are searched",
			"version control", "LINE:CONTENT", "LINE-CONTENT", `\\ is one backslash`, "(invalid-utf8) ", "10 KiB", "saved", "500 characters",
		}},
		{tools.NewFind(tools.Env{}), []string{
			"never directories", "use ls", "relative to path", "at any depth", "whole relative path", "any number of directories, also none",
			"Ignore files are respected", `\\ is one backslash`, "(invalid-utf8) ", "(truncated)", "2000 lines and 10 KiB",
		}},
	} {
		d := tt.tool.Definition()
		require.True(t, d.ReadOnly)
		for _, part := range tt.parts {
			require.Contains(t, d.Description, part)
		}
		for _, program := range []string{"ripgrep", "rg ", "fd "} {
			require.NotContains(t, d.Description, program)
		}
	}
}

// namesOf returns n different names of the given length in bytes.
func namesOf(n, length, first int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%05d", first+i)+strings.Repeat("n", length-5))
	}
	return list
}

// TestFindBoundary is the table of the boundary at which a list is cut, for a
// limit of 100.
func TestFindBoundary(t *testing.T) {
	wide := make([]string, 101)
	for i := range wide {
		wide[i] = fmt.Sprintf("%05d", i) + strings.Repeat("é", 48)
	}
	for _, tt := range []struct {
		name    string
		files   []string
		body    int  // bytes, notices included
		cut     bool // natively
		limited bool
		total   int // bytes of the native rendering
		markers int
	}{
		{"100 x 101", namesOf(100, 101, 0), 10199, false, false, 0, 0},
		{"101 x 101", namesOf(101, 101, 0), 10229, true, true, 10199, 1},
		{"100 x 102", namesOf(100, 102, 0), 10167, true, false, 10299, 2},
		{"101 x 102", namesOf(101, 102, 0), 10237, true, true, 10299, 2},
		{"68 x 101, 32 x 100, one more", append(append(namesOf(68, 101, 0), namesOf(32, 100, 68)...), namesOf(1, 100, 100)...), 10240, false, true, 0, 0},
		{"69 x 101, 31 x 100, one more", append(append(namesOf(69, 101, 0), namesOf(31, 100, 69)...), namesOf(1, 100, 100)...), 10199, true, true, 10168, 1},
		{"41 x 102, 59 x 101", append(namesOf(41, 102, 0), namesOf(59, 101, 41)...), 10240, false, false, 0, 0},
		{"42 x 102, 58 x 101", append(namesOf(42, 102, 0), namesOf(58, 101, 42)...), 0, true, false, 10241, 1},
		{"101 x 48 of two bytes", wide, 10229, true, true, 10199, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, name := range tt.files {
				files[name] = ""
			}
			tool := tools.NewFind(tools.Env{Workspace: newWorkspace(t, files), Spool: newSpool(t, artifact.Options{})})
			out := call(t, tool, `{"pattern":"*","limit":100}`)
			require.Nil(t, out.Error, out.Text)
			if tt.body > 0 {
				require.Len(t, out.Result.Body, tt.body)
			}
			require.LessOrEqual(t, len(out.Result.Body), 10240)
			require.Equal(t, "100", header(out, "matches"))
			require.Equal(t, tt.limited, header(out, "limit_reached") == "true")
			require.Equal(t, tt.cut, header(out, "truncated") == "true")
			require.Equal(t, tt.markers, strings.Count(out.Result.Body, "(truncated)"))
			require.Equal(t, tt.limited, strings.Contains(out.Result.Body, "100 results limit reached. Use limit=200 for more, or refine pattern."))
			require.Equal(t, tt.cut, strings.Contains(out.Result.Body, "10 KiB/2000 line visible output limit reached."))
			if tt.cut {
				require.Equal(t, strconv.Itoa(tt.total), header(out, "total_bytes"))
				require.Equal(t, "100", header(out, "total_lines"))
				require.Equal(t, strings.Join(tt.files[:100], "\n"), saved(t, out))
			}
			figures := ", 100 files"
			if tt.limited {
				figures = ", 100+ files"
			}
			require.Equal(t, "* in ."+figures, out.Display.Header())
		})
	}
}

func TestGrepIsCutBetweenRecords(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat("needle "+strings.Repeat("x", 90)+"\n", 10)
	}
	tool := tools.NewGrep(tools.Env{Workspace: newWorkspace(t, files), Spool: newSpool(t, artifact.Options{})})
	for limit := 90; limit < 115; limit++ {
		out := call(t, tool, map[string]any{"pattern": "needle", "limit": limit})
		require.LessOrEqual(t, len(out.Result.Body), 10240)
		records, notices, ok := strings.Cut(out.Result.Body, "\n\n[")
		require.True(t, ok)
		require.True(t, strings.HasPrefix(notices, fmt.Sprintf("%d matches limit reached. Use limit=%d for more, or refine pattern.", limit, 2*limit)))
		lines := strings.Split(records, "\n")
		last := lines[len(lines)-1]
		if header(out, "truncated") == "true" {
			require.Equal(t, "(truncated)", last)
			last = lines[len(lines)-2]
			require.Equal(t, fmt.Sprint(limit+(limit+9)/10), header(out, "total_lines"))
			require.Contains(t, notices, "10 KiB visible output limit reached.")
			require.True(t, strings.HasPrefix(saved(t, out), strings.Join(lines[:len(lines)-1], "\n")))
		}
		require.Contains(t, last, ":needle", "no heading comes last")
	}
}

func TestGrepNotices(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"a": "needle " + strings.Repeat("x", 600) + "\nneedle \xff\n", "b": "f(x)\n"})
	tool := tools.NewGrep(tools.Env{Workspace: ws})
	out := call(t, tool, `{"pattern":"needle"}`)
	require.True(t, strings.HasSuffix(out.Result.Body, "\n\n[Some lines truncated to 500 chars. Use read tool to see full lines. Some lines contain invalid UTF-8, shown as U+FFFD.]"), out.Text)
	out = call(t, tool, `{"pattern":"f(x)"}`)
	require.Equal(t, "status: 1\nmatches: 0\n\nno matches found\n\n[The pattern is a regular expression; the same text occurs literally. Use literal: true.]", out.Text)
	require.Equal(t, `"f(x)" in ., 0 matches`, out.Display.Header())
	out = call(t, tool, `{"pattern":"f(x)","literal":true,"path":"./b","glob":"*.go"}`)
	require.Equal(t, "status: 0\nmatches: 1\n\nb\n1:f(x)", out.Text)
	require.Equal(t, `"f(x)" in ./b [*.go], 1 match`, out.Display.Header())
	out = call(t, tool, `{"pattern":"needle","limit":1}`)
	require.Equal(t, `"needle" in ., 1+ matches`, out.Display.Header())
	require.Contains(t, out.Text, "[1 matches limit reached. Use limit=2 for more, or refine pattern. Some lines truncated")
}

func TestGrepTellsWhatCouldNotBeRead(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"d/a\"b": "\xff\xfe", "d/" + strings.Repeat("z", 230): "\xff\xfe", "d/y": "needle\n"})
	for name := range map[string]bool{"d/a\"b": true, "d/" + strings.Repeat("z", 230): true} {
		require.NoError(t, os.Truncate(filepath.Join(ws.Dir(), name), 64<<20+2)) // UTF-16, and too large for that
	}
	tool := tools.NewGrep(tools.Env{Workspace: ws})
	out := call(t, tool, `{"pattern":"needle","path":"d"}`)
	require.Equal(t, "status: 2\nmatches: 1\nunsearched: 2\n\nd/y\n1:needle\n\n[2 paths could not be read (first: \"d/a\\\"b\": UTF-16 file too large).]", out.Text)
	out = call(t, tool, `{"pattern":"none","path":"d","glob":"z*"}`)
	require.Equal(t, "status: 2\nmatches: 0\nunsearched: 1\n\nno matches found\n\n[1 path could not be read (\"d/"+
		strings.Repeat("z", 198)+"…\": UTF-16 file too large).]", out.Text)
}

func TestHeadingsCanBeGivenToOtherTools(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"d/e/f": "x\n", "1:2": "x\n"})
	env := tools.Env{Workspace: ws}
	for path, want := range map[string]string{
		"": "./1:2\n1:x\nd/e/f\n1:x", ".": "./1:2\n1:x\nd/e/f\n1:x", "d": "d/e/f\n1:x", "./d/": "d/e/f\n1:x",
		"d//e": "d/e/f\n1:x", "d/../d/e": "d/../d/e/f\n1:x", "d/e/f": "d/e/f\n1:x", ws.Dir() + "/d": ws.Dir() + "/d/e/f\n1:x",
	} {
		out := call(t, tools.NewGrep(env), map[string]any{"pattern": "x", "path": path})
		require.Equal(t, want, out.Result.Body, path)
		heading := want[:strings.LastIndex(want, "\n")]
		heading = heading[strings.LastIndex(heading, "\n")+1:]
		require.Equal(t, "1 x", call(t, tools.NewRead(env), readArgs{Path: heading}).Text)
	}
}

func TestSearchFailures(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"f": "x\n"})
	env := tools.Env{Workspace: ws}
	for _, tt := range []struct {
		tool                     tools.Tool
		arguments, code, message string
	}{
		{tools.NewGrep(env), `{"pattern":"(","path":"missing"}`, tools.CodeSearchPattern, "invalid pattern: missing closing ): `(`; use literal: true to search for the text as it is"},
		{tools.NewGrep(env), `{"pattern":"x","glob":"[","path":"missing"}`, tools.CodeSearchGlob, `invalid glob "[": unclosed [`},
		{tools.NewGrep(env), `{"pattern":"x","path":"missing"}`, framing.CodeNotFound, `cannot search "missing": no such file or directory`},
		{tools.NewGrep(env), `{"pattern":"x","path":"f/x"}`, framing.CodeNotDirectory, `cannot search "f/x": not a directory`},
		{tools.NewFind(env), `{"pattern":"{","path":"missing"}`, tools.CodeSearchGlob, `invalid glob "{": unclosed {`},
		{tools.NewFind(env), `{"pattern":"*","path":"f"}`, framing.CodeNotDirectory, `cannot search "f": not a directory`},
		{tools.NewFind(env), `{"pattern":"a\u0000"}`, framing.CodeInvalidArguments, "pattern must not contain NUL"},
		{tools.NewGrep(env), `{"pattern":"","path":7}`, framing.CodeInvalidArguments, "pattern must not be empty"},
		{tools.NewGrep(env), `{"pattern":"x","context":21}`, framing.CodeInvalidArguments, "context must be <= 20"},
	} {
		requireFailure(t, call(t, tt.tool, tt.arguments), tt.code, tt.message)
	}
	for _, tool := range []tools.Tool{tools.NewGrep(tools.Env{Workspace: fileOf(t, "x")}), tools.NewFind(tools.Env{Workspace: fileOf(t, "x")})} {
		requireFailure(t, call(t, tool, `{"pattern":"x","path":null}`), framing.CodeIO, `cannot search ".": this file system cannot be searched`)
	}
}

func TestSearchIsCancelled(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"f": "x\n"})
	for _, tool := range []tools.Tool{tools.NewGrep(tools.Env{Workspace: ws}), tools.NewFind(tools.Env{Workspace: ws})} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		out := tool.Call(ctx, tools.Call{Arguments: []byte(`{"pattern":"x"}`)})
		require.Equal(t, "cancelled: cancelled by the caller", out.Text)
	}
}
