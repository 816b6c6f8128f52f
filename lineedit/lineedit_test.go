package lineedit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// replaceLines and insertAt are short forms of an edit.
func replaceLines(start, end int64, newText, context string) Edit {
	return Edit{Start: start, EndExclusive: end, NewText: newText, ContextLine: context}
}

func insertAt(line int64, newText, context string) Edit {
	return replaceLines(line, line, newText, context)
}

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		rule, src, want string
		edits           []Edit
	}{
		{"R1 LF", "a\nb\nc\n", "a\nB\nc\n", []Edit{replaceLines(2, 3, "B\n", "a")}},
		{"R1 CR before CR LF is an empty line of its own", "a\r\r\nb", "a\rX\r\nb", []Edit{replaceLines(2, 3, "X", "a")}},
		{"R1 nothing else ends a line", "a\v\f\u0085\u2028b\nc\n", "a\v\f\u0085\u2028b\nC\n", []Edit{replaceLines(2, 3, "C", "a\v\f\u0085\u2028b")}},

		{"R2 BOM survives a replaced line 1", bom + "a\nb\n", bom + "A\nb\n", []Edit{replaceLines(1, 2, "A", "")}},
		{"R2 BOM survives a deleted line 1", bom + "a\nb\n", bom + "b\n", []Edit{replaceLines(1, 2, "", "")}},
		{"R2 BOM survives the deletion of all", bom + "a\nb", bom, []Edit{replaceLines(1, 3, "", "")}},
		{"R2 insertion goes behind it", bom + "a\n", bom + "0\na\n", []Edit{insertAt(1, "0", "")}},
		{"R2 it is not doubled", bom + "a\nb\n", bom + "A\nb\n", []Edit{replaceLines(1, 2, bom+"A", "")}},
		{"R2 one is dropped, not two", bom + "a\n", bom + bom + "A\n", []Edit{replaceLines(1, 2, bom+bom+"A", "")}},
		{"R2 not doubled by a later line either", bom + "a\nb\n", bom + "x\nb\n", []Edit{replaceLines(1, 2, "", ""), insertAt(2, bom+"x", "a")}},
		{"R2 one of the original stays", bom + "a\n" + bom + "b\n", bom + bom + "b\n", []Edit{replaceLines(1, 2, "", "")}},
		{"R2 one that does not come first stays", bom + "a\n", bom + "a\n" + bom + "b\n", []Edit{insertAt(2, bom+"b", "a")}},
		{"R2 only a BOM: line 1 replaced", bom, bom + "x", []Edit{replaceLines(1, 2, "x", "")}},
		{"R2 only a BOM: append", bom, bom + "x\n", []Edit{insertAt(2, "x", "")}},
		{"R2 only a BOM: both", bom, bom + "x\ny\n", []Edit{replaceLines(1, 2, "x", ""), insertAt(2, "y", bom)}},
		{"R2 only a BOM: a dropped BOM was a line", bom, bom + "\n" + bom + "x\n", []Edit{replaceLines(1, 2, bom, ""), insertAt(2, bom+"x", "")}},
		{"R2 a file without BOM can get one", "a\n", bom + "0\na\n", []Edit{insertAt(1, bom+"0", "")}},

		{"R5 touching ranges, any order", "a\nb\nc\n", "A\nB\nc\n", []Edit{replaceLines(2, 3, "B", "a"), replaceLines(1, 2, "A", "")}},
		{"R5 insertion at the end of a range comes after", "a\nb\nc\n", "a\nB\nX\nc\n", []Edit{insertAt(3, "X", "b"), replaceLines(2, 3, "B", "a")}},
		{"R5 insertion before a range that touches", "a\nb\n", "0\na\nB\n", []Edit{replaceLines(2, 3, "B", "a"), insertAt(1, "0", "")}},
		{"R6 original numbering", "a\nb\nc\n", "x\ny\nb\nz\n", []Edit{replaceLines(1, 2, "x\ny\n", ""), replaceLines(3, 4, "z\n", "b")}},

		{"R7 endings of the context do not count", "a\nb\n", "a\nB\n", []Edit{replaceLines(2, 3, "B", "a\r\n\n\r")}},
		{"R8 BOM in the context", bom + "a\nb\n", bom + "a\nB\n", []Edit{replaceLines(2, 3, "B", bom+"a")}},
		{"R8 BOM not in the context", bom + "a\nb\n", bom + "a\nB\n", []Edit{replaceLines(2, 3, "B", "a")}},
		{"R8 a second BOM is content", bom + bom + "a\nb\n", bom + bom + "a\nB\n", []Edit{replaceLines(2, 3, "B", bom+"a")}},
		{"R8 context of an unterminated line", "a\nb", "a\nb\nc\n", []Edit{insertAt(3, "c", "b")}},

		{"R11 endings are kept as given", "a\r\nb\r\n", "a\r\nx\ny\rz\r\nb\r\n", []Edit{insertAt(2, "x\ny\rz\r\n", "a")}},
		{"R12 deletion", "a\nb\nc\n", "a\nc\n", []Edit{replaceLines(2, 3, "", "a")}},
		{"R12 deletion of all", "a\nb\n", "", []Edit{replaceLines(1, 3, "", "")}},
		{"R12 empty insertion", "a\nb", "a\nb", []Edit{insertAt(3, "", "b"), insertAt(2, "", "a")}},
		{"R13 ending of the last line replaced", "a\rb\r\nc\n", "X\r\nc\n", []Edit{replaceLines(1, 3, "X", "")}},
		{"R13 an unterminated file stays so", "a\nb", "a\nB", []Edit{replaceLines(2, 3, "B", "a")}},
		{"R13 complete text terminates it", "a\nb", "a\nB\r", []Edit{replaceLines(2, 3, "B\r", "a")}},
		{"R13 insertion: the line that follows", "a\nb\r\n", "a\nm\r\nb\r\n", []Edit{insertAt(2, "m", "a")}},
		{"R13 insertion: else the line before", "a\r\nb", "a\r\nm\r\nb", []Edit{insertAt(2, "m", "a")}},
		{"R13 insertion: else the last ending in the text", "a", "x\ny\r\nz\r\na", []Edit{insertAt(1, "x\ny\r\nz", "")}},
		{"R13 insertion: else CR in the text", "a", "x\ry\ra", []Edit{insertAt(1, "x\ry", "")}},
		{"R13 insertion: else LF", "a", "z\na", []Edit{insertAt(1, "z", "")}},
		{"R13 append: the last line", "a\nb\r", "a\nb\rc\r", []Edit{insertAt(3, "c", "b")}},
		{"R13 append: the last line that has one", "a\r\nb", "a\r\nb\r\nc\r\n", []Edit{insertAt(3, "c", "b")}},

		{"R14 an ending is supplied first", "a", "a\nb\n", []Edit{insertAt(2, "b\n", "a")}},
		{"R14 that of the nearest line", "a\r\nb\rc", "a\r\nb\rc\rd\n", []Edit{insertAt(4, "d\n", "c")}},
		{"R14 else the first of the text", "a", "a\r\nb\r\nc\n", []Edit{insertAt(2, "b\r\nc\n", "a")}},
		{"R14 else LF", "a", "a\nb\n", []Edit{insertAt(2, "b", "a")}},
		{"R14 a leading newline is an empty line", "a", "a\n\nb\n", []Edit{insertAt(2, "\nb\n", "a")}},
		{"R14 decided on the output: terminated", "a\nb", "a\nB\nc\n", []Edit{insertAt(3, "c\n", "b"), replaceLines(2, 3, "B\n", "a")}},
		{"R14 decided on the output: unterminated", "a\nb", "a\nB\nc\n", []Edit{replaceLines(2, 3, "B", "a"), insertAt(3, "c\n", "b")}},
		{"R14 decided on the output: deleted", "a\nb", "a\nc\n", []Edit{replaceLines(2, 3, "", "a"), insertAt(3, "c\n", "b")}},
		{"R14 decided on the output: nothing left", "b", "c\n", []Edit{replaceLines(1, 2, "", ""), insertAt(2, "c\n", "b")}},
		{"R14 no ending for an empty text", "a", "a", []Edit{insertAt(2, "", "a")}},

		{"R15 seam of a deletion", "a\rb\r\n\nc\n", "a\r\n\nc\n", []Edit{replaceLines(2, 3, "", "a")}},
		{"R15 seam before a text", "a\rb\n", "a\r\n\nx\nb\n", []Edit{insertAt(2, "\nx\n", "a")}},
		{"R15 seam behind a text", "a\n\nb\n", "a\nx\r\n\nb\n", []Edit{insertAt(2, "x\r", "a")}},
		{"R15 seam behind an added ending", "a\r\nb\r\n\n", "X\r\n\n", []Edit{replaceLines(1, 3, "X\r", "")}},
		{"R15 seam behind R14", "a\rb", "a\rb\r\n\nc\n", []Edit{insertAt(3, "\nc\n", "b")}},
		{"R15 an edit that does nothing makes no seam", "a\r\nb\n", "a\r\nb\n", []Edit{insertAt(2, "", "a")}},

		{"missing ending is no change", "a\nb\n", "a\nb\n", []Edit{replaceLines(1, 2, "a", "")}},
		{"no edits", "a\nb", "a\nb", nil},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			src := []byte(tt.src)
			got, err := Apply(src, tt.edits)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got.Content))
			require.Equal(t, tt.want != tt.src, got.Changed)
			require.Equal(t, len(tt.edits), got.Edits)
			require.Equal(t, len(splitLines(tt.want)), got.Lines)
			require.Equal(t, tt.src, string(src), "src is not changed")
		})
	}
}

func TestMissingFile(t *testing.T) {
	for _, tt := range []struct {
		rule    string
		src     []byte
		newText string
		want    Result
	}{
		{"R3 missing", nil, "x", Result{[]byte("x\n"), true, 1, 1}},
		{"R3 empty", []byte{}, "x", Result{[]byte("x\n"), true, 1, 1}},
		{"R17 creating an empty file is a change", nil, "", Result{[]byte{}, true, 1, 0}},
		{"R17 an empty file left alone is none", []byte{}, "", Result{[]byte{}, false, 1, 0}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := Apply(tt.src, []Edit{insertAt(1, tt.newText, "")})
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestContentIsSrcOnlyIfUnchanged(t *testing.T) {
	src := []byte("a\nb\n")
	same, err := Apply(src, []Edit{replaceLines(2, 3, "b", "a")})
	require.NoError(t, err)
	require.Same(t, &src[0], &same.Content[0])
	other, err := Apply(src, []Edit{insertAt(3, "c", "b")})
	require.NoError(t, err)
	other.Content[0] = 'X'
	require.Equal(t, "a\nb\n", string(src))
}

func TestTrimContext(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		ok       bool
	}{
		{"b", "b", true},
		{"b\r\n", "b", true},
		{"b\n\n\r\r", "b", true},
		{"\n", "", true},
		{"", "", true},
		{" b\t ", " b\t ", true},
		{"a\nb\n", "a\nb", false},
		{"a\rb", "a\rb", false},
		{"\nb", "\nb", false},
	} {
		got, ok := TrimContext(tt.in)
		require.Equal(t, tt.want, got, "%q", tt.in)
		require.Equal(t, tt.ok, ok, "%q", tt.in)
	}
}

// refuse applies edits and returns the error that must follow.
func refuse(t *testing.T, src string, edits ...Edit) *Error {
	t.Helper()
	got, err := Apply([]byte(src), edits)
	require.Zero(t, got, "a failing call returns no result")
	var e *Error
	require.ErrorAs(t, err, &e)
	require.NotContains(t, e.Error(), "\n")
	require.NotContains(t, e.Error(), "SECRET")
	return e
}

func TestArgumentErrors(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		edits []Edit
		want  Error
		text  string
	}{
		{"S3 too many, before all else", make([]Edit, MaxEdits+1), Error{Reason: TooManyEdits, Index: -1}, "lineedit: more than 100 edits"},
		{"R4 start", []Edit{insertAt(1, "", ""), replaceLines(0, 0, "", "a\nb")}, Error{Reason: StartBelowOne, Index: 1}, "lineedit: edit 1: start is less than 1"},
		{"R4 end", []Edit{replaceLines(1, -1, "", "")}, Error{Reason: EndBelowOne}, "lineedit: edit 0: end is less than 1"},
		{"R4 end before start", []Edit{replaceLines(3, 2, "", "a\nb")}, Error{Reason: EndBelowStart}, "lineedit: edit 0: end is less than start"},
		{"R7 malformed context, before the file is looked at", []Edit{replaceLines(9, 9, "", "SECRET\nb")}, Error{Reason: ContextNotOneLine}, "lineedit: edit 0: context is not a single line"},
		{"R4 start past the end", []Edit{replaceLines(1<<62, 1<<62, "", "")}, Error{Reason: StartPastEnd, Line: 1 << 62, TotalLines: 2, TotalBytes: 4}, "lineedit: edit 0: start is past the end of the file: 4611686018427387904, file has 2 lines"},
		{"R4 end past the end", []Edit{replaceLines(3, 4, "", "SECRET")}, Error{Reason: EndPastEnd, Line: 4, TotalLines: 2, TotalBytes: 4}, "lineedit: edit 0: end is past the end of the file: 4, file has 2 lines"},
		{"R4 in the order of the request, before overlaps", []Edit{insertAt(1, "", ""), insertAt(1, "", ""), replaceLines(3, 5, "", ""), replaceLines(9, 9, "", "")}, Error{Reason: EndPastEnd, Index: 2, Line: 5, TotalLines: 2, TotalBytes: 4}, "lineedit: edit 2: end is past the end of the file: 5, file has 2 lines"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			tt.want.Code, tt.want.Other = CodeInvalidArguments, -1
			got := refuse(t, "a\nb\n", tt.edits...)
			require.Equal(t, tt.want, *got)
			require.Equal(t, tt.text, got.Error())
		})
	}
}

func TestR5Overlap(t *testing.T) {
	src := "a\nb\nc\nd\n"
	for _, tt := range []struct {
		rule         string
		index, other int
		edits        []Edit
	}{
		{"ranges", 0, 1, []Edit{replaceLines(1, 3, "", ""), replaceLines(2, 3, "", "a")}},
		{"two insertions at one point", 0, 1, []Edit{insertAt(2, "x", "a"), insertAt(2, "y", "a")}},
		{"two appends", 0, 1, []Edit{insertAt(5, "x", "d"), insertAt(5, "y", "d")}},
		{"insertion at the first line of a range", 0, 1, []Edit{replaceLines(2, 4, "", "a"), insertAt(2, "y", "a")}},
		{"insertion inside", 0, 1, []Edit{replaceLines(2, 4, "", "a"), insertAt(3, "y", "b")}},
		{"deletions and empty insertions too", 0, 1, []Edit{insertAt(2, "", "a"), replaceLines(2, 3, "", "a")}},
		{"before contexts", 0, 1, []Edit{insertAt(2, "x", "SECRET"), insertAt(2, "y", "a")}},
		{"the first in the order of lines", 1, 3, []Edit{insertAt(4, "", ""), insertAt(2, "", ""), insertAt(4, "", ""), replaceLines(1, 5, "", "")}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			require.Equal(t, Error{
				Code: CodeOverlap, Reason: EditsOverlap, Index: tt.index, Other: tt.other, TotalLines: 4, TotalBytes: 8,
			}, *refuse(t, src, tt.edits...))
		})
	}
	require.EqualError(t, refuse(t, src, insertAt(1, "", ""), insertAt(1, "", "")), "lineedit: edits 0 and 1 overlap")
}

func TestContextMismatch(t *testing.T) {
	ten := strings.Repeat("x\n", 10)
	for _, tt := range []struct {
		rule, src string
		edit      Edit
		reason    Reason
		want      Mismatch
	}{
		{"R8 differs", "one\ntwo\nthree\n", insertAt(3, "", "SECRET"), ContextDiffers, Mismatch{Line: 2, First: 1, Last: 3}},
		{"R8 blanks count", "a\nb\n", insertAt(2, "", " a"), ContextDiffers, Mismatch{Line: 1, First: 1, Last: 2}},
		{"R8 an empty context stands for no other line", "a\nb\n\n", insertAt(2, "", "\n"), ContextDiffers, Mismatch{Line: 1, First: 1, Last: 3}},
		{"R8 line 1 has no line before it", "a\nb\n", insertAt(1, "", "a"), ContextNotEmpty, Mismatch{First: 1, Last: 2, FoundAt: 1}},
		{"R8 a BOM is ignored in line 1 only", bom + "a\nb\nc\n", insertAt(3, "", bom+"b"), ContextDiffers, Mismatch{Line: 2, First: 1, Last: 3}},
		{"R8 a BOM that the file lacks is not ignored", "a\nb\n", insertAt(2, "", bom+"a"), ContextDiffers, Mismatch{Line: 1, First: 1, Last: 2}},
		{"R9 invalid line", "ab\xff\nc\n", insertAt(2, "", "ab\ufffd"), ContextInvalidLine, Mismatch{Line: 1, First: 1, Last: 2}},
		{"R9 not even the same bytes", "ab\xff\nc\n", insertAt(2, "", "ab\xff"), ContextInvalidLine, Mismatch{Line: 1, First: 1, Last: 2}},
		{"R9 found elsewhere", "ab\xff\nc\n", insertAt(2, "", "c"), ContextInvalidLine, Mismatch{Line: 1, First: 1, Last: 2, FoundAt: 2}},
		{"M1 equals the line at start", "a\nb\nc\n", insertAt(2, "", "b"), ContextDiffers, Mismatch{Line: 1, First: 1, Last: 3, EqualsStart: true}},
		{"M1 equals start and others", "a\nb\nb\n", insertAt(2, "", "b"), ContextDiffers, Mismatch{Line: 1, First: 1, Last: 3, EqualsStart: true}},
		{"M1 found once", "a\r\nb\rc\nd\n", insertAt(2, "", "d"), ContextDiffers, Mismatch{Line: 1, First: 1, Last: 4, FoundAt: 4}},
		{"M1 found twice", "a\nb\nc\nc", insertAt(2, "", "c"), ContextDiffers, Mismatch{Line: 1, First: 1, Last: 4}},
		{"M1 found behind a BOM", bom + "a\nb\n", insertAt(3, "", "a"), ContextDiffers, Mismatch{Line: 2, First: 1, Last: 2, FoundAt: 1}},
		{"M1 a file of nothing but a BOM has a line", bom, insertAt(1, "", bom), ContextNotEmpty, Mismatch{First: 1, Last: 1, FoundAt: 1}},
		{"M2 around", ten + ten + ten, insertAt(16, "", "y"), ContextDiffers, Mismatch{Line: 15, First: 5, Last: 25}},
		{"M2 at the start", ten + ten + ten, insertAt(1, "", "y"), ContextNotEmpty, Mismatch{First: 1, Last: 10}},
		{"M2 at the end", ten + ten + ten, insertAt(31, "", "y"), ContextDiffers, Mismatch{Line: 30, First: 20, Last: 30}},
		{"M3 empty", "", insertAt(1, "", "y"), ContextNotEmpty, Mismatch{First: 1, Last: 0}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			tt.want.ValidUTF8 = !strings.Contains(tt.src, "\xff")
			got := refuse(t, tt.src, tt.edit)
			require.Equal(t, tt.want, *got.Mismatch)
			got.Mismatch = nil
			require.Equal(t, Error{
				Code: CodeContextMismatch, Reason: tt.reason, Other: -1,
				TotalLines: len(splitLines(tt.src)), TotalBytes: len(tt.src),
			}, *got)
		})
	}
}

func TestR10ContextsInTheOrderOfTheRequest(t *testing.T) {
	e := refuse(t, "a\nb\nc\n", insertAt(3, "", "b"), insertAt(4, "", "SECRET"), insertAt(2, "", "SECRET"))
	require.Equal(t, 1, e.Index)
	require.EqualError(t, e, "lineedit: edit 1: context does not match: line 3")
	require.EqualError(t, &Error{Reason: ContextDiffers}, "lineedit: edit 0: context does not match")
}

func TestR10aOtherEncodings(t *testing.T) {
	src := "caf\xe9\nx\nend\n"
	e := refuse(t, src, replaceLines(3, 4, "ascii\x00\x7f", "x"), insertAt(1, "é", ""))
	require.Equal(t, Error{Code: CodeInvalidUTF8, Reason: TextNotASCII, Index: 1, Other: -1, TotalLines: 3, TotalBytes: 11}, *e)
	require.Equal(t, CodeContextMismatch, refuse(t, src, insertAt(3, "é", "SECRET")).Code, "checked last")

	got, err := Apply([]byte(src), []Edit{replaceLines(3, 4, "ende", "x")})
	require.NoError(t, err)
	require.Equal(t, "caf\xe9\nx\nende\n", string(got.Content))
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := TooManyEdits; r <= TextNotASCII; r++ {
		require.NotContains(t, r.String(), "Reason(")
		require.False(t, seen[r.String()])
		seen[r.String()] = true
	}
	require.Equal(t, "Reason(0)", Reason(0).String())
}

func TestCountPairsOfAllBytes(t *testing.T) {
	data := make([]byte, 24)
	for i := range 1 << 16 {
		for at := 3; at < 20; at += 5 {
			data[at], data[at+1] = byte(i), byte(i>>8)
		}
		pairs := strings.Count(string(data), "\r\n")
		require.True(t, pairs == countPairs(data, 0, len(data)), "%x", i)
	}
}
