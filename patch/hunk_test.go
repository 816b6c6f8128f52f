package patch

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hunksOf parses the body of an Update.
func hunksOf(t testing.TB, body string) []Hunk {
	t.Helper()
	return mustParse(t, inPatch("*** Update File: f", body)).Sections[0].Hunks
}

func TestApplyHunks(t *testing.T) {
	for _, tt := range []struct {
		name, old, body, want string
		notes                 []Note
	}{
		{name: "replace", old: "a\nb\nc\n", body: " a\n-b\n+B\n c", want: "a\nB\nc\n"},
		{name: "several blocks", old: "a\nb\nc\nd\n", body: "-a\n b\n+x\n+y\n c\n-d\n+D", want: "b\nx\ny\nc\nD\n"},
		{name: "added before removed", old: "a\nb\n", body: "+x\n-a\n+y\n-b\n+z", want: "x\ny\nz\n"},
		{name: "R10 endings", old: "a\r\nb\rc\nd", body: "-b\n+B\n c\n-d", want: "a\r\nB\rc\n"},
		{name: "R10 byte order mark", old: "\ufeffa\nb\n", body: "-a\n+x\n b", want: "\ufeffx\nb\n"},
		{name: "R10 byte order mark alone", old: "\ufeffa\n", body: "-a", want: "\ufeff"},
		{name: "R10 insertion behind a lone mark", old: "\ufeff", body: "+a", want: "\ufeffa\n"},
		{name: "R11 context keeps its bytes", old: "  a \r\nb\t\n", body: " a\n-b\n+c", want: "  a \r\nc\n", notes: []Note{{Hunk: 1, Kind: Indentation, Line: 1}}},
		{name: "R12 first removed line", old: "a\r\nb\nc\r\nd\n", body: " a\n-b\n-c\n+x\n+y", want: "a\r\nx\ny\nd\n"},
		{name: "R12 added first", old: "a\r\nb\nc\r\n", body: " a\n+x\n-b", want: "a\r\nx\nc\r\n"},
		{name: "R12 each block", old: "a\r\nb\nc\r\n", body: "-a\n+A\n b\n-c\n+C", want: "A\r\nb\nC\r\n"},
		{name: "R12 preceding", old: "a\r\nb\n", body: " a\n+x\n b", want: "a\r\nx\r\nb\n"},
		{name: "R12 following", old: "a\r\nb\n", body: "+x\n a", want: "x\r\na\r\nb\n"},
		{name: "R12 nothing around", old: "a", body: "-a\n+b", want: "b\n"},
		{name: "R12 removed line without end", old: "a\r\nb", body: "-b\n+c", want: "a\r\nc\r\n"},
		{name: "R13 last line stays", old: "a\nb", body: "-a\n+A\n b", want: "A\nb"},
		{name: "R13 last line stays, added before", old: "a\r\nb", body: " a\n+x\n b", want: "a\r\nx\r\nb"},
		{name: "R13 added after", old: "a\r\nb", body: " b\n+c", want: "a\r\nb\r\nc\r\n"},
		{name: "R13 added after a single line", old: "a", body: " a\n+b", want: "a\nb\n"},
		{name: "R13 all removed", old: "a\nb", body: "-a\n-b", want: ""},
		{name: "R13 last removed", old: "a\nb", body: " a\n-b", want: "a\n"},
		{name: "CR and LF stay apart", old: "a\rb\n\nc", body: "-b", want: "a\r\n\nc"},
		{name: "CR and an added LF stay apart", old: "a\rb\n", body: "-b\n+\n+c", want: "a\r\n\nc\n"},
		{name: "empty file", old: "", body: "+a", want: "a\n"},
		{name: "same bytes", old: "a\n", body: "-a\n+a", want: "a\n"},

		{name: "R14 hunks in order", old: "a\nb\na\nb\n", body: "-a\n+1\n@@\n-a\n+2", want: "1\nb\n2\nb\n", notes: []Note{{Hunk: 1, Kind: Repeated, Line: 1, Places: 2}}},
		{name: "R15 anchor", old: "a\nx\nb\nx\n", body: "@@ b\n-x\n+y", want: "a\nx\nb\ny\n"},
		{name: "R15 anchors", old: "A\nf\nx\nB\nf\nx\n", body: "@@ B\n@@ f\n-x\n+y", want: "A\nf\nx\nB\nf\ny\n"},
		{name: "R15 exact before tolerant", old: "  b\nx\nb \nx\nb\nx\n", body: "@@ b\n-x\n+y", want: "  b\nx\nb \nx\nb\ny\n"},
		{name: "R15 without trailing whitespace", old: "  b\nx\nb \nx\n", body: "@@ b\t\n-x\n+y", want: "  b\nx\nb \ny\n"},
		{name: "R15 without whitespace", old: "a\nx\n  b \nx\n", body: "@@ b\n-x\n+y", want: "a\nx\n  b \ny\n"},
		{name: "R15 anchor from the cursor", old: "b\na\nb\nx\n", body: " a\n@@ b\n-x\n+y", want: "b\na\nb\ny\n"},
		{name: "R16 exact first", old: "a \na\n", body: "-a\n+b", want: "a \nb\n"},
		{name: "R16 trailing whitespace", old: "x\na \t\n", body: "-a\n+b", want: "x\nb\n", notes: []Note{{Hunk: 1, Kind: TrailingSpace, Line: 2}}},
		{name: "R16 trailing whitespace of the hunk", old: "x\na\n", body: "-a \n+b", want: "x\nb\n", notes: []Note{{Hunk: 1, Kind: TrailingSpace, Line: 2}}},
		{name: "R16 CR of the hunk", old: "x\na\n", body: "-a\r\r\n+b", want: "x\nb\n", notes: []Note{{Hunk: 1, Kind: TrailingSpace, Line: 2}}},
		{name: "R16 indentation of context", old: "\ta\n\tb\n", body: " a\n-\tb\n+c", want: "\ta\nc\n", notes: []Note{{Hunk: 1, Kind: Indentation, Line: 1}}},
		{name: "R16 indentation of removed lines decides", old: "\ta\nb\n\ta\n\tb\n", body: "  a\n-\tb\n+c", want: "\ta\nb\n\ta\nc\n", notes: []Note{{Hunk: 1, Kind: Indentation, Line: 3}}},
		{name: "R17 bare blanks dropped", old: "a\nb\n", body: "-a\n+A\n\n\n@@\n-b\n+B", want: "A\nB\n"},
		{name: "R17 bare blanks used", old: "a\n\na\nb\n", body: "-a\n+A\n\n@@\n-b\n+B", want: "A\n\na\nB\n"},
		{name: "R17 blank at the end", old: "a\nb\na", body: " a\n+x\n ", want: "a\nb\na\nx\n"},
		{name: "R17 several bare blanks", old: "a\n\nb\n", body: "-a\n+A\n\n\n", want: "A\n\nb\n"},
		{name: "R17 anchor repeated", old: "a\nf\nx\n", body: "@@ f\n f\n-x\n+y", want: "a\nf\ny\n"},
		{name: "R17 anchor repeated, tolerant", old: "a\n  f\nx\n", body: "@@ f\n f\n-x\n+y\n", want: "a\n  f\ny\n", notes: []Note{{Hunk: 1, Kind: Indentation, Line: 2}}},
		{name: "R17 anchor repeated, bare blank", old: "a\nf\nx\n", body: "@@ f\n f\n-x\n+y\n\n", want: "a\nf\ny\n"},
		{name: "R18 end of file", old: "x\ny\nx\ny\n", body: "@@\n x\n-y\n+z\n*** End of File", want: "x\ny\nx\nz\n"},
		{name: "R18 end of file, tolerant", old: "x\ny\nx\ny ", body: "@@\n x\n-y\n+z\n*** End of File", want: "x\ny\nx\nz\n", notes: []Note{{Hunk: 1, Kind: TrailingSpace, Line: 3}}},
		{name: "R18 end of file, bare blank", old: "x\nx\n", body: "@@\n-x\n+z\n\n*** End of File", want: "x\nz\n"},
		{name: "R19 append", old: "a\nb", body: "+c", want: "a\nb\nc\n"},
		{name: "R19 below the anchor", old: "a\nb\n", body: "@@ a\n+c", want: "a\nc\nb\n"},
		{name: "R19 end of file with an anchor", old: "a\nb\n", body: "@@ a\n+c\n*** End of File", want: "a\nb\nc\n"},
		{name: "R19 separator", old: "a\n\nb\n", body: "+c\n\n", want: "a\n\nb\nc\n"},
		{name: "R19 append moves no cursor", old: "a\nb\n", body: "+c\n@@\n-a\n+A\n@@\n b\n+d", want: "A\nb\nc\nd\n"},
		{name: "R19 insertions keep their order", old: "a\nb\n", body: "@@ a\n+1\n@@\n+9\n@@\n b\n+8", want: "a\n1\nb\n9\n8\n"},
		{name: "context only", old: "a\nx\na\nx\n", body: " x\n@@\n-a\n+b", want: "a\nx\nb\nx\n", notes: []Note{{Hunk: 1, Kind: Repeated, Line: 2, Places: 2}}},
		{name: "blanks only", old: "a\n", body: "@@\n\n@@\n-a\n+b", want: "b\n"},

		{name: "repeated", old: "x\ny\nx\nx\n", body: "-x\n+X", want: "X\ny\nx\nx\n", notes: []Note{{Hunk: 1, Kind: Repeated, Line: 1, Places: 3}}},
		{name: "repeated, overlapping", old: "x\nx\nx\n", body: " x\n-x\n+X", want: "x\nX\nx\n", notes: []Note{{Hunk: 1, Kind: Repeated, Line: 1, Places: 2}}},
		{name: "repeated below an anchor", old: "a\nx\nx\n", body: "@@ a\n-x\n+X", want: "a\nX\nx\n"},
		{name: "repeated, at the end of the file", old: "x\nx\n", body: "@@\n-x\n+X\n*** End of File", want: "x\nX\n"},
		{name: "invalid UTF-8", old: "caf\xe9\nx\n\xff", body: "-x\n+y", want: "caf\xe9\ny\n\xff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old := []byte(tt.old)
			got, notes, err := ApplyHunks(t.Context(), old, hunksOf(t, tt.body), Match{})
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
			require.NotNil(t, got)
			require.Equal(t, tt.notes, notes)
			require.Equal(t, tt.old, string(old))
		})
	}
}

func TestMatchErrors(t *testing.T) {
	lines := func(e MatchError, l ...Line) MatchError {
		e.Hunks = max(e.Hunks, 1)
		e.Hunk = max(e.Hunk, 1)
		e.Expected = l
		return e
	}
	for _, tt := range []struct {
		name, old, body string
		match           Match
		want            MatchError
	}{
		{name: "R14 not before the cursor", old: "a\nb\n", body: "-b\n+B\n@@\n-a\n+A", want: lines(MatchError{Hunk: 2, Hunks: 2, Hint: BeforeCursor, HintLine: 1, Closest: []string{"a", "b"}, ClosestLine: 1}, oldLine("a"))},
		{name: "R14 context is used up", old: "a\nb\nc\n", body: "-a\n b\n@@\n b\n-c", want: lines(MatchError{Hunk: 2, Hunks: 2, Hint: BeforeCursor, HintLine: 2, Closest: []string{"a", "b", "c"}, ClosestLine: 1}, ctxLine("b"), oldLine("c"))},
		{name: "above the anchor is not before a hunk", old: "a\nb\n", body: "@@ b\n-a\n+c", want: lines(MatchError{Closest: []string{"a", "b"}, ClosestLine: 1}, oldLine("a"))},
		{name: "R15 anchor", old: "a\n", body: "@@ b\n-a", want: MatchError{Hunk: 1, Hunks: 1, Anchor: "b"}},
		{name: "R15 anchor before the cursor", old: "b\na\nc\n", body: "-a\n@@ b\n-c", want: MatchError{Hunk: 2, Hunks: 2, Anchor: "b", Closest: []string{"b", "a", "c"}, ClosestLine: 1}},
		{name: "R16 not contiguous", old: "a\nb\nc\n", body: " a\n-c", want: lines(MatchError{Closest: []string{"a", "b", "c"}, ClosestLine: 1}, ctxLine("a"), oldLine("c"))},
		{name: "R16 ambiguous", old: "a \na\t\n", body: "-a\n+b", want: lines(MatchError{Places: 2}, oldLine("a"))},
		{name: "R16 ambiguous below an anchor", old: "x\na \na\t\n", body: "@@ x\n-a\n+b", want: lines(MatchError{Places: 2}, oldLine("a"))},
		{name: "R16 ambiguous indentation", old: " a\nb\n\ta\nb\n", body: " a\n-b", want: lines(MatchError{Places: 2}, ctxLine("a"), oldLine("b"))},
		{name: "R16 indentation of removed lines", old: "  a\n", body: "-a", want: lines(MatchError{Closest: []string{"  a"}, ClosestLine: 1}, oldLine("a"))},
		{name: "R16 no folding", old: "it’s\n", body: "-it's", want: lines(MatchError{}, oldLine("it's"))},
		{name: "no-break space is no whitespace", old: "a\u00a0\n", body: "-a", want: lines(MatchError{}, oldLine("a"))},
		{name: "R17 blank inside is no end", old: "a\nb\n", body: "-a\n ", want: lines(MatchError{Closest: []string{"a", "b"}, ClosestLine: 1}, oldLine("a"), ctxLine(""))},
		{name: "R18 not at the end", old: "x\ny\nz\n", body: "-x\n+X\n*** End of File", want: lines(MatchError{Hint: NotAtEOF, HintLine: 1, Closest: []string{"x", "y", "z"}, ClosestLine: 1}, oldLine("x"))},
		{name: "R18 before the cursor", old: "x\ny\n", body: " x\n y\n@@\n-y\n*** End of File", want: lines(MatchError{Hunk: 2, Hunks: 2, Hint: BeforeCursor, HintLine: 2, Closest: []string{"x", "y"}, ClosestLine: 1}, oldLine("y"))},
		{name: "R36 already applied", old: "a\nB\nc\n", body: " a\n-b\n+B\n c", want: lines(MatchError{Hint: AlreadyApplied, HintLine: 1, Closest: []string{"a", "B", "c"}, ClosestLine: 1}, ctxLine("a"), oldLine("b"), ctxLine("c"))},
		{name: "R36 applied twice", old: "B\nB\n", body: "-b\n+B", want: lines(MatchError{}, oldLine("b"))},
		{name: "R36 nothing added", old: "a\nc\n", body: " a\n-b", want: lines(MatchError{Closest: []string{"a", "c"}, ClosestLine: 1}, ctxLine("a"), oldLine("b"))},
		{name: "R37 best score", old: "k\nx\nk\nl\nk\n", body: " k\n-l\n+m\n z", want: lines(MatchError{Closest: []string{"k", "x", "k", "l", "k"}, ClosestLine: 1}, ctxLine("k"), oldLine("l"), ctxLine("z"))},
		{name: "R37 blanks do not count", old: "\n\n\nq\n", body: " \n-z", want: lines(MatchError{}, ctxLine(""), oldLine("z"))},
		{name: "R37 first behind the cursor", old: "k\nv\nm\nk\nv\n", body: " m\n@@\n k\n-w", want: lines(MatchError{Hunk: 2, Hunks: 2, Closest: []string{"v", "m", "k", "v"}, ClosestLine: 2}, ctxLine("k"), oldLine("w"))},
		{name: "unique", old: "a\na\n", body: "-a", match: Match{RequireUnique: true}, want: lines(MatchError{Places: 2}, oldLine("a"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, notes, err := ApplyHunks(t.Context(), []byte(tt.old), hunksOf(t, tt.body), tt.match)
			var e *MatchError
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.want, *e)
			require.Nil(t, got)
			require.Nil(t, notes)
			require.NotContains(t, e.Error(), "\n")
		})
	}
	for _, body := range []string{"@@ a\n-a", "@@\n-a\n*** End of File"} {
		_, _, err := ApplyHunks(t.Context(), []byte("a\na\n"), hunksOf(t, body), Match{RequireUnique: true})
		require.NoError(t, err, "the place is known")
	}
}

func TestContentErrors(t *testing.T) {
	big := strings.Repeat("0123456789abcde\n", MaxFileBytes/16)
	for _, tt := range []struct{ name, old, body, code, msg string }{
		{"file too large", big + "\n", "+x", CodeTooLarge, "file exceeds 10485760 bytes"},
		{"result too large", big, "+x", CodeTooLarge, "result exceeds 10485760 bytes"},
		{"NUL", "a\n\x00", "-a", CodeBinary, "file contains NUL bytes"},
		{"R7 second encoding", "\xff\na\n", "-a\n+é", CodeInvalidUTF8, "not valid UTF-8; only ASCII text can be added"},
		{"R7 the hunks come first", "\xff\na\n", "-b\n+é", CodeContextMismatch, "patch: hunk 1 of 1: lines not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ApplyHunks(t.Context(), []byte(tt.old), hunksOf(t, tt.body), Match{})
			require.EqualError(t, err, tt.msg)
			var e *Error
			if errors.As(err, &e) {
				require.Equal(t, tt.code, e.Code)
			}
		})
	}
	got, _, err := ApplyHunks(t.Context(), []byte(big), hunksOf(t, " 0123456789abcde"), Match{})
	require.NoError(t, err)
	require.True(t, bytes.Equal([]byte(big), got))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = ApplyHunks(ctx, nil, hunksOf(t, "+a"), Match{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestExcerpt(t *testing.T) {
	section := func(body string) *Section {
		return &Section{Op: Update, Path: "d\t/f", Hunks: hunksOf(t, body)}
	}
	for _, tt := range []struct{ name, old, body, msg, want string }{
		{
			"R37 lines", "one\ntwo\nthree\nfour\nfive\n", "@@\n+x\n two\n-3\n+y\n*** End of File",
			`failed to find expected lines in "d\t/f" (hunk 1 of 1)`,
			"expected lines in d\\t/f (hunk 1):\n two\n-3\nclosest lines in d\\t/f:\n1 one\n2 two\n3 three\n4 four\n5 five",
		},
		{
			"R37 anchor", "one\n", "@@ t\"wo\t\n-x", `failed to find context "t\"wo\t" in "d\t/f" (hunk 1 of 1)`,
			"expected lines in d\\t/f (hunk 1):\n@@ t\"wo\t",
		},
		{
			"R38 ambiguous", "a\na \na\t\n", "@@\n a\n@@\n-a\n+x", `expected lines match 2 places in "d\t/f" (hunk 2 of 2); add context or an @@ line`,
			"expected lines in d\\t/f (hunk 2):\n-a",
		},
		{
			"R37 at most 20 lines", strings.Repeat("a\n", 30), strings.Repeat("-a\n", 30) + "-b\n+c", `failed to find expected lines in "d\t/f" (hunk 1 of 1)`,
			"expected lines in d\\t/f (hunk 1):" + strings.Repeat("\n-a", 20) + "\n... 11 more lines\nclosest lines in d\\t/f:" +
				"\n1 a\n2 a\n3 a\n4 a\n5 a\n6 a\n7 a\n8 a\n9 a\n10 a\n11 a\n12 a\n13 a\n14 a\n15 a\n16 a\n17 a\n18 a\n19 a\n20 a\n... 10 more lines",
		},
		{
			"R37 long and invalid lines", "\xe2\x82x\xff\nk\n" + strings.Repeat("é", 120), " k\n-" + strings.Repeat("é", 120) + "x", `failed to find expected lines in "d\t/f" (hunk 1 of 1)`,
			"expected lines in d\\t/f (hunk 1):\n k\n-" + strings.Repeat("é", 99) + "…\nclosest lines in d\\t/f:\n1 \ufffdx\ufffd\n2 k\n3 " + strings.Repeat("é", 99) + "…",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := section(tt.body)
			_, _, err := ApplyHunks(t.Context(), []byte(tt.old), s.Hunks, Match{})
			err = newWording(nil).failure(s, err)
			require.EqualError(t, err, tt.msg)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.want, e.Excerpt)
		})
	}
	s := section("-a\n+b\n@@\n-" + strings.Repeat("x", 500))
	_, _, err := ApplyHunks(t.Context(), []byte("a\n"), s.Hunks, Match{})
	var e *Error
	require.ErrorAs(t, newWording(nil).failure(s, err), &e)
	require.Equal(t, "expected lines in d\\t/f (hunk 2):\n-"+strings.Repeat("x", 199)+"…", e.Excerpt)
	require.Equal(t, [2]int{2, 2}, [2]int{e.Hunk, e.Hunks})
}

func TestClosestIsBounded(t *testing.T) {
	old := strings.Repeat("a\n", 1001)
	_, _, err := ApplyHunks(t.Context(), []byte(old), hunksOf(t, strings.Repeat("-a\n", 1998)+"-b"), Match{})
	var e *MatchError
	require.ErrorAs(t, err, &e)
	require.Empty(t, e.Closest)
	_, _, err = ApplyHunks(t.Context(), []byte(old), hunksOf(t, strings.Repeat("-a\n", 1997)+"-b"), Match{})
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Closest)
}

// TestManyRunsTakeBoundedWork matches a hunk of very many runs of removed lines,
// whose context is indented otherwise, in a file that has it at very many places.
func TestManyRunsTakeBoundedWork(t *testing.T) {
	const runs = 20_000
	var h Hunk
	for range runs {
		h.Lines = append(h.Lines, Line{Kind: '-', Text: "a"}, Line{Kind: ' ', Text: " b"})
	}
	file := []byte(strings.Repeat("a\nb\n", 2*runs))
	_, _, err := ApplyHunks(t.Context(), file, []Hunk{h}, Match{})
	var m *MatchError
	require.ErrorAs(t, err, &m)
	require.Zero(t, m.Places, "which places match cannot be told")
}
