package tools_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

// requireSuggestion checks what a missing file is told to be instead; "" means
// nothing.
func requireSuggestion(t *testing.T, names []string, path, want string) {
	t.Helper()
	listing := &memDir{names: names}
	out := call(t, tools.NewRead(tools.Env{Workspace: memory(t, memFS{listing: listing})}), readArgs{Path: path})
	message := fmt.Sprintf("cannot read %q: no such file or directory", path)
	if want != "" {
		message += fmt.Sprintf("; did you mean %q?", want)
	}
	requireFailure(t, out, framing.CodeNotFound, message)
	require.Len(t, out.Result.Headers, 1)
}

func TestReadSuggestsTheOneNearestName(t *testing.T) {
	filler := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("something quite different %d", i))
		}
		return names
	}
	a80, a81 := strings.Repeat("é", 80), strings.Repeat("é", 81)
	for _, tt := range []struct {
		name, path string
		names      []string
		want       string
	}{
		{"distance 2 of a short name", "ab", []string{"abcd"}, "abcd"},
		{"distance 3 of a short name", "ab", []string{"abcde"}, ""},
		{"distance 2 of 8 characters", "abcdefgh", []string{"abcdefXX"}, "abcdefXX"},
		{"distance 3 of 8 characters", "abcdefgh", []string{"abcdeXXX"}, ""},
		{"distance 3 of 9 characters", "abcdefghi", []string{"abcdefXXX"}, "abcdefXXX"},
		{"distance 4 of 11 characters", "abcdefghijk", []string{"abcdefgXXXX"}, ""},
		{"characters, not bytes", "日本語", []string{"日本人"}, "日本人"},
		{"length counts characters", "éééééé", []string{"éééXXX"}, ""},
		{"a tie", "main.go", []string{"main.gx", "main.gy"}, ""},
		{"a nearer one than a tie", "main.go", []string{"main.xx", "main.yy", "main.gz"}, "main.gz"},
		{"case counts", "README", []string{"readme"}, ""},
		{"nothing near", "main.go", []string{"README.md"}, ""},
		{"empty directory", "main.go", nil, ""},
		{"64 entries", "main.go", append(filler(63), "main.og"), "main.og"},
		{"65 entries", "main.go", append(filler(64), "main.og"), ""},
		{"invalid candidate", "ab", []string{"a\xff"}, ""},
		{"invalid candidate makes no tie", "ab", []string{"a\xff", "ac"}, "ac"},
		{"80 characters", a80[2:] + "x", []string{a80}, a80},
		{"81 characters asked for", a81, []string{a80}, ""},
		{"81 characters there", a80, []string{a81}, ""},
		{"trailing slash", "main.go/", []string{"main.og"}, ""},
		{"last element only", "dir/../main.go", []string{"main.og"}, "dir/../main.og"},
		{"absolute", "/x/main.go", []string{"main.og"}, "/x/main.og"},
		{"the name itself, dangling", "main.go", []string{"main.go", "main.og"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { requireSuggestion(t, tt.names, tt.path, tt.want) })
	}
}

func TestReadQuotesItsSuggestion(t *testing.T) {
	out := call(t, tools.NewRead(tools.Env{Workspace: memory(t, memFS{listing: &memDir{names: []string{"a\n\"\u202e"}}})}), `{"path":"a\nxx"}`)
	requireFailure(t, out, framing.CodeNotFound, `cannot read "a\nxx": no such file or directory; did you mean "a\n\"\u{202e}"?`)
}

// TestReadSuggestionIsNeverCut has paths so long that a message has no room for
// two of them.
func TestReadSuggestionIsNeverCut(t *testing.T) {
	const reason = `": no such file or directory`
	for directories := 400; directories <= 520; directories++ {
		path := strings.Repeat("d/", directories) + "main.og"
		out := call(t, tools.NewRead(tools.Env{Workspace: memory(t, memFS{listing: &memDir{names: []string{"main.go"}}})}), readArgs{Path: path})
		require.Contains(t, out.Error.Error(), reason)
		if !strings.HasSuffix(out.Error.Error(), reason) {
			require.True(t, strings.HasSuffix(out.Error.Error(), `main.go"?`), "%s", out.Text)
		}
	}
}

func TestReadSuggestsRealFiles(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"src/target_file": "", "src/other": ""})
	tool := tools.NewRead(tools.Env{Workspace: ws})
	out := call(t, tool, `{"path":"src/target_fiel"}`)
	requireFailure(t, out, framing.CodeNotFound, `cannot read "src/target_fiel": no such file or directory; did you mean "src/target_file"?`)
	out = call(t, tool, `{"path":"scr/target_file"}`)
	requireFailure(t, out, framing.CodeNotFound, `cannot read "scr/target_file": no such file or directory`)
	require.NoError(t, os.Remove(ws.Dir()+"/src/target_file"))
	out = call(t, tool, `{"path":"src/target_fiel"}`)
	requireFailure(t, out, framing.CodeNotFound, `cannot read "src/target_fiel": no such file or directory`)
}
