package replace

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// apply checks what holds for every call and returns the outcome.
func apply(t testing.TB, src string, edits ...Edit) (string, *Error) {
	t.Helper()
	in := []byte(src)
	got, err := Apply(t.Context(), in, edits)
	require.Equal(t, src, string(in), "the source changed")
	if err != nil {
		require.Zero(t, got)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.NotContains(t, e.Error(), "\n")
		return "", e
	}
	require.Equal(t, len(edits), got.Edits)
	require.Equal(t, got.Changed, string(got.Content) != src)
	if len(src) > 0 && len(got.Content) > 0 {
		require.Equal(t, !got.Changed, &in[0] == &got.Content[0], "Content is src itself iff nothing changed")
	}
	return string(got.Content), nil
}

func TestApply(t *testing.T) {
	const bom = "\ufeff"
	for _, tt := range []struct {
		rule, src string
		edits     []Edit
		want      string
	}{
		{"R1 NUL is text", "a\x00b\n", []Edit{{"\x00b", "c"}}, "ac\n"},
		{"R2 the byte order mark is kept", bom + "package a\n", []Edit{{"package a", "package b"}}, bom + "package b\n"},
		{"R2 U+FEFF elsewhere is a character", "a" + bom + "b", []Edit{{bom, "-"}}, "a-b"},
		{"R2 a second U+FEFF is a character", bom + bom + "a", []Edit{{bom, "-"}}, bom + "-a"},
		{"R4 no match ends between CR and LF", "a\r\nb", []Edit{{"a\r", "X"}}, "Xb"},
		{"R5 any ending is a newline", "a\rb\r\nc", []Edit{{"a\r\nb\nc", "-"}}, "-"},
		{"R5 LF CR LF are two endings", "a\r\n\rb", []Edit{{"\n\r\n", "+"}}, "a+b"},
		{"R5 the ending that is not named stays", "a\nb\r\n", []Edit{{"b", "c"}}, "a\nc\r\n"},
		{"R5 a newline alone", "a\r\nb", []Edit{{"\n", " "}}, "a b"},
		{"R8 original, not the result of others", "a b\n", []Edit{{"a", "b"}, {"b", "c"}}, "b c\n"},
		{"R8 touching", "abcdef", []Edit{{"cd", "2"}, {"ab", "1"}}, "12ef"},
		{"R8 touching insertions are in source order", "ab", []Edit{{"b", "Yb"}, {"a", "aX"}}, "aXYb"},
		{"R9 context keeps its endings", "x\r\ny\nz\n", []Edit{{"x\ny\nz", "x\ny\nZ"}}, "x\r\ny\nZ\n"},
		{"R9 prefix before suffix", "aXa\n", []Edit{{"Xa", "XaXa"}}, "aXaXa\n"},
		{"R9 characters that share bytes", "é\n", []Edit{{"é", "è"}}, "è\n"},
		{"R10a the first ending in the removed middle", "0\n1\r2\r\n3", []Edit{{"1\n2\n3", "a\nb"}}, "0\na\rb"},
		{"R10b the last one before", "a\r\nb\nc", []Edit{{"b", "b\nB"}}, "a\r\nb\r\nB\nc"},
		{"R10b the kept prefix counts", "a\nb\rc", []Edit{{"b\nc", "b\nc\nd"}}, "a\nb\rc\rd"},
		{"R10b however far", "a\r" + strings.Repeat("x", 10000) + "b\n", []Edit{{"b", "1\n2"}}, "a\r" + strings.Repeat("x", 10000) + "1\r2\n"},
		{"R10b before an earlier edit", "a\rb c d\n", []Edit{{"b", "1\n2"}, {"d", "3\n4"}}, "a\r1\r2 c 3\r4\n"},
		{"R10c the first one after", "b\r\nc", []Edit{{"b", "b\nB"}}, "b\r\nB\r\nc"},
		{"R10d LF", "abc", []Edit{{"b", "1\r\n2"}}, "a1\n2c"},
		{"R10 from the original only", "a b", []Edit{{"a", "1\r2"}, {"b", "3\r4"}}, "1\n2 3\n4"},
		{"R11 inserted LF behind kept CR", "a\rX\nY", []Edit{{"X\nY", "\nZ"}}, "a\r\n\nZ"},
		{"R11 kept LF behind kept CR", "a\rX\nb", []Edit{{"X", ""}}, "a\r\n\nb"},
		{"R11 kept LF behind inserted CR", "a\rb\nc", []Edit{{"b", "\n"}}, "a\r\r\n\nc"},
		{"R11 across two edits", "a\rXY\nb", []Edit{{"X", ""}, {"Y", ""}}, "a\r\n\nb"},
		{"R12 deletes exactly the span", "one\r\ntwo\r\nthree\r\n", []Edit{{"two\n", ""}}, "one\r\nthree\r\n"},
		{"R12 deletes everything", "a\n", []Edit{{"a\n", ""}}, ""},
		{"R12 deletes all but the mark", bom + "a\n", []Edit{{"a\n", ""}}, bom},
		{"R13 a mark is not doubled", bom + "a\n", []Edit{{"a", bom + "b"}}, bom + "b\n"},
		{"R13 one character is dropped", bom + "a\n", []Edit{{"a", bom + bom + "b"}}, bom + bom + "b\n"},
		{"R13 behind deleted text", bom + "ab\n", []Edit{{"a", ""}, {"b", bom}}, bom + "\n"},
		{"R13 in the text it is kept", bom + "ab\n", []Edit{{"b", bom}}, bom + "a" + bom + "\n"},
		{"R13 without a mark it is kept", "a\n", []Edit{{"a", bom + "b"}}, bom + "b\n"},
		{"R13 characters that share bytes with it", bom + "¿", []Edit{{"¿", bom}}, bom},
		{"R15 nothing changes", "same\n", []Edit{{"same", "same"}}, "same\n"},
		{"R15 endings are no change", "a\r\nb\r\n", []Edit{{"a\r\nb", "a\nb"}}, "a\r\nb\r\n"},
		{"R15 edits that cancel out", "ab", []Edit{{"a", ""}, {"b", "ab"}}, "ab"},
		{"nothing is expanded", "x=(1|2)*\n", []Edit{{"x=(1|2)*", "x=$1\\0&"}}, "x=$1\\0&\n"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := apply(t, tt.src, tt.edits...)
			require.Nil(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		rule, src string
		edits     []Edit
		want      Error
		message   string
	}{
		{"no edits", "a", nil, Error{Code: CodeInvalidArguments, Index: -1, Other: -1}, "edits must not be empty"},
		{
			"too many edits", "a", make([]Edit, MaxEdits+1),
			Error{Code: CodeInvalidArguments, Index: -1, Other: -1},
			"edits exceeds the limit of 100 entries",
		},
		{
			"empty OldText", "a",
			[]Edit{{"a", ""}, {"", "b"}},
			Error{Code: CodeInvalidArguments, Index: 1, Other: -1},
			"edits[1]: oldText must not be empty",
		},
		{
			"OldText is not UTF-8", "a",
			[]Edit{{"\xff", "b"}},
			Error{Code: CodeInvalidArguments, Index: 0, Other: -1},
			"edits[0]: oldText is not valid UTF-8",
		},
		{
			"NewText is not UTF-8", "a",
			[]Edit{{"a", "\xed\xa0\x80"}},
			Error{Code: CodeInvalidArguments, Index: 0, Other: -1},
			"edits[0]: newText is not valid UTF-8",
		},
		{"R1 not UTF-8", "a\xff", []Edit{{"a", "b"}}, Error{Code: CodeInvalidUTF8, Index: -1, Other: -1}, "not valid UTF-8"},
		{
			"R1 surrogates are not UTF-8", "a\xed\xa0\x80",
			[]Edit{{"a", "b"}},
			Error{Code: CodeInvalidUTF8, Index: -1, Other: -1},
			"not valid UTF-8",
		},
		{"nothing is in an empty text", "", []Edit{{"a", "b"}}, Error{Code: CodeNoMatch, Index: 0, Other: -1}, "edits[0]: oldText was not found"},
		{
			"R5 an ending that is not there", "a\nb",
			[]Edit{{"a", "x"}, {"b\n", "c\n"}},
			Error{Code: CodeNoMatch, Index: 1, Other: -1, Hint: HintWhitespace, NearLine: 2, NearCount: 1},
			"edits[1]: oldText was not found",
		},
		{
			"R6 overlapping occurrences count", "aaa\n",
			[]Edit{{"aa", "b"}},
			Error{Code: CodeAmbiguousMatch, Index: 0, Other: -1, Matches: 2, MatchLines: []int{1}},
			"edits[0]: oldText matches 2 places; it must match exactly one",
		},
		{
			"R6 whatever the endings", "x\r\ny\nx\ny\n",
			[]Edit{{"x\ny", "z"}},
			Error{Code: CodeAmbiguousMatch, Index: 0, Other: -1, Matches: 2, MatchLines: []int{1, 3}},
			"edits[0]: oldText matches 2 places; it must match exactly one",
		},
		{
			"a newline is on the line it ends", "\ufeffa\r\nb\n\nc",
			[]Edit{{"\n", "z"}},
			Error{Code: CodeAmbiguousMatch, Index: 0, Other: -1, Matches: 3, MatchLines: []int{1, 2, 3}},
			"edits[0]: oldText matches 3 places; it must match exactly one",
		},
		{
			"R7 99 places", strings.Repeat("a", 99),
			[]Edit{{"a", "b"}},
			Error{Code: CodeAmbiguousMatch, Index: 0, Other: -1, Matches: 99, MatchLines: []int{1}},
			"edits[0]: oldText matches 99 places; it must match exactly one",
		},
		{
			"R7 counting stops at 100", strings.Repeat("a", 1000),
			[]Edit{{"a", "b"}},
			Error{Code: CodeAmbiguousMatch, Index: 0, Other: -1, Matches: 100, MatchLines: []int{1}},
			"edits[0]: oldText matches 100 or more places; it must match exactly one",
		},
		{
			"R7 the first entry that fails", "x\nx\n",
			[]Edit{{"x", "y"}, {"zzz", "C"}},
			Error{Code: CodeAmbiguousMatch, Index: 0, Other: -1, Matches: 2, MatchLines: []int{1, 2}},
			"edits[0]: oldText matches 2 places; it must match exactly one",
		},
		{"R8 overlap", "abcdef", []Edit{{"bcd", "B"}, {"abc", "A"}}, Error{Code: CodeOverlap, Index: 0, Other: 1}, "edits[0] and edits[1] overlap"},
		{"R8 the same target twice", "abc", []Edit{{"a", "A"}, {"a", "A"}}, Error{Code: CodeOverlap, Index: 0, Other: 1}, "edits[0] and edits[1] overlap"},
		{"R8 a shared newline", "a\r\nb\n", []Edit{{"a\n", "A\n"}, {"\nb", "\nB"}}, Error{Code: CodeOverlap, Index: 0, Other: 1}, "edits[0] and edits[1] overlap"},
		{
			"R8 the first pair in the source", "abcdefgh",
			[]Edit{{"gh", ""}, {"fg", ""}, {"bc", ""}, {"ab", ""}},
			Error{Code: CodeOverlap, Index: 2, Other: 3},
			"edits[2] and edits[3] overlap",
		},
		{
			"matching ranks before overlap", "abc",
			[]Edit{{"a", "A"}, {"a", "A"}, {"zzz", ""}},
			Error{Code: CodeNoMatch, Index: 2, Other: -1},
			"edits[2]: oldText was not found",
		},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := apply(t, tt.src, tt.edits...)
			require.NotNil(t, err)
			require.Equal(t, tt.message, err.Error())
			require.Equal(t, tt.want, facts(err))
		})
	}
}

// facts returns e without its reason.
func facts(e *Error) Error {
	f := *e
	f.err = nil
	return f
}

func TestSizes(t *testing.T) {
	full := strings.Repeat("x", MaxFileBytes-1) + "y"
	t.Run("R1 exactly the limit", func(t *testing.T) {
		got, err := apply(t, full, Edit{"y", "z"})
		require.Nil(t, err)
		require.Equal(t, full[:len(full)-1]+"z", got)
	})
	t.Run("R1 one byte more", func(t *testing.T) {
		_, err := apply(t, full+"\n", Edit{"y", ""})
		require.ErrorIs(t, err, ErrSourceTooLarge)
		require.NotErrorIs(t, err, ErrResultTooLarge)
		require.Equal(t, CodeTooLarge, err.Code)
		require.Equal(t, "file exceeds 10485760 bytes", err.Error())
	})
	t.Run("R14 the result", func(t *testing.T) {
		_, err := apply(t, full, Edit{"y", "yz"})
		require.ErrorIs(t, err, ErrResultTooLarge)
		require.Equal(t, "result exceeds 10485760 bytes", err.Error())
	})
	t.Run("R14 endings and seams count", func(t *testing.T) {
		for _, tt := range []struct {
			src  string
			edit Edit
			grow int
		}{
			{"a\r\nb", Edit{"b", "\n\nb"}, 4},
			{"a\rX\nb", Edit{"X", ""}, 0},
			{"a\rX\nb", Edit{"X", "\n"}, 1},
		} {
			pad := strings.Repeat("-", MaxFileBytes-len(tt.src)-tt.grow)
			got, err := apply(t, tt.src+pad, tt.edit)
			require.Nil(t, err)
			require.Len(t, got, MaxFileBytes)
			_, err = apply(t, tt.src+pad+"-", tt.edit)
			require.NotNil(t, err)
		}
	})
}

func TestHints(t *testing.T) {
	const src = "\ufefffunc a() {\r\n  return\r\n}\r\n\r\nx\r\nx\r\n"
	for _, tt := range []struct {
		rule, target string
		hint         Hint
		line, count  int
	}{
		{"line numbers", "1 func a() {\n2   return", HintLineNumbers, 1, 2},
		{"line numbers with flags", "2(crlf)   return\n3(crlf) }\n4(crlf)\n", HintLineNumbers, 2, 3},
		{"a line without a number", "2   return\n}\n9", "", 0, 0},
		{"no flags in the parentheses", "5() x", "", 0, 0},
		{"a number alone is no copy of a line", "42", "", 0, 0},
		{"byte order mark", "\ufefffunc a", HintBOM, 1, 1},
		{"byte order mark alone", "\ufeff", "", 0, 0},
		{"indentation", "\treturn  ", HintWhitespace, 2, 1},
		{"empty lines around", "\n \n  return\n }\n\n\n\n", HintWhitespace, 2, 7},
		{"part of a line is no line", "\tretur", "", 0, 0},
		{"first line", "\n func  a()  {\n  retrun\n", HintFirstLine, 1, 3},
		{"first line twice", "x\ny", "", 0, 0},
		{"only blanks", " \n\t\n \n", "", 0, 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := apply(t, src, Edit{tt.target, ""})
			require.NotNil(t, err)
			require.Equal(t, Error{
				Code: CodeNoMatch, Index: 0, Other: -1,
				Hint: tt.hint, NearLine: tt.line, NearCount: tt.count,
			}, facts(err))
		})
	}
}

// A countdown is a context that is cancelled after a number of looks at it.
type countdown struct {
	context.Context
	looks int
}

func (c *countdown) Err() error {
	c.looks--
	if c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelled(t *testing.T) {
	src := []byte(strings.Repeat("some line or other\n", 150_000))
	for _, target := range []string{"absent", "1 absent and not to be found", "\ufeffabsent"} {
		looked := &countdown{t.Context(), 1000}
		_, err := Apply(looked, src, []Edit{{target, ""}})
		require.NotErrorIs(t, err, context.Canceled)
		for looks := range 1000 - looked.looks {
			got, err := Apply(&countdown{t.Context(), looks}, src, []Edit{{target, ""}})
			require.Zero(t, got)
			require.ErrorIs(t, err, context.Canceled)
			var e *Error
			require.False(t, errors.As(err, &e))
		}
	}
}

func TestManyLargeTargetsAreFoundInBatches(t *testing.T) {
	line := strings.Repeat("abcdefgh", 2200)
	var src strings.Builder
	var edits []Edit
	for i := range 20 {
		target := string(rune('A'+i)) + line
		src.WriteString(target + "\n")
		edits = append(edits, Edit{target, string(rune('a' + i))})
	}
	require.Less(t, batchSize(src.Len(), []string{edits[0].OldText, edits[1].OldText, line, line}), 4)
	got, err := apply(t, src.String(), edits...)
	require.Nil(t, err)
	require.Equal(t, "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\ns\nt\n", got)

	edits[15].OldText = line
	edits[17].OldText = "absent"
	_, err = apply(t, src.String(), edits...)
	require.Equal(t, 15, err.Index)
	require.Equal(t, 20, err.Matches)
	require.Len(t, err.MatchLines, 20)
}

func TestOnlyCRLF(t *testing.T) {
	for src, want := range map[string]bool{
		"\r\n": true, "a\r\n\r\nb": true, "a": true,
		"\n\r\n": false, "\r\n\n": false, "\r\r\n": false, "a\r\nb\r": false, "a\rb\n": false, "\n\r": false,
	} {
		require.Equal(t, want, onlyCRLF([]byte(src)), "%q", src)
	}
}

func TestWaymarks(t *testing.T) {
	src := []byte(strings.Repeat("ab\r\nc\rd\ne", 1000) + strings.Repeat("long ", 4000) + "\r\nend")
	n := normalize(src)
	require.Equal(t, normOf(units(string(src))), string(n.text))
	at := 0
	for i, u := range units(string(src)) {
		if got := n.source(i); got != at {
			t.Fatal(i, got, at)
		}
		at += len(u.src)
	}
	require.Equal(t, len(src), n.source(len(n.text)))
	require.Less(t, len(n.steps)*markEvery, len(src)+2*markEvery)
	require.False(t, bytes.Contains(n.text, []byte{'\r'}))
}
