package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

// manyRanges is the text of n ranges, all of them malformed.
func manyRanges(n int) string { return "[" + strings.Repeat("7,", n-1) + "7]" }

func TestReadArguments(t *testing.T) {
	const allowed = "; allowed: path, start_line, end_line, ranges"
	tool := tools.NewRead(tools.Env{Workspace: memory(t, memFS{})}) // touching a file would be FS_NOT_FOUND
	for _, tt := range []struct{ arguments, want string }{
		{`[]`, "arguments must be an object"},
		{`null`, "arguments must be an object"},
		{`{"path":"a"} x`, "arguments are not valid JSON"},
		{`{"path":"\ud800"}`, "arguments are not valid Unicode"},

		// fields in document order, before any value
		{`{"PATH":1,"path":7,"path":8}`, `unknown field "PATH"` + allowed},
		{`{"path":7,"path":8,"x":1}`, `duplicate field "path"`},
		{`{"path":7,"x":1,"path":8}`, `unknown field "x"` + allowed},
		{`{"path":null,"p\u0061th":null}`, `duplicate field "path"`},
		{`{"a\"\n\u202eb":1}`, `unknown field "a\"\n\u{202e}b"` + allowed},
		{`{"` + strings.Repeat("é", 40) + `":1}`, `unknown field "` + strings.Repeat("é", 32) + `"` + allowed},

		{`{}`, "path must be a string"},
		{`{"path":null,"start_line":"x"}`, "path must be a string"},
		{`{"path":["a"]}`, "path must be a string"},
		{`{"path":"","start_line":"x"}`, "path must not be empty"},
		{`{"path":"a\u0000","start_line":"x"}`, "path must not contain NUL"},

		{`{"path":"a","start_line":"1","end_line":0}`, "start_line must be an integer"},
		{`{"path":"a","start_line":1.5}`, "start_line must be an integer"},
		{`{"path":"a","start_line":true}`, "start_line must be an integer"},
		{`{"path":"a","start_line":1e-400}`, "start_line must be an integer"},
		{`{"path":"a","start_line":9223372036854775808}`, "start_line must fit in a signed 64-bit integer"},
		{`{"path":"a","start_line":1e999999999}`, "start_line must fit in a signed 64-bit integer"},
		{`{"path":"a","start_line":-9223372036854775808}`, "start_line must be >= 1"},
		{`{"path":"a","start_line":0,"end_line":"x"}`, "start_line must be >= 1"},
		{`{"path":"a","start_line":-0}`, "start_line must be >= 1"},
		{`{"path":"a","start_line":5,"end_line":"x","ranges":7}`, "end_line must be an integer"},
		{`{"path":"a","end_line":1e19}`, "end_line must fit in a signed 64-bit integer"},
		{`{"path":"a","start_line":5,"end_line":0}`, "end_line must be >= 1"},

		{`{"path":"a","start_line":5,"ranges":7}`, "ranges cannot be combined with start_line or end_line"},
		{`{"path":"a","end_line":5,"ranges":[]}`, "ranges cannot be combined with start_line or end_line"},
		{`{"path":"a","start_line":5,"end_line":4,"ranges":[]}`, "ranges cannot be combined with start_line or end_line"},
		{`{"path":"a","ranges":{"start_line":1,"end_line":1}}`, "ranges must be an array"},
		{`{"path":"a","ranges":"[]"}`, "ranges must be an array"},
		{`{"path":"a","ranges":[]}`, "ranges must not be empty"},
		{`{"path":"a","ranges":` + manyRanges(101) + `}`, "ranges exceeds the limit of 100 entries"},
		{`{"path":"a","ranges":` + manyRanges(100) + `}`, "ranges[0] must be an object"},
		{`{"path":"a","ranges":[null]}`, "ranges[0] must be an object"},

		{`{"path":"a","ranges":[{"start_line":1,"end_line":2},{"x":1}]}`, `ranges[1]: unknown field "x"; allowed: start_line, end_line`},
		{`{"path":"a","ranges":[{"start_line":"x","start_line":1}]}`, `ranges[0]: duplicate field "start_line"`},
		{`{"path":"a","ranges":[{}]}`, "ranges[0]: start_line must be an integer"},
		{`{"path":"a","ranges":[{"start_line":null,"end_line":1}]}`, "ranges[0]: start_line must be an integer"},
		{`{"path":"a","ranges":[{"start_line":0}]}`, "ranges[0]: start_line must be >= 1"},
		{`{"path":"a","ranges":[{"start_line":1}]}`, "ranges[0]: end_line must be an integer"},
		{`{"path":"a","ranges":[{"start_line":5,"end_line":0}]}`, "ranges[0]: end_line must be >= 1"},
		{`{"path":"a","ranges":[{"start_line":5,"end_line":4},{"start_line":0}]}`, "ranges[0]: end_line must be >= start_line"},
		{`{"path":"a","ranges":[{"start_line":1e30,"end_line":4}]}`, "ranges[0]: start_line must fit in a signed 64-bit integer"},

		{`{"path":"a","start_line":5,"end_line":4}`, "end_line must be >= start_line"},
	} {
		t.Run(fmt.Sprintf("%.60s", tt.arguments), func(t *testing.T) {
			out := call(t, tool, tt.arguments)
			requireFailure(t, out, framing.CodeInvalidArguments, tt.want)
			require.Equal(t, "error: "+tt.want, out.Text)
			require.Empty(t, out.Display.Header())
		})
	}
}

func TestReadPathIsTakenAsItIs(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"~": "tilde", "$HOME": "dollar", " a ": "spaces", "a\\b": "back", "*": "star"})
	tool := tools.NewRead(tools.Env{Workspace: ws})
	for path, want := range map[string]string{"~": "tilde", "$HOME": "dollar", " a ": "spaces", "./*": "star"} {
		require.Equal(t, "1(no_nl) "+want, call(t, tool, readArgs{Path: path}).Text)
	}
}

func TestReadQuotesPathsInMessages(t *testing.T) {
	tool := tools.NewRead(tools.Env{Workspace: memory(t, memFS{})})
	for _, tt := range []struct{ path, want string }{
		{"q\"u\n.txt", `"q\"u\n.txt"`},
		{"a\u202eb.go", `"a\u{202e}b.go"`},
		{`a\b`, `"a\\b"`},
		{" a ", `"\u{20}a\u{20}"`},
		{strings.Repeat("é", 512), `"` + strings.Repeat("é", 512) + `"`},
		{strings.Repeat("é", 513), `"` + strings.Repeat("é", 255) + "…" + strings.Repeat("é", 255) + `"`},
		{strings.Repeat("\n", 600), `"` + strings.Repeat(`\n`, 255) + "…" + strings.Repeat(`\n`, 255) + `"`},
	} {
		out := call(t, tool, readArgs{Path: tt.path})
		requireFailure(t, out, framing.CodeNotFound, "cannot read "+tt.want+": no such file or directory")
	}
}
