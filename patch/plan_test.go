package patch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// show returns changes, one a line: "M new (old)".
func show(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%c %s", c.Status, c.Path)
		if c.From != "" {
			fmt.Fprintf(&b, " (%s)", c.From)
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// entries returns everything that m holds, stamps included.
func entries(m *Mem) map[string]memEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]memEntry{}
	for key, e := range m.entries {
		all[key] = e
	}
	return all
}

var bigFile = strings.Repeat("x", MaxFileBytes+1)

// testTree returns a tree with one of everything.
func testTree() *Mem {
	m := NewMem(map[string]string{"a": "1\n2\n", "b": "b\n", "d/x": "x\n", "bin": "\x00\xff", "latin": "\xe9\n2\n"})
	m.Symlink("a", "link")
	m.Symlink("d", "dir")
	m.Symlink("nowhere", "dangling")
	m.Symlink("loop", "loop")
	m.put("fifo", memEntry{mode: fs.ModeNamedPipe})
	m.WriteFile("big", bigFile)
	return m
}

func TestSections(t *testing.T) {
	change := "\n@@\n-2\n+two"
	for _, tt := range []struct {
		name, body string
		want       string            // changes
		files      map[string]string // that differ afterwards, "-" if gone
	}{
		{"R4 update twice", "*** Update File: a" + change + "\n*** Update File: a\n@@\n-1\n+one", "M a", map[string]string{"/a": "one\ntwo\n"}},
		{"R4 update and back", "*** Update File: a" + change + "\n*** Update File: a\n@@\n-two\n+2", "", nil},
		{"R4 add and update", "*** Add File: n\n+1\n+2\n*** Update File: n" + change, "A n", map[string]string{"/n": "1\ntwo\n"}},
		{"R4 add and delete", "*** Add File: n\n+1\n*** Delete File: n", "", nil},
		{"R4 add, delete and add", "*** Add File: n\n+1\n*** Delete File: n\n*** Add File: n", "A n", map[string]string{"/n": ""}},
		{"R4 delete and add", "*** Delete File: a\n*** Add File: a\n+x", "M a", map[string]string{"/a": "x\n"}},
		{"R4 delete and add the same", "*** Delete File: a\n*** Add File: a\n+1\n+2", "", nil},
		{"R4 delete and add, large", "*** Delete File: big\n*** Add File: big\n+x", "M big", map[string]string{"/big": "x\n"}},
		{"R4 update and delete", "*** Update File: a" + change + "\n*** Delete File: a", "D a", map[string]string{"/a": "-"}},
		{"R4 move twice", "*** Update File: a\n*** Move to: n\n*** Update File: n\n*** Move to: e/o", "M e/o (a)", map[string]string{"/a": "-", "/e/o": "1\n2\n"}},
		{"R4 move, change, move", "*** Update File: a\n*** Move to: n\n*** Update File: n" + change + "\n*** Update File: n\n*** Move to: o", "M o (a)", map[string]string{"/a": "-", "/o": "1\ntwo\n"}},
		{"R4 move back", "*** Update File: a\n*** Move to: n\n*** Update File: n\n*** Move to: a", "", nil},
		{"R4 move and delete", "*** Update File: a\n*** Move to: n\n*** Delete File: n", "D a", map[string]string{"/a": "-"}},
		{"R4 move and refill", "*** Update File: a\n*** Move to: n\n*** Add File: a\n+x", "M a\nA n", map[string]string{"/a": "x\n", "/n": "1\n2\n"}},
		{"R4 move and refill the same", "*** Update File: a\n*** Move to: n\n*** Add File: a\n+1\n+2", "A n", map[string]string{"/n": "1\n2\n"}},
		{"R4 move to a deleted name", "*** Delete File: b\n*** Update File: a\n*** Move to: b", "M b (a)", map[string]string{"/a": "-", "/b": "1\n2\n"}},
		{"R4 swap", "*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a\n*** Update File: t\n*** Move to: b", "M a\nM b", map[string]string{"/a": "b\n", "/b": "1\n2\n"}},
		{"R4 chain", "*** Update File: a\n*** Move to: n\n*** Update File: b\n*** Move to: a", "M a (b)\nA n", map[string]string{"/a": "b\n", "/b": "-", "/n": "1\n2\n"}},
		{"R4 first mention", "*** Add File: n\n*** Delete File: b\n*** Update File: a\n*** Move to: o", "A n\nD b\nM o (a)", map[string]string{"/n": "", "/b": "-", "/a": "-", "/o": "1\n2\n"}},
		{"R5 parents", "*** Add File: n/e/w\n+x\n*** Add File: n/f\n+y", "A n/e/w\nA n/f", map[string]string{"/n/e/w": "x\n", "/n/f": "y\n"}},
		{"R6 binary", "*** Delete File: bin\n*** Delete File: big", "D bin\nD big", map[string]string{"/bin": "-", "/big": "-"}},
		{"R6 link", "*** Delete File: link", "D link", nil},
		{"R6 link, and its target", "*** Delete File: link\n*** Delete File: a", "D link\nD a", map[string]string{"/a": "-"}},
		{"R6 dangling link", "*** Delete File: dangling", "D dangling", nil},
		{"a link replaced", "*** Delete File: link\n*** Add File: link\n+x", "M link", map[string]string{"/link": "x\n"}},
		{"R7 link", "*** Update File: link" + change, "M link", map[string]string{"/a": "1\ntwo\n"}},
		{"R7 link in a directory link", "*** Update File: dir/../link" + change, "M dir/../link", map[string]string{"/a": "1\ntwo\n"}},
		{"R7 dangling link to a new file", "*** Add File: nowhere\n+2\n*** Update File: dangling" + change, "A nowhere", map[string]string{"/nowhere": "two\n"}},
		{"R7 Latin-1", "*** Update File: latin" + change, "M latin", map[string]string{"/latin": "\xe9\ntwo\n"}},
		{"R8 rename", "*** Update File: big\n*** Move to: n", "M n (big)", map[string]string{"/big": "-", "/n": bigFile}},
		{"R8 change", "*** Update File: a\n*** Move to: dir/n" + change, "M dir/n (a)", map[string]string{"/a": "-", "/d/n": "1\ntwo\n"}},
		{"R20 spellings", "*** Update File: ./a" + change + "\n*** Update File: /d/../a\n@@\n-1\n+one\n*** Delete File: dir/x\n*** Add File: d/x", "M ./a\nM dir/x", map[string]string{"/a": "one\ntwo\n", "/d/x": ""}},
		{"no change", "*** Update File: a\n@@\n 1", "", nil},
	} {
		for _, mode := range []Mode{Atomic, Sequential} {
			t.Run(fmt.Sprint(tt.name, " ", mode), func(t *testing.T) {
				m := testTree()
				want := m.Files()
				for key, data := range tt.files {
					want[key] = data
					if data == "-" {
						delete(want, key)
					}
				}
				result, err := Apply(t.Context(), m, mustParse(t, inPatch(tt.body)), Options{Mode: mode})
				require.NoError(t, err)
				require.Equal(t, want, m.Files())
				require.Equal(t, tt.want, show(result.Changes))
			})
		}
	}
}

func TestSectionErrors(t *testing.T) {
	change := "\n@@\n-2\n+two"
	for _, tt := range []struct{ name, body, code, msg string }{
		{"R5 file", "*** Add File: a", CodeExists, `cannot add "a": destination already exists`},
		{"R5 directory", "*** Add File: d", CodeExists, `cannot add "d": destination already exists`},
		{"R5 dangling link", "*** Add File: dangling", CodeExists, `cannot add "dangling": destination already exists`},
		{"R5 fifo", "*** Add File: fifo", CodeExists, `cannot add "fifo": destination already exists`},
		{"R5 added", "*** Add File: n\n*** Add File: ./n", CodeExists, `cannot add "./n": destination already exists`},
		{"R5 a directory to be made", "*** Add File: n/x\n*** Add File: n", CodeExists, `cannot add "n": destination already exists`},
		{"R5 a directory that was to be made", "*** Add File: n/x\n*** Delete File: n/x\n*** Add File: n", CodeExists, `cannot add "n": destination already exists`},
		{"R5 parent is a file", "*** Add File: a/x", CodeNotDirectory, `cannot add "a/x": not a directory`},
		{"R5 parent is deleted", "*** Delete File: a\n*** Add File: a/x", CodeNotDirectory, `cannot add "a/x": not a directory`},
		{"R5 parent is added", "*** Add File: n\n*** Add File: n/x/y", CodeNotDirectory, `cannot add "n/x/y": not a directory`},
		{"parent is a deleted link", "*** Delete File: dir\n*** Add File: dir/y", CodeNotDirectory, `cannot add "dir/y": not a directory`},
		{"R5 dots in a missing directory", "*** Add File: n/../y", CodeNotFound, `cannot add "n/../y": no such file or directory`},
		{"R5 dots in a missing directory, move", "*** Update File: a\n*** Move to: n/../y", CodeNotFound, `cannot move "a" to "n/../y": no such file or directory`},
		{"parent is a dangling link", "*** Add File: dangling/x", CodeNotFound, `cannot add "dangling/x": no such file or directory`},
		{"R6 missing", "*** Delete File: n", CodeNotFound, `cannot delete "n": no such file or directory`},
		{"R6 twice", "*** Delete File: a\n*** Delete File: a", CodeNotFound, `cannot delete "a": no such file or directory`},
		{"R6 directory", "*** Delete File: d", CodeIsDirectory, `cannot delete "d": is a directory`},
		{"R6 a directory to be made", "*** Add File: n/x\n*** Delete File: n", CodeIsDirectory, `cannot delete "n": is a directory`},
		{"R6 fifo", "*** Delete File: fifo", CodeNotRegular, `cannot delete "fifo": not a regular file`},
		{"R7 missing", "*** Update File: n/o" + change, CodeNotFound, `cannot update "n/o": no such file or directory`},
		{"R7 deleted", "*** Delete File: a\n*** Update File: a" + change, CodeNotFound, `cannot update "a": no such file or directory`},
		{"R7 moved", "*** Update File: a\n*** Move to: n\n*** Update File: a" + change, CodeNotFound, `cannot update "a": no such file or directory`},
		{"R7 deleted link", "*** Delete File: link\n*** Update File: link" + change, CodeNotFound, `cannot update "link": no such file or directory`},
		{"R7 dangling", "*** Update File: dangling" + change, CodeNotFound, `cannot update "dangling": no such file or directory`},
		{"R7 loop", "*** Update File: loop" + change, CodeLoop, `cannot update "loop": too many levels of symbolic links`},
		{"R7 loop of a parent", "*** Add File: loop/x", CodeLoop, `cannot add "loop/x": too many levels of symbolic links`},
		{"R7 directory", "*** Update File: dir" + change, CodeIsDirectory, `cannot update "dir": is a directory`},
		{"R7 fifo", "*** Update File: fifo" + change, CodeNotRegular, `cannot update "fifo": not a regular file`},
		{"R7 too large", "*** Update File: big" + change, CodeTooLarge, `cannot update "big": file exceeds 10485760 bytes`},
		{"R7 binary", "*** Update File: bin" + change, CodeBinary, `cannot update "bin": file contains NUL bytes`},
		{"R7 second encoding", "*** Update File: latin\n@@\n-2\n+é", CodeInvalidUTF8, `cannot update "latin": not valid UTF-8; only ASCII text can be added`},
		{"R8 destination", "*** Update File: a\n*** Move to: b" + change, CodeExists, `cannot move "a" to "b": destination already exists`},
		{"R8 itself", "*** Update File: a\n*** Move to: d/../a", CodeExists, `cannot move "a" to "d/../a": destination already exists`},
		{"R8 link", "*** Update File: link\n*** Move to: n", CodeNotRegular, `cannot move "link" to "n": not a regular file`},
		{"R8 directory", "*** Update File: d\n*** Move to: n", CodeIsDirectory, `cannot move "d" to "n": is a directory`},
		{"R8 missing", "*** Update File: n\n*** Move to: o", CodeNotFound, `cannot move "n" to "o": no such file or directory`},
		{"R8 parent of the destination", "*** Update File: a\n*** Move to: b/x", CodeNotDirectory, `cannot move "a" to "b/x": not a directory`},
		{"large and not a mere renaming", "*** Update File: big\n*** Move to: n\n*** Add File: big", CodeTooLarge, `cannot move "big" to "n": file exceeds 10485760 bytes`},
		{"R23 quotes", "*** Delete File: x\"\\\ty", CodeNotFound, `cannot delete "x\"\\\ty": no such file or directory`},
		{"mismatch", "*** Update File: a\n@@\n-3", CodeContextMismatch, `failed to find expected lines in "a" (hunk 1 of 1)`},
		{"R36 first suffix", "*** Update File: a\n@@\n-2\n@@\n-1", CodeContextMismatch, `failed to find expected lines in "a" (hunk 2 of 2): they match only at line 1, before an earlier hunk`},
		{"R36 second suffix", "*** Update File: a\n@@\n-1\n*** End of File", CodeContextMismatch, `failed to find expected lines in "a" (hunk 1 of 1): they match at line 1, but not at end of file`},
		{"R36 third suffix", "*** Update File: a\n@@\n-0\n+1\n 2", CodeContextMismatch, `failed to find expected lines in "a" (hunk 1 of 1): the new lines are already at line 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := testTree()
			before := entries(m)
			result, err := Apply(t.Context(), m, mustParse(t, inPatch("*** Add File: first/file", "+x", tt.body)), Options{})
			require.EqualError(t, err, tt.msg)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.code, e.Code)
			require.Equal(t, e.Code == CodeExists, errors.Is(err, fs.ErrExist))
			require.Equal(t, e.Code == CodeNotFound, errors.Is(err, fs.ErrNotExist))
			require.Zero(t, result)
			require.Equal(t, before, entries(m), "R2: nothing has changed")
		})
	}
}

func TestChangesData(t *testing.T) {
	body := "*** Update File: a\n@@\n-2\n+two\n*** Update File: latin\n@@\n-2\n+two\n*** Delete File: b\n*** Delete File: big\n*** Delete File: link\n*** Update File: d/x\n*** Move to: y\n*** Add File: n\n+\x00"
	m := testTree()
	m.WriteFile("c", "c\n")
	body += "\n*** Update File: c\n*** Move to: c2\n@@\n c\n+d"
	plan, err := NewPlan(t.Context(), m, mustParse(t, inPatch(body)), Options{})
	require.NoError(t, err)
	require.Equal(t, []Change{
		{Status: 'M', Path: "a", Key: "/a", Before: []byte("1\n2\n"), After: []byte("1\ntwo\n"), Text: true},
		{Status: 'M', Path: "latin", Key: "/latin", Before: []byte("\xe9\n2\n"), After: []byte("\xe9\ntwo\n")},
		{Status: 'D', Path: "b", Key: "/b", Before: []byte("b\n"), Text: true},
		{Status: 'D', Path: "big", Key: "/big"},
		{Status: 'D', Path: "link", Key: "/link"},
		{Status: 'M', Path: "y", From: "d/x", Key: "/y", FromKey: "/d/x"},
		{Status: 'A', Path: "n", Key: "/n", After: []byte("\x00\n")},
		{Status: 'M', Path: "c2", From: "c", Key: "/c2", FromKey: "/c", Before: []byte("c\n"), After: []byte("c\nd\n"), Text: true},
	}, plan.Changes())
	result, err := plan.Commit(t.Context())
	require.NoError(t, err)
	require.Equal(t, plan.Changes(), result.Changes)
	require.Equal(t, plan.Notes(), result.Notes)
}

func TestNotes(t *testing.T) {
	m := NewMem(map[string]string{"a": "x \nx\nx\n", "b": "y \n"})
	p := mustParse(t, inPatch("*** Update File: ./a", "@@", "-x", "+z", "@@", " x", "*** Update File: b", "-y", "*** Update File: a", "@@", " z", "@@", " x "))
	result, err := Apply(t.Context(), m, p, Options{})
	require.NoError(t, err)
	require.Equal(t, []Note{
		{Path: "./a", Hunk: 1, Kind: Repeated, Line: 2, Places: 2},
		{Path: "b", Hunk: 1, Kind: TrailingSpace, Line: 1},
		{Path: "./a", Hunk: 2, Kind: TrailingSpace, Line: 3},
	}, result.Notes)
}

func TestJudge(t *testing.T) {
	var asked []Subject
	opts := Options{}
	opts.Judge = func(_ context.Context, s Subject) error {
		if s.Last != nil {
			require.Equal(t, Sequential, opts.Mode)
			require.Equal(t, s.Data, s.Last)
			s.Last = nil
		}
		asked = append(asked, s)
		return nil
	}
	body := "*** Add File: n\n+x\n*** Update File: link\n@@\n-2\n+two\n*** Delete File: a\n*** Delete File: big\n*** Update File: b\n*** Move to: c\n*** Update File: c\n*** Move to: e\n@@\n b\n*** Update File: missing\n@@\n-x"
	want := []Subject{
		{Target: Target{Add, "n", Dest}, Key: "/n", Creates: true},
		{Target: Target{Update, "link", Dest}, Key: "/a", Exists: true, Data: []byte("1\n2\n")},
		{Target: Target{Delete, "a", Source}, Key: "/a", Exists: true, Data: []byte("1\ntwo\n"), Seen: true},
		{Target: Target{Delete, "big", Source}, Key: "/big", Exists: true},
		{Target: Target{Update, "b", Source}, Key: "/b", Exists: true},
		{Target: Target{Update, "c", Dest}, Key: "/c", Creates: true},
		{Target: Target{Update, "c", Source}, Key: "/c", Exists: true, Data: []byte("b\n"), Seen: true},
		{Target: Target{Update, "e", Dest}, Key: "/e", Creates: true},
		{Target: Target{Update, "missing", Dest}, Key: "/missing"},
	}
	for _, opts.Mode = range []Mode{Atomic, Sequential} {
		asked = nil
		_, err := Apply(t.Context(), testTree(), mustParse(t, inPatch(body)), opts)
		require.EqualError(t, err, `cannot update "missing": no such file or directory`, "the question comes first")
		require.Equal(t, want, asked)
	}

	// What needs no content is refused before, and what does after.
	refused := errors.New("no")
	opts = Options{Judge: func(context.Context, Subject) error { return refused }}
	for body, judged := range map[string]bool{
		"*** Add File: a":                          false,
		"*** Delete File: d":                       false,
		"*** Update File: fifo\n@@\n-x":            false,
		"*** Update File: big\n@@\n-x":             false,
		"*** Update File: bin\n@@\n-x":             false,
		"*** Update File: missing\n*** Move to: a": false,
		"*** Update File: a\n@@\n-x":               true,
		"*** Update File: latin\n@@\n-2\n+é":       true,
		"*** Delete File: missing":                 true,
		"*** Add File: n":                          true,
		"*** Update File: a\n*** Move to: new":     true,
	} {
		_, err := Apply(t.Context(), testTree(), mustParse(t, inPatch(body)), opts)
		require.Equal(t, judged, err == refused, body) //nolint:errorlint // it must be returned as it is
	}
}

func TestLongPathsDoNotHideTheReason(t *testing.T) {
	escape := func(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }
	for _, body := range []string{
		"*** Delete File: " + strings.Repeat("z/", 1500) + "x",
		"*** Update File: " + strings.Repeat("b\t", 1500) + "x\n*** Move to: " + strings.Repeat("q\"", 1500) + "x",
		"*** Update File: " + strings.Repeat("é", 1500) + "\n@@\n-x",
	} {
		_, err := Apply(t.Context(), testTree(), mustParse(t, inPatch(body)), Options{Escape: escape})
		require.LessOrEqual(t, len(err.Error()), 2048)
		require.Regexp(t, `^cannot (delete|move|update) ".*": no such file or directory$`, err.Error())
		require.Contains(t, err.Error(), "…")
		require.True(t, utf8.ValidString(err.Error()))
	}
	_, err := Parse(inPatch("*** Update File: " + strings.Repeat("é", 2000)))
	require.ErrorContains(t, err, `…`)
	require.ErrorContains(t, err, `" has no hunks`)
}

// writes is a file system that notes which writes are staged.
type writes struct {
	*Mem
	staged []Write
}

func (w *writes) Stage(ctx context.Context, write Write) (Staged, error) {
	w.staged = append(w.staged, write)
	return w.Mem.Stage(ctx, write)
}

func TestChangedFilesMustBeWritable(t *testing.T) {
	for body, want := range map[string]bool{
		"*** Update File: a\n*** Move to: new\n@@\n-2\n+two": true,
		"*** Update File: a\n@@\n-2\n+two":                   true,
		"*** Add File: new\n+x":                              false,
		// A mere renaming, which is a write because the old name is used again.
		"*** Update File: a\n*** Move to: new\n*** Add File: a\n+x": false,
	} {
		w := &writes{Mem: testTree()}
		_, err := Apply(t.Context(), w, mustParse(t, inPatch(body)), Options{})
		require.NoError(t, err)
		for _, write := range w.staged {
			if write.Key == "/new" || want {
				require.Equal(t, want, write.Writable, body)
			}
		}
	}
}

// resolves is a file system that counts what it is asked to resolve.
type resolves struct {
	*Mem
	n int
}

func (r *resolves) Resolve(ctx context.Context, path string, follow bool) (string, error) {
	r.n++
	return r.Mem.Resolve(ctx, path, follow)
}

func TestDeepPathsAreResolvedOnce(t *testing.T) {
	r := &resolves{Mem: testTree()}
	deep := strings.Repeat("n/", 1000)
	_, err := NewPlan(t.Context(), r, mustParse(t, inPatch("*** Add File: "+deep+"x", "*** Add File: "+deep+"y", "*** Delete File: a")), Options{})
	require.NoError(t, err)
	require.Less(t, r.n, 10)
}

func TestDoubledSlashes(t *testing.T) {
	for _, mode := range []Mode{Atomic, Sequential} {
		m := testTree()
		_, err := Apply(t.Context(), m, mustParse(t, inPatch(
			"*** Delete File: link", "*** Add File: n//x//f", "+x", "*** Update File: n///x/f", "@@", "-x", "+y", "*** Update File: n/x//f", "*** Move to: n//g",
		)), Options{Mode: mode})
		require.NoError(t, err)
		require.Equal(t, "y\n", m.Files()["/n/g"])
	}
}

func TestEscape(t *testing.T) {
	opts := Options{Escape: func(s string) string { return "<" + strings.ToUpper(s) + ">" }}
	_, err := Apply(t.Context(), testTree(), mustParse(t, inPatch("*** Update File: a", "*** Move to: b\"", "@@ x", "-y")), opts)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, `failed to find context "<X>" in "<A>" (hunk 1 of 1)`, e.Msg)
	require.Equal(t, "expected lines in <A> (hunk 1):\n@@ x", e.Excerpt)
	require.Equal(t, "a", e.Path)
	_, err = Apply(t.Context(), testTree(), mustParse(t, inPatch("*** Update File: n", "*** Move to: b\"")), opts)
	require.EqualError(t, err, `cannot move "<N>" to "<B\">": <NO SUCH FILE OR DIRECTORY>`)
}
