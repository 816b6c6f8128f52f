package tools_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/workspace"
)

// lsOf returns ls in a directory of regular files with the given names.
func lsOf(t testing.TB, names ...string) tools.Tool {
	return tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: &memDir{names: names}})})
}

func TestLsDefinition(t *testing.T) {
	d := lsOf(t).Definition()
	require.Equal(t, "ls", d.Name)
	require.Equal(t, []string{"shell:read", "shell:list"}, d.Tags)
	for _, word := range []string{
		"without regard to case", "dotfiles", "/ after directories", "NUMBER(flags) NAME", "invalid-utf8", "escaped", "symlink",
		"special", "truncated", "limit", "2000 lines", "10 KiB", "limit_reached",
	} {
		require.Contains(t, d.Description, word)
	}
}

func TestLsArguments(t *testing.T) {
	for _, tt := range []struct{ arguments, want string }{
		{`[]`, "arguments must be an object"},
		{`{"Path":"a"}`, `unknown field "Path"; allowed: path, limit`},
		{`{"limit":0,"path":"","limit":1}`, `duplicate field "limit"`},
		{`{"path":7,"limit":0}`, "path must be a string"},
		{`{"path":"","limit":0}`, "path must not be empty"},
		{`{"path":"a\u0000"}`, "path must not contain NUL"},
		{`{"limit":"5"}`, "limit must be an integer"},
		{`{"limit":2.5}`, "limit must be an integer"},
		{`{"limit":1e20}`, "limit must fit in a signed 64-bit integer"},
		{`{"limit":0}`, "limit must be >= 1"},
		{`{"limit":2002}`, "limit must be <= 2001"},
	} {
		requireFailure(t, call(t, lsOf(t, "a"), tt.arguments), framing.CodeInvalidArguments, tt.want)
	}
	for _, arguments := range []string{`{}`, `{"path":null,"limit":null}`, `{"path":".","limit":2001}`, `{"limit":2e0}`} {
		require.Equal(t, "1 a", call(t, lsOf(t, "a"), arguments).Text)
	}
}

func TestLsOrder(t *testing.T) {
	sorted := []string{
		"", "\x01", " a", ".hidden", "1", "10", "2", "A", "a", "a-", "a.txt", "A.txt2", "AB", "Ab", "aB", "ab", "B", "_z", "z",
		"Ä", "ä", "É", "é", "я", "\xef\xbf\xbd", "\xff", "\xffB", "\xffa"[:2] + "c", "😀",
	}
	slices.SortFunc(sorted, func(a, b string) int { // R21, once more
		return cmp.Or(cmp.Compare(strings.ToLower(replaced(a)), strings.ToLower(replaced(b))), cmp.Compare(a, b))
	})
	require.Less(t, slices.Index(sorted, "AB"), slices.Index(sorted, "Ab"))
	require.Less(t, slices.Index(sorted, "ab"), slices.Index(sorted, "B"))
	require.Less(t, slices.Index(sorted, "\xef\xbf\xbd"), slices.Index(sorted, "\xff"), "a tie of what is shown")

	want := call(t, lsOf(t, sorted...), `{}`).Text
	for i, line := range strings.Split(want, "\n") {
		label, _, _ := strings.Cut(line, " ")
		number, _, _ := strings.Cut(label, "(")
		require.Equal(t, strconv.Itoa(i+1), number)
	}
	require.Contains(t, want, "\n"+strconv.Itoa(slices.Index(sorted, "aB")+1)+" aB\n")
	for seed := range uint64(20) {
		shuffled := slices.Clone(sorted)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		require.Equal(t, want, call(t, lsOf(t, shuffled...), `{}`).Text)
	}
}

func TestLsSuffixAndEscapesTakeNoPartInTheOrder(t *testing.T) {
	d := &memDir{names: []string{"a.b", "a", "a\n", "a0"}, kind: func(string) (fs.FileMode, error) { return fs.ModeDir, nil }}
	out := call(t, tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: d})}), `{}`)
	require.Equal(t, "1 a/\n2(escaped) a\\n/\n3 a.b/\n4 a0/", out.Text)
}

func TestLsNames(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"plain", "1 plain"},
		{"a b", "1 a b"},
		{`a\b`, `1(escaped) a\\b`},
		{"a\r\n\tb", `1(escaped) a\r\n\tb`},
		{"\x1b]0;x\x07", `1(escaped) \u{1b}]0;x\u{7}`},
		{"a\u202egpj.exe", `1(escaped) a\u{202e}gpj.exe`},
		{"a\u200b", `1(escaped) a\u{200b}`},
		{"\u00a0", `1(escaped) \u{a0}`},
		{"   ", `1(escaped) \u{20}\u{20}\u{20}`},
		{"trailing ", `1(escaped) trailing\u{20}`},
		{": ", `1(escaped) :\u{20}`},
		{"error: x", "1 error: x"},
		{"1(truncated)", "1 1(truncated)"},
		{"...", "1 ..."},
		{"\xffa\xe2\x82", "1(invalid-utf8) \ufffda\ufffd"},
		{"\xff\n", `1(invalid-utf8,escaped) ` + "\ufffd" + `\n`},
		{"\ufffd", "1 \ufffd"},
		{strings.Repeat("n", 255), "1 " + strings.Repeat("n", 255)},
	} {
		out := call(t, lsOf(t, tt.name), `{}`)
		require.Equal(t, tt.want, out.Text)
		require.Equal(t, &tools.Stats{Lines: 1, Bytes: len(tt.want)}, out.Display.Stats)
	}
}

func TestLsTypes(t *testing.T) {
	types := map[string]fs.FileMode{
		"block": fs.ModeDevice, "char": fs.ModeDevice | fs.ModeCharDevice, "dir": fs.ModeDir, "fifo": fs.ModeNamedPipe,
		"file": 0, "link\n": fs.ModeSymlink, "socket": fs.ModeSocket, "\xff\n": fs.ModeSymlink,
	}
	d := &memDir{names: []string{"block", "char", "dir", "fifo", "file", "gone", "link\n", "socket", "\xff\n"}, kind: func(name string) (fs.FileMode, error) {
		if mode, ok := types[name]; ok {
			return mode, nil
		}
		return fs.ModeDir, fs.ErrNotExist
	}}
	require.Equal(t, "1(special) block\n2(special) char\n3 dir/\n4(special) fifo\n5 file\n6 gone\n7(escaped,symlink) link\\n\n8(special) socket\n"+
		"9(invalid-utf8,escaped,symlink) \ufffd\\n", call(t, tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: d})}), `{}`).Text)
}

func TestLsLimit(t *testing.T) {
	for _, tt := range []struct {
		entries   int
		arguments string
		shown     int
		headers   string
	}{
		{0, `{}`, 0, "entries: 0"},
		{1, `{}`, 1, ""},
		{500, `{}`, 500, ""},
		{501, `{}`, 500, "limit_reached: true\ntotal_entries: 501"},
		{3, `{"limit":3}`, 3, ""},
		{3, `{"limit":2}`, 2, "limit_reached: true\ntotal_entries: 3"},
		{100_000, `{"limit":1}`, 1, "limit_reached: true\ntotal_entries: 100000"},
		{100_001, `{"limit":1}`, 1, "limit_reached: true\nincomplete_scan: true"},
		{150_000, `{"limit":2}`, 2, "limit_reached: true\nincomplete_scan: true"},
	} {
		names := numberedNames(tt.entries)
		var body []string
		for i, name := range slices.Sorted(slices.Values(names[:min(len(names), 100_000)]))[:tt.shown] {
			body = append(body, fmt.Sprintf("%d %s", i+1, name))
		}
		out := call(t, lsOf(t, names...), tt.arguments)
		require.Equal(t, tt.headers, headers(out))
		require.Equal(t, strings.Join(body, "\n"), out.Result.Body, "the true first part of the sorted whole")
	}
}

// numberedNames returns n names in an order of their own.
func numberedNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("f%06d", (i*7919)%1_000_003)
	}
	return names
}

func TestLsByteBudget(t *testing.T) {
	for _, tt := range []struct {
		entries, limit int
		name           string // before the number
	}{
		{2000, 2000, strings.Repeat("n", 30)},
		{2001, 2001, "n"},
		{2500, 2001, strings.Repeat("é", 100)},
		{2500, 2000, "\xff"},
		{100, 50, strings.Repeat("\n", 230)},
	} {
		var names []string
		var records []record
		for i := range tt.entries {
			names = append(names, fmt.Sprintf("%s%05d", tt.name, i))
			if i < tt.limit {
				flag := map[bool]string{true: "escaped"}[strings.Contains(tt.name, "\n")]
				records = append(records, newRecord(i+1, strings.ReplaceAll(names[i], "\n", `\n`), flag))
			}
		}
		ls := tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: &memDir{names: names}}), Spool: newSpool(t, artifact.Options{})})
		out := call(t, ls, fmt.Sprintf(`{"limit":%d}`, tt.limit))
		want, truncated := fit(records)
		require.Equal(t, want, out.Result.Body)
		require.True(t, truncated)
		require.Equal(t, native(records), saved(t, out), "the selected records")
		require.Equal(t, strconv.Itoa(len(records)), header(out, "total_lines"))
		require.Equal(t, strconv.Itoa(len(native(records))), header(out, "total_bytes"))
		order := []string{"limit_reached", "total_entries", "truncated", "total_lines", "total_bytes", "truncation_warning", "full_output_path"}
		if tt.entries <= tt.limit {
			order = order[2:]
		}
		require.Equal(t, order, keys(out))
	}
}

func TestLsDisplay(t *testing.T) {
	for arguments, want := range map[string]string{`{}`: ".", `{"path":"a\n"}`: `a\n`, `{"path":"/x/"}`: "/x/", `{"limit":0}`: ""} {
		require.Equal(t, want, call(t, lsOf(t), arguments).Display.Header())
		require.Equal(t, want, lsOf(t).(tools.Previewer).Preview(tools.Call{Arguments: []byte(arguments)}).Header())
	}
	require.Equal(t, &tools.Stats{}, call(t, lsOf(t), `{}`).Display.Stats)
}

// brokenDir fails after its first batch of names.
type brokenDir struct {
	memDir
	fault error
}

func (d *brokenDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if entries, err := d.memDir.ReadDir(n); err == nil {
		return entries, nil
	}
	return nil, d.fault
}

func TestLsFailingDirectory(t *testing.T) {
	d := &brokenDir{memDir{names: []string{"a"}}, errors.New("disk on fire")}
	out := call(t, tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: d})}), `{"path":"d"}`)
	requireFailure(t, out, framing.CodeIO, `cannot list "d": disk on fire`)

	d = &brokenDir{memDir{names: []string{"a"}}, workspace.ErrSandboxDenied}
	out = call(t, tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: d})}), `{"path":"d"}`)
	requireFailure(t, out, framing.CodeSandboxDenied, `cannot list "d": denied by the sandbox`)
}

func TestLsChecksTheContext(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   int // the entry at which the call is cancelled
	}{{"at the first entry", 1}, {"later", 900}} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			asked := 0
			d := &memDir{names: numberedNames(3000), kind: func(string) (fs.FileMode, error) {
				if asked++; asked == tt.at {
					cancel()
				}
				return 0, nil
			}}
			dir := t.TempDir()
			spool, err := artifact.NewSpool(artifact.Options{Dir: dir})
			require.NoError(t, err)
			defer spool.Close() //nolint:errcheck // empty
			out := tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: d}), Spool: spool}).Call(ctx, tools.Call{Arguments: []byte(`{"limit":2001}`)})
			requireWellFormed(t, out)
			require.Equal(t, "cancelled: cancelled by the caller", out.Text)
			require.LessOrEqual(t, asked-tt.at, 1024)
			entries, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	}
}
