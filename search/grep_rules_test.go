package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGrep(t *testing.T) {
	needle := mustCompile(t, "needle")
	for _, tt := range []struct {
		rule  string
		files []string
		o     GrepOptions
		want  string
	}{
		{"a heading for each file", []string{"b.txt", "x\nneedle\n", "a.txt", "needle\n"}, GrepOptions{}, "a.txt\n1:needle\nb.txt\n2:needle\n"},
		{"no match", []string{"a.txt", "x\n"}, GrepOptions{}, ""},
		{"an empty file", []string{"a.txt", ""}, GrepOptions{Pattern: mustCompile(t, "")}, ""},
		{"a last line without an end", []string{"a", "x\nneedle"}, GrepOptions{}, "a\n2:needle\n"},
		{"a line matches once", []string{"a", "needle needle\n"}, GrepOptions{}, "a\n1:needle needle\n"},
		{"an empty match counts", []string{"a", "b\n\n"}, GrepOptions{Pattern: mustCompile(t, "x*")}, "a\n1:b\n2:\n"},
		{"$ before CR LF", []string{"a", "foo\r\nbar foo\r\n\r\nend\r\n"}, GrepOptions{Pattern: mustCompile(t, "foo$|^$")}, "a\n1:foo\n2:bar foo\n3:\n"},
		{"a lone CR ends a line", []string{"a", "a\rb\rneedle\r"}, GrepOptions{}, "a\n3:needle\n"},
		{"nothing crosses a line end", []string{"a", "foo\n bar\nfoo bar\n"}, GrepOptions{Pattern: mustCompile(t, `foo\s+bar|foo[^x]*bar`)}, "a\n3:foo bar\n"},
		{"a byte order mark", []string{"a", "\ufeffpackage x\n"}, GrepOptions{Pattern: mustCompile(t, "^package")}, "a\n1:package x\n"},
		{"UTF-16, little-endian", []string{"a", "\xff\xfek\x00\r\x00\n\x00n\x00e\x00e\x00d\x00l\x00e\x00"}, GrepOptions{}, "a\n2:needle\n"},
		{"UTF-16, big-endian, unpaired surrogate", []string{"a", "\xfe\xff\x00n\x00e\x00e\x00d\x00l\x00e\xd8\x00\x00!\x00"}, GrepOptions{}, "a\n1:needle\ufffd!\ufffd\n"},
		{"NUL at the start is binary", []string{"a", "\x00\nneedle\n"}, GrepOptions{}, ""},
		{"NUL in the first 65,536 bytes is binary", []string{"a", "needle\n" + strings.Repeat("x", 65_536-8) + "\x00"}, GrepOptions{}, ""},
		{"a later NUL is not", []string{"a", "needle\n" + strings.Repeat("x", 65_536-7) + "\x00"}, GrepOptions{}, "a\n1:needle\n"},
		{"NUL in UTF-16 is binary", []string{"a", "\xff\xfe\x00\x00n\x00e\x00e\x00d\x00l\x00e\x00"}, GrepOptions{}, ""},
		{"context", []string{"a", "1\nneedle\n3\n4\n5\n6\n7\nneedle\n9\n"}, GrepOptions{Context: 1}, "a\n1-1\n2:needle\n3-3\n7-7\n8:needle\n9-9\n"},
		{"context is merged", []string{"a", "1\n2\nneedle\n4\nneedle\n6\n7\n"}, GrepOptions{Context: 2}, "a\n1-1\n2-2\n3:needle\n4-4\n5:needle\n6-6\n7-7\n"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			noUser(t)
			o := tt.o
			o.Root = tree(t, tt.files...)
			if o.Pattern == nil {
				o.Pattern = needle
			}
			require.Equal(t, tt.want, mustGrep(t, o))
		})
	}
}

func TestLimit(t *testing.T) {
	noUser(t)
	x := mustCompile(t, "x")
	for _, tt := range []struct {
		rule    string
		files   []string
		context int
		limit   int
		want    string
		over    bool
	}{
		{"the one over it is not given", []string{"a", "x1\nx2\nx3\n"}, 0, 2, "a\n1:x1\n2:x2\n", true},
		{"exactly so many are no more", []string{"a", "x1\nx2\nx3\n"}, 0, 3, "a\n1:x1\n2:x2\n3:x3\n", false},
		{"over all files", []string{"a", "x\n", "b", "y\n", "c", "x\n", "d", "x\n"}, 0, 2, "a\n1:x\nc\n1:x\n", true},
		{"no heading for the one over it", []string{"a", "x\n", "b", "y\nx\n"}, 1, 1, "a\n1:x\n", true},
		{"context ends before it", []string{"a", "x\nmid\nx\nend\n"}, 3, 1, "a\n1:x\n2-mid\n", true},
		{"context of it alone is not given", []string{"a", "x\n2\n3\n4\nx\n"}, 1, 1, "a\n1:x\n2-2\n", true},
		{"context after the last", []string{"a", "x\n2\n3\n"}, 1, 1, "a\n1:x\n2-2\n", false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			out, err := grep(t.Context(), GrepOptions{WalkOptions: WalkOptions{Root: tree(t, tt.files...)}, Pattern: x, Context: tt.context, Limit: tt.limit})
			require.Equal(t, tt.want, out)
			require.Equal(t, tt.over, errors.Is(err, ErrLimit))
		})
	}
}

func TestLimitGivesAPrefix(t *testing.T) {
	noUser(t)
	var files []string
	for i := range 30 {
		files = append(files, fmt.Sprintf("d%d/f%d", i%4, i), strings.Repeat("x\ny\n", i%5))
	}
	o := GrepOptions{WalkOptions: WalkOptions{Root: tree(t, files...)}, Pattern: mustCompile(t, "x")}
	whole := mustGrep(t, o)
	for limit := 1; ; limit++ {
		o.Limit = limit
		out, err := grep(t.Context(), o)
		require.True(t, strings.HasPrefix(whole, out))
		require.Equal(t, limit, strings.Count(out, ":x"))
		if err == nil {
			require.Equal(t, whole, out)
			break
		}
		require.Equal(t, ErrLimit, err)
	}
}

func TestRootIsAFile(t *testing.T) {
	root := tree(t, ".gitignore", "*.log\n", "a.log", "\x00needle\n", "b", "\xff\xfe")
	require.NoError(t, os.Symlink("a.log", root+"/l"))
	o := GrepOptions{Pattern: mustCompile(t, "needle")}
	o.Filter, o.Glob = mustFilter(t, "!*.log"), mustGlob(t, "*.go")
	for _, name := range []string{"a.log", "l"} {
		o.Root = filepath.Join(root, name)
		require.Equal(t, "\n1:\x00needle\n", mustGrep(t, o), "whatever the other options say, and binary or not")
	}
	o.Root = filepath.Join(root, "gone")
	_, err := grep(t.Context(), o)
	require.ErrorIs(t, err, fs.ErrNotExist)
	var e *fs.PathError
	require.ErrorAs(t, err, &e)
	require.Equal(t, o.Root, e.Path)
}

// unsearched collects what a walk reports.
type unsearched []string

func (u *unsearched) add(path string, err error) { *u = append(*u, path+": "+err.Error()) }

func TestLongLines(t *testing.T) {
	noUser(t)
	small := sizes{head: 16, chunk: 32, segment: 64, line: 200, utf16: 300}
	long := strings.Repeat("x", 200)
	utf16 := func(n int) string { return "\xff\xfe" + strings.Repeat("n\x00\n\x00", n/4) }
	for _, tt := range []struct{ rule, text, want, unsearched string }{
		{"the longest line", "n1\n" + long + "\nn3\n", "1:n1 3:n3", ""},
		{"the longest line, CR LF", "n1\r\n" + long + "\r\nn3\r\n", "1:n1 3:n3", ""},
		{"the longest line, CR", "n1\r" + long + "\rn3\r", "1:n1 3:n3", ""},
		{"the longest line at the end", "n1\n" + long, "1:n1", ""},
		{"one byte more ends the search", "n1\n" + long + "x\nn3\n", "1:n1", "f: line too long"},
		{"one byte more, CR LF", "n1\r\n" + long + "x\r\nn3\n", "1:n1", "f: line too long"},
		{"one byte more, CR", "n1\r" + long + "x\rn3\r", "1:n1", "f: line too long"},
		{"one byte more at the end", "n1\n" + long + "x", "1:n1", "f: line too long"},
		{"the first line", long + "xn", "", "f: line too long"},
		{"far more", "n1\n" + strings.Repeat(long, 20) + "\nn3\n", "1:n1", "f: line too long"},
		{"UTF-16 that is not too large", utf16(298), strings.TrimSuffix(strings.Repeat("n ", 74), " "), ""},
		{"UTF-16 that is too large", utf16(300), "", "f: UTF-16 file too large"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			for i := range 4 {
				var u unsearched
				o := GrepOptions{Pattern: mustCompile(t, "n"), Context: i % 2, Workers: 1 + i/2, sizes: small}
				o.Root, o.Errors = tree(t, "f", tt.text, "g", "n\n"), u.add
				var got []string
				for m, err := range Grep(t.Context(), o) {
					require.NoError(t, err)
					for _, l := range m.Lines {
						if l.Match && m.Path == "f" {
							got = append(got, string(mustRecord(l)))
						}
					}
				}
				if strings.HasPrefix(tt.rule, "UTF-16") {
					require.Len(t, got, len(strings.Fields(tt.want)))
				} else {
					require.Equal(t, tt.want, strings.Join(got, " "))
				}
				require.Equal(t, tt.unsearched, strings.Join(u, " "))
			}
		})
	}
}

func TestGrepIsCancelled(t *testing.T) {
	noUser(t)
	var files []string
	for i := range 200 {
		files = append(files, fmt.Sprintf("d%d/%d", i%10, i), strings.Repeat("x\n", 100))
	}
	o := GrepOptions{WalkOptions: WalkOptions{Root: tree(t, files...)}, Pattern: mustCompile(t, "x")}
	cause := errors.New("enough")
	for _, after := range []int{0, 1, 2, 50, 200} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if after == 0 {
			cancel(cause)
		}
		seen := 0
		var last error
		for m, err := range Grep(ctx, o) {
			if err != nil {
				require.Empty(t, m)
				require.NoError(t, last, "an error ends the loop")
				last = err
				continue
			}
			if seen++; seen == after {
				cancel(cause)
			}
		}
		require.Equal(t, cause, last, "also when all is done already")
		cancel(nil)
	}
}

func TestGrepStopsWithTheLoop(t *testing.T) {
	noUser(t)
	o := GrepOptions{Pattern: mustCompile(t, "x"), sizes: sizes{16, 32, 64, MaxLineBytes, MaxUTF16Bytes}}
	o.Root = tree(t, "a", strings.Repeat("x\n", 1000), "b", "x\n")
	for m := range Grep(t.Context(), o) {
		if m.Continued {
			break
		}
	}
}

func TestALargeFileIsGivenInParts(t *testing.T) {
	noUser(t)
	o := GrepOptions{Pattern: mustCompile(t, "x"), sizes: sizes{16, 32, 64, MaxLineBytes, MaxUTF16Bytes}}
	o.Root = tree(t, "a", strings.Repeat("x\n", 1000))
	next := 1
	for m, err := range Grep(t.Context(), o) {
		require.NoError(t, err)
		require.Equal(t, next > 1, m.Continued)
		for _, l := range m.Lines {
			require.Equal(t, next, l.Number)
			next++
		}
	}
	require.Equal(t, 1001, next)
}

func TestClip(t *testing.T) {
	noUser(t)
	long := strings.Repeat("a", 100_000) + "needle" + strings.Repeat("b", 100_000)
	o := GrepOptions{Pattern: mustCompile(t, "needle"), ForRecords: true}
	o.Root = tree(t, "f", "short needle\n"+long+"\n")
	for m, err := range Grep(t.Context(), o) {
		require.NoError(t, err)
		require.Len(t, m.Lines, 2)
		require.Equal(t, Line{Number: 1, Match: true, Text: []byte("short needle")}, m.Lines[0])
		l := m.Lines[1]
		require.LessOrEqual(t, len(l.Text), clipBytes)
		require.True(t, l.CutBefore && l.CutAfter)
		require.Equal(t, "needle", string(l.Text[l.Start:l.End]))
		require.True(t, bytes.Contains([]byte(long), l.Text))
	}
}
