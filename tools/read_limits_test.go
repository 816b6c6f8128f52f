package tools_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

const tooLarge = `cannot read "f": file exceeds 16777216 bytes`

func TestReadSizeLimit(t *testing.T) {
	line := strings.Repeat("x", 1<<10-1) + "\n"
	limit := strings.Repeat(line, 16<<20/len(line))
	last := readArgs{Path: "f", Start: 16384}

	tool := tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"f": limit})})
	require.Equal(t, "16384 "+line[:1023], call(t, tool, last).Text)
	tool = tools.NewRead(tools.Env{Workspace: newWorkspace(t, map[string]string{"f": limit + "\n"})})
	requireFailure(t, call(t, tool, last), framing.CodeTooLarge, tooLarge)
}

// TestReadBelievesBytesOnly reads files whose size is not what they say.
func TestReadBelievesBytesOnly(t *testing.T) {
	content := func(n int) func() io.Reader {
		line := strings.Repeat("x", 1<<10-1) + "\n"
		text := strings.Repeat(line, n/len(line)) + strings.Repeat("\n", n%len(line))
		return func() io.Reader { return strings.NewReader(text) }
	}
	first := readArgs{Path: "f", End: 1}
	for _, tt := range []struct {
		name    string
		bytes   int
		size    int64
		refused bool
	}{
		{"grew to the limit", tools.MaxReadBytes, 1, false},
		{"grew past the limit", tools.MaxReadBytes + 1, 1, true},
		{"no size, endless", 40 << 20, 0, true},
		{"size past the limit", 1, tools.MaxReadBytes + 1, true},
		{"shrank", 5, tools.MaxReadBytes, false},
		{"negative size", 5, -1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := call(t, tools.NewRead(tools.Env{Workspace: memory(t, memFS{open: content(tt.bytes), size: tt.size})}), first)
			if tt.refused {
				requireFailure(t, out, framing.CodeTooLarge, tooLarge)
				return
			}
			require.Nil(t, out.Error)
			out = call(t, tools.NewRead(tools.Env{Workspace: memory(t, memFS{open: content(tt.bytes), size: tt.size})}), whole)
			if tt.bytes > 2000 {
				require.Equal(t, strconv.Itoa(tt.bytes), header(out, "total_bytes"), "the bytes read, not the size")
			}
		})
	}
}

func TestReadStopsReadingPastTheLimit(t *testing.T) {
	endless := &counter{r: zeros{}}
	ws := memory(t, memFS{open: func() io.Reader { return endless }})
	requireFailure(t, call(t, tools.NewRead(tools.Env{Workspace: ws}), whole), framing.CodeTooLarge, tooLarge)
	require.LessOrEqual(t, endless.n, tools.MaxReadBytes+1)
	require.LessOrEqual(t, endless.longest, 64<<10, "the context is checked every 64 KiB")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// counter counts bytes, and remembers the longest read.
type counter struct {
	r          io.Reader
	n, longest int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	c.longest = max(c.longest, len(p))
	return n, err
}

// TestReadRangesLimit selects a rendering of exactly 2 MiB, and of one byte
// more, by several ranges.
func TestReadRangesLimit(t *testing.T) {
	const message = "ranges select more than 2097152 bytes of output; request fewer or smaller ranges"
	for _, tt := range []struct {
		name, filler, ending, prefix string
		cost                         int // rendered bytes of one filler
	}{
		{"plain", "x", "\n", "1 ", 1},
		{"crlf", "é", "\r\n", "1(crlf) ", 2},
		{"invalid", "\xff", "\n", "1(invalid-utf8) ", 3},
		{"invalid, no end", "\xe2\x82\xff", "", "1(invalid-utf8,no_nl) ", 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// Both ranges show line 1; the two LF between them count.
			const limit = 2<<20 - len("\n\n")
			each := limit/2 - len(tt.prefix)
			content := strings.Repeat(tt.filler, each/tt.cost) + strings.Repeat("y", each%tt.cost)
			twice := readArgs{Path: "f", Ranges: []span{{1, 1}, {1, 1}}}

			spool := newSpool(t, artifact.Options{})
			out := call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content+tt.ending), Spool: spool}), twice)
			require.Nil(t, out.Error)
			require.Len(t, saved(t, out), 2<<20)

			content += "y"
			out = call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content+tt.ending), Spool: spool}), twice)
			requireFailure(t, out, tools.CodeReadTooLarge, message)
			require.Len(t, keys(out), 1)

			once := readArgs{Path: "f", Ranges: []span{{1, 1}}}
			require.Nil(t, call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content+content+content+tt.ending)}), once).Error)
		})
	}
}

func TestReadRangesLimitIsOneByteSharp(t *testing.T) {
	// Records "1 x…", "", "2 y": the file's two lines, once each.
	content := func(extra int) string { return strings.Repeat("x", 2<<20-len("1 \n\n2 y")+extra) + "\ny\n" }
	both := readArgs{Path: "f", Ranges: []span{{1, 1}, {2, 2}}}
	require.Nil(t, call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content(0))}), both).Error)
	requireFailure(t, call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content(1))}), both), tools.CodeReadTooLarge,
		"ranges select more than 2097152 bytes of output; request fewer or smaller ranges")
}

func TestReadHundredRangesOfOneHugeLine(t *testing.T) {
	ranges := make([]span, 100)
	for i := range ranges {
		ranges[i] = span{1, 1}
	}
	tool := tools.NewRead(tools.Env{Workspace: fileOf(t, strings.Repeat("x", 15<<20))})
	out := call(t, tool, readArgs{Path: "f", Ranges: ranges})
	require.Equal(t, tools.CodeReadTooLarge, out.Error.Code)
}

func TestReadUnavailableSavedOutput(t *testing.T) {
	content := strings.Repeat("x\n", 2001)
	want := "truncated: true\ntotal_lines: 2001\ntotal_bytes: 4002\n" +
		"truncation_warning: output was cut to fit; prefer narrower commands or filters\nsaved_output_unavailable: true"

	require.Equal(t, want, headers(call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content)}), whole)))

	session, _ := openSession(t, tools.Config{Root: newWorkspace(t, map[string]string{"f": content}).Dir(), NoSpool: true})
	require.Equal(t, want, headers(session.Call(t.Context(), tools.Call{Tool: "read", Arguments: encode(t, whole)})))

	spool := newSpool(t, artifact.Options{})
	require.NoError(t, spool.Close())
	require.Equal(t, want, headers(call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content), Spool: spool}), whole)))
}

func TestReadWithoutTruncationSavesNothing(t *testing.T) {
	session, dir := newSession(t, map[string]string{"f": strings.Repeat("x", 10231)})
	out := session.Call(t.Context(), tools.Call{Tool: "read", Arguments: encode(t, whole)})
	require.Empty(t, out.Result.Headers)
	require.Len(t, out.Result.Body, 10240)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestReadFailingFile(t *testing.T) {
	broken := errors.New("/secret/path: disk on fire")
	for _, tt := range []struct {
		name    string
		r       io.Reader
		message string
	}{
		{"at once", iotest.ErrReader(broken), `cannot read "f": /secret/path: disk on fire`},
		{"late", io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(broken)), `cannot read "f": /secret/path: disk on fire`},
		{"no progress", stuck{}, `cannot read "f": multiple Read calls return no data or error`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ws := memory(t, memFS{open: func() io.Reader { return tt.r }})
			requireFailure(t, call(t, tools.NewRead(tools.Env{Workspace: ws}), whole), framing.CodeIO, tt.message)
		})
	}
}

// stuck is a reader that never gives anything.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestReadCancelledInTheMiddle(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	source := &counter{r: cancelling{cancel: func() { cancel(errors.New("enough")) }}}
	session, dir := newSessionFS(t, memFS{open: func() io.Reader { return source }})
	out := session.Call(ctx, tools.Call{Tool: "read", Arguments: encode(t, whole)})
	requireWellFormed(t, out)
	require.Equal(t, "cancelled: enough", out.Text)
	require.LessOrEqual(t, source.n, 64<<10)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries, "a cancelled call saves nothing")
}

// cancelling is an endless reader that cancels the call that reads it.
type cancelling struct{ cancel func() }

func (c cancelling) Read(p []byte) (int, error) {
	c.cancel()
	return len(p), nil
}
