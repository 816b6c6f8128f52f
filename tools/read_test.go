package tools_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

func TestReadDefinition(t *testing.T) {
	d := tools.NewRead(tools.Env{Workspace: newWorkspace(t, nil)}).Definition()
	require.Equal(t, "read", d.Name)
	require.Equal(t, []string{"shell:read"}, d.Tags)
	require.True(t, d.ReadOnly && d.Idempotent && !d.Destructive)
	for _, word := range []string{
		"whole file", "2000 lines", "10 KiB", "...", "start_line", "end_line", "inclusive", "100 ranges", "overlap", "empty line",
		"past the end", "clipped", "NUMBER(flags) TEXT", "invalid-utf8", "crlf", "cr ", "no_nl", "truncated", "total_lines", "full_output_path", "16 MiB",
	} {
		require.Contains(t, d.Description, word)
	}
}

func TestReadShowsLines(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"endings", "one\r\ntwo\n\nlast", "1(crlf) one\n2 two\n3 \n4(no_nl) last"},
		{"CR alone", "a\r\r\nb\r", "1(cr) a\n2(crlf) \n3(cr) b"},
		{"LF CR", "\n\r", "1 \n2(cr) "},
		{"no other line ends", "a\vb\fc\u0085d\u2028e\u2029f\n", "1 a\vb\fc\u0085d\u2028e\u2029f"},
		{"BOM is content", "\ufeffx\n", "1 \ufeffx"},
		{"invalid", "a\xff\xfeb\n", "valid_utf8: false\n\n1(invalid-utf8) a\ufffd\ufffdb"},
		{"replacement character", "\ufffd\n", "1 \ufffd"},
		{"all flags", "\xe2\x82\r\n\xf0\x9f\x98A\r\xed\xa0\x80", "valid_utf8: false\n\n1(invalid-utf8,crlf) \ufffd\n2(invalid-utf8,cr) \ufffdA\n3(invalid-utf8,no_nl) \ufffd\ufffd\ufffd"},
		{"nothing is escaped", "\t\\n \"\x1b[31m\u202e,(x) \n", "1 \t\\n \"\x1b[31m\u202e,(x) "},
		{"NUL is shown", "a\x00b\n", `1 a\u{0}b`},
		{"forged header", "error: x\n\nerror: y\n", "1 error: x\n2 \n3 error: y"},
		{"spaces", "  \n", "1   "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"f": tt.content})})
			require.Equal(t, tt.want, call(t, tool, whole).Text)
		})
	}
}

func TestReadRanges(t *testing.T) {
	const content = "one\r\ntwo\n\xff\nlast"
	for _, tt := range []struct {
		name, arguments, want string
	}{
		{"start", `{"path":"f","start_line":4}`, "4(no_nl) last"},
		{"end", `{"path":"f","end_line":1}`, "1(crlf) one"},
		{"both", `{"path":"f","start_line":2,"end_line":3}`, "2 two\n3(invalid-utf8) \ufffd"},
		{"end is clipped", `{"path":"f","start_line":4,"end_line":9223372036854775807}`, "4(no_nl) last"},
		{"null is absent", `{"path":"f","start_line":null,"end_line":2.0,"ranges":null}`, "1(crlf) one\n2 two"},
		{"one range", `{"path":"f","ranges":[{"start_line":2,"end_line":2}]}`, "2 two"},
		{"null beside ranges", `{"path":"f","start_line":null,"ranges":[{"start_line":2,"end_line":2}]}`, "2 two"},
		{"order as given", `{"path":"f","ranges":[{"start_line":4,"end_line":9},{"start_line":1,"end_line":2}]}`, "4(no_nl) last\n\n1(crlf) one\n2 two"},
		{"overlaps and repeats", `{"path":"f","ranges":[{"start_line":1,"end_line":2},{"start_line":2,"end_line":2},{"start_line":2,"end_line":2}]}`, "1(crlf) one\n2 two\n\n2 two\n\n2 two"},
		{"largest end", `{"path":"f","ranges":[{"start_line":4,"end_line":9223372036854775807},{"start_line":4,"end_line":9223372036854775806}]}`, "4(no_nl) last\n\n4(no_nl) last"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"f": content})})
			out := call(t, tool, tt.arguments)
			require.Equal(t, "valid_utf8: false\n\n"+tt.want, out.Text, "validity is that of the file")
			require.Equal(t, &tools.Stats{Lines: strings.Count(tt.want, "\n") + 1, Bytes: len(tt.want)}, out.Display.Stats)
		})
	}
}

func TestReadPastEnd(t *testing.T) {
	for _, tt := range []struct {
		name, content, arguments string
		start                    string
		lines                    string
	}{
		{"one past", "a\nb\nc", `{"path":"f","start_line":4}`, "4", "3"},
		{"empty file", "", `{"path":"f","start_line":2}`, "2", "0"},
		{"largest", "a", `{"path":"f","start_line":9223372036854775807}`, "9223372036854775807", "1"},
		{"first bad range", "a\nb\n", `{"path":"f","ranges":[{"start_line":1,"end_line":1},{"start_line":9,"end_line":9},{"start_line":8,"end_line":8}]}`, "9", "2"},
		{"empty file, ranges", "", `{"path":"f","ranges":[{"start_line":1,"end_line":1},{"start_line":3,"end_line":3}]}`, "3", "0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"f": tt.content})})
			out := call(t, tool, tt.arguments)
			requireFailure(t, out, tools.CodeReadPastEOF, "start_line "+tt.start+" is past end of file (total_lines: "+tt.lines+")")
			require.Equal(t, []framing.Header{{Key: "total_lines", Value: tt.lines}}, out.Error.Fields)
			require.Equal(t, []string{"error", "total_lines"}, keys(out))
		})
	}
}

func TestReadEmptyFile(t *testing.T) {
	tool := tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"f": ""}), Spool: newSpool(t, artifact.Options{})})
	for _, arguments := range []string{
		`{"path":"f"}`, `{"path":"f","start_line":1}`, `{"path":"f","end_line":7}`,
		`{"path":"f","ranges":[{"start_line":1,"end_line":1}]}`,
		`{"path":"f","ranges":[{"start_line":1,"end_line":5},{"start_line":1,"end_line":1},{"start_line":1,"end_line":2}]}`,
	} {
		out := call(t, tool, arguments)
		require.Equal(t, "total_lines: 0\ntotal_bytes: 0", out.Text, arguments)
		require.Nil(t, out.Display.Stats)
	}
}

func TestReadDisplay(t *testing.T) {
	tool := tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"f": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})})
	for _, tt := range []struct{ arguments, want string }{
		{`{"path":"f"}`, "f .."},
		{`{"path":"f","start_line":2}`, "f 2.."},
		{`{"path":"f","end_line":3}`, "f 1..3"},
		{`{"path":"f","start_line":2,"end_line":3}`, "f 2..3"},
		{`{"path":"f","end_line":99}`, "f 1..99"},
		{`{"path":"f","ranges":[{"start_line":2,"end_line":3}]}`, "f 2..3"},
		{`{"path":"f","ranges":[{"start_line":7,"end_line":9},{"start_line":1,"end_line":1}]}`, "f 7..9,1..1"},
		{`{"path":"./f"}`, "./f .."},
		{`{"path":"no\u001b\n\u202e file"}`, `no\u{1b}\n\u{202e} file ..`},
		{`{"path":"f","start_line":99}`, "f 99.."},
		{`{"path":""}`, ""},
	} {
		out := call(t, tool, tt.arguments)
		require.Equal(t, tt.want, out.Display.Header())
		require.Equal(t, tt.want, tool.(tools.Previewer).Preview(tools.Call{Arguments: []byte(tt.arguments)}).Args)
	}
}

func TestReadStatsAreThoseOfTheVisibleBody(t *testing.T) {
	tool := tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"f": strings.Repeat("\n", 2001)})})
	out := call(t, tool, whole)
	require.Equal(t, &tools.Stats{Lines: 1891, Bytes: 10236}, out.Display.Stats)
}

func TestReadEchoesNeitherPathNorRange(t *testing.T) {
	tool := tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"name": "x\n"})})
	out := call(t, tool, `{"path":"name","start_line":1,"end_line":77}`)
	require.Equal(t, "1 x", out.Text)
}
