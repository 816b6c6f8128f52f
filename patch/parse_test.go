package patch

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inPatch returns a patch text with the given lines inside.
func inPatch(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"
}

func mustParse(t testing.TB, text string) *Patch {
	t.Helper()
	p, err := Parse(text)
	require.NoError(t, err, "%s", text)
	return p
}

func ctxLine(text string) Line { return Line{Kind: ' ', Text: text} }
func oldLine(text string) Line { return Line{Kind: '-', Text: text} }
func newLine(text string) Line { return Line{Kind: '+', Text: text} }

var bareLine = Line{Kind: ' ', Bare: true}

func updateOf(hunks ...Hunk) []Section {
	return []Section{{Op: Update, Path: "f", Hunks: hunks}}
}

func TestParse(t *testing.T) {
	change := []Line{oldLine("a"), newLine("b")}
	for _, tt := range []struct {
		name, text string
		want       []Section
	}{
		{"add", inPatch("*** Add File: a", "+x", "+", "++", "+ *** End Patch"), []Section{{Op: Add, Path: "a", Lines: []string{"x", "", "+", " *** End Patch"}}}},
		{"add empty", inPatch("*** Add File: a"), []Section{{Op: Add, Path: "a"}}},
		{"add keeps blanks of lines", inPatch("*** Add File: a", "+ x \t"), []Section{{Op: Add, Path: "a", Lines: []string{" x \t"}}}},
		{"delete", inPatch("*** Delete File: a b"), []Section{{Op: Delete, Path: "a b"}}},
		{"move", inPatch("*** Update File: a", "*** Move to: b"), []Section{{Op: Update, Path: "a", MoveTo: "b"}}},
		{"move and change", inPatch("*** Update File: f", "*** Move to: b", "@@", "-a", "+b"), []Section{{Op: Update, Path: "f", MoveTo: "b", Hunks: []Hunk{{Lines: change}}}}},
		{"update", inPatch("*** Update File: f", "@@", "-a", "+b"), updateOf(Hunk{Lines: change})},
		{"G1 CR LF", strings.ReplaceAll(inPatch("*** Update File: f", "@@", "-a", "+b")+"\n", "\n", "\r\n"), updateOf(Hunk{Lines: change})},
		{"G1 CR at the end", inPatch("*** Delete File: a") + "\r", []Section{{Op: Delete, Path: "a"}}},
		{"G1 only one CR", inPatch("*** Update File: f", "@@", "-a\r\r", "+b\rc"), updateOf(Hunk{Lines: []Line{oldLine("a\r"), newLine("b\rc")}})},
		{"G1 byte order mark", "\ufeff" + inPatch("*** Delete File: a"), []Section{{Op: Delete, Path: "a"}}},
		{"G2 blanks around", " \n\n" + inPatch("", "\t", "*** Delete File: a", " ") + "\n \n", []Section{{Op: Delete, Path: "a"}}},
		{"G3 whitespace", inPatch("\t*** Delete File:\t  a\v ", " *** Add File: b ", "+x", "  *** Delete File: c"), []Section{{Op: Delete, Path: "a"}, {Op: Add, Path: "b", Lines: []string{"x"}}, {Op: Delete, Path: "c"}}},
		{"G3 context that looks like the end", inPatch("*** Update File: f", " *** End Patch", "-a", "+b"), updateOf(Hunk{Lines: []Line{ctxLine("*** End Patch"), oldLine("a"), newLine("b")}})},
		{"G3 only end is indented", "*** Begin Patch\n*** Update File: f\n-a\n+b\n\t*** End Patch \n\n", updateOf(Hunk{Lines: change})},
		{"G3 indented end after context", "*** Begin Patch\n*** Update File: f\n-a\n+b\n *** End Patch\n *** End Patch", updateOf(Hunk{Lines: []Line{oldLine("a"), newLine("b"), ctxLine("*** End Patch")}})},
		{"G4 here-document", "\n<<EOF\n\n" + inPatch("*** Delete File: a") + "\n\nEOF\n", []Section{{Op: Delete, Path: "a"}}},
		{"G4 quoted", "apply_patch <<'_E1'\n" + inPatch("*** Delete File: a") + "\n_E1", []Section{{Op: Delete, Path: "a"}}},
		{"G4 double quoted", "apply_patch <<\"E\"\n" + inPatch("*** Delete File: a") + "\nE", []Section{{Op: Delete, Path: "a"}}},
		{"G5 separators", inPatch("*** Add File: a", "+x", "", " ", "*** Delete File: b", ""), []Section{{Op: Add, Path: "a", Lines: []string{"x"}}, {Op: Delete, Path: "b"}}},
		{"G6 bare blanks", inPatch("*** Update File: f", "", "@@", "", "-a", "+b", ""), updateOf(Hunk{Lines: []Line{bareLine, oldLine("a"), newLine("b"), bareLine}})},
		{"G7 anchors", inPatch("*** Update File: f", "@@ class A: ", "@@", "@@  \t", "@@   def f", "-a", "+b"), updateOf(Hunk{Anchors: []string{"class A: ", "  def f"}, Lines: change})},
		{"G7 two hunks", inPatch("*** Update File: f", "-a", "+b", "@@ x", "-a", "+b"), updateOf(Hunk{Lines: change}, Hunk{Anchors: []string{"x"}, Lines: change})},
		{"G8 range headers", inPatch("*** Update File: f", "@@ -1,2 +3 @@ func f()", "-a", "+b", "@@ -1 +3,4 @@", "-a", "+b"), updateOf(Hunk{Lines: change}, Hunk{Lines: change})},
		{"G8 not quite a range", inPatch("*** Update File: f", "@@ -1,2 +3", "-a", "+b"), updateOf(Hunk{Anchors: []string{"-1,2 +3"}, Lines: change})},
		{"G9 end of file", inPatch("*** Update File: f", "@@", "-a", "+b", "*** End of File ", "", "@@", "+x", "*** End of File", "*** Delete File: a"), append(updateOf(Hunk{Lines: change, EOF: true}, Hunk{Lines: []Line{newLine("x")}, EOF: true}), Section{Op: Delete, Path: "a"})},
		{"R22 paths", inPatch("*** Delete File: ../a/..b", "*** Delete File: /.x", "*** Delete File: "+strings.Repeat("x", MaxPathBytes)), []Section{{Op: Delete, Path: "../a/..b"}, {Op: Delete, Path: "/.x"}, {Op: Delete, Path: strings.Repeat("x", MaxPathBytes)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustParse(t, tt.text)
			require.Equal(t, &Patch{tt.want}, p)
			require.Equal(t, p, mustParse(t, p.String()))
		})
	}
}

func TestParseErrors(t *testing.T) {
	long := strings.Repeat("é", 81)
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "empty patch"},
		{"blank", " \n\t\r\n", "empty patch"},
		{"not UTF-8", inPatch("*** Delete File: \xff"), "not valid UTF-8"},
		{"G2 text before", "hello\n" + inPatch("*** Delete File: a"), `first line must be "*** Begin Patch"`},
		{"G2 second patch", inPatch("*** Delete File: a") + "\n\n" + inPatch("*** Delete File: b"), `line 5: text after "*** End Patch"`},
		{"G3 case", "*** begin patch\n*** End Patch", `first line must be "*** Begin Patch"`},
		{"G4 fence", "```\n" + inPatch("*** Delete File: a") + "\n```", `first line must be "*** Begin Patch"`},
		{"G4 other word", "<<EOF\n" + inPatch("*** Delete File: a") + "\nEND", `first line must be "*** Begin Patch"`},
		{"G4 mixed quotes", "<<'EOF\"\n" + inPatch("*** Delete File: a") + "\nEOF", `first line must be "*** Begin Patch"`},
		{"G4 word missing", "<<EOF\n" + inPatch("*** Delete File: a"), `first line must be "*** Begin Patch"`},
		{"G4 nothing inside", "<<EOF\nEOF", `first line must be "*** Begin Patch"`},
		{"no end", "*** Begin Patch\n*** Foo", `last line must be "*** End Patch"`},
		{"end is context", "*** Begin Patch\n*** Update File: f\n-a\n *** End Patch\n+b", `last line must be "*** End Patch"`},
		{"no sections", inPatch(""), "no file operations"},
		{"too many sections", inPatch(strings.Repeat("*** Delete File: a\n", MaxSections+1)), "more than 1000 file operations"},
		{"unknown operation", "\n\n" + inPatch("*** Rename\x1b \"File\": a"), `line 4: invalid operation "*** Rename\u{1b} \"File\": a"`},
		{"no space behind the colon", inPatch("*** Add File:a"), `line 2: invalid operation "*** Add File:a"`},
		{"text outside a section", inPatch("*** Delete File: a", "+x"), `line 3: invalid operation "+x"`},
		{"quoted text is cut", inPatch(long), `line 2: invalid operation "` + long[:160] + `…"`},
		{"but not in an escape", inPatch(strings.Repeat("x", 79) + "\t"), `line 2: invalid operation "` + strings.Repeat("x", 79) + `…"`},
		{"R22 missing path", inPatch("*** Add File: \t"), "line 2: missing path"},
		{"R22 missing path without space", inPatch("*** Update File:"), "line 2: missing path"},
		{"R22 slash", inPatch("*** Add File: a/"), `line 2: path does not name a file: "a/"`},
		{"R22 dot", inPatch("*** Add File: ."), `line 2: path does not name a file: "."`},
		{"R22 dots", inPatch("*** Update File: a", "*** Move to: b/.."), `line 3: path does not name a file: "b/.."`},
		{"R22 NUL", inPatch("*** Add File: a\x00b"), "line 2: path must not contain NUL"},
		{"R22 length", inPatch("*** Add File: " + strings.Repeat("x", MaxPathBytes+1)), "line 2: path is longer than 4096 bytes"},
		{"G5 no plus", inPatch("*** Add File: a", "+x", " y"), `line 4: add-file line must start with +: " y"`},
		{"G5 blank inside", inPatch("*** Add File: a", "+x", "", "+y"), `line 4: add-file line must start with +: ""`},
		{"G10 no hunks", inPatch("*** Update File: a\"b", "", "*** Delete File: c"), `line 2: update of "a\"b" has no hunks`},
		{"G10 no hunks, long", inPatch("*** Update File: " + long), `line 2: update of "` + long + `" has no hunks`},
		{"G10 move after a hunk", inPatch("*** Update File: a", "@@", "-x", "*** Move to: b"), `line 5: "*** Move to:" must directly follow "*** Update File:"`},
		{"G10 move after a blank", inPatch("*** Update File: a", "", "*** Move to: b"), `line 4: "*** Move to:" must directly follow "*** Update File:"`},
		{"G10 move after an add", inPatch("*** Add File: a", "*** Move to: b"), `line 3: "*** Move to:" must directly follow "*** Update File:"`},
		{"G10 two moves", inPatch("*** Update File: a", "*** Move to: b", "*** Move to: c"), `line 4: "*** Move to:" must directly follow "*** Update File:"`},
		{"G9 no lines", inPatch("*** Update File: a", "@@ x", "@@ y", "*** Delete File: c"), "line 4: hunk has no lines"},
		{"G9 no lines at the end", inPatch("*** Update File: a", "@@ x"), "line 3: hunk has no lines"},
		{"G9 end of file without lines", inPatch("*** Update File: a", "@@", "*** End of File"), `line 4: misplaced "*** End of File"`},
		{"G9 end of file first", inPatch("*** Update File: a", "*** End of File"), `line 3: misplaced "*** End of File"`},
		{"G9 end of file in an add", inPatch("*** Add File: a", "+x", "*** End of File"), `line 4: misplaced "*** End of File"`},
		{"G9 lines behind end of file", inPatch("*** Update File: a", "-x", "*** End of File", "", "+y"), `line 4: misplaced "*** End of File"`},
		{"G9 two ends of file", inPatch("*** Update File: a", "-x", "*** End of File", "*** End of File"), `line 4: misplaced "*** End of File"`},
		{"G11 unknown marker", inPatch("*** Update File: a", "-x", "***y"), `line 4: invalid operation "***y"`},
		{"hunk line", inPatch("*** Update File: a", "@@", "-x", "y"), `line 5: hunk line must start with space, - or +: "y"`},
		{"hunk line first", inPatch("*** Update File: a", "y"), `line 3: hunk line must start with space, - or +: "y"`},
		{"hunk line behind a header", inPatch("*** Update File: a", "@@", "\ty"), `line 4: hunk line must start with space, - or +: "\ty"`},
		{"hunk header", inPatch("*** Update File: a", "@@x", "-y"), `line 3: hunk line must start with space, - or +: "@@x"`},
		{"G8 range without old lines", inPatch("*** Update File: a", "@@ x", "@@ -1 +1 @@", "+y", ""), "line 4: line-number hunk header needs context or removed lines"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(tt.text)
			require.EqualError(t, err, "invalid patch: "+tt.want)
			var e *ParseError
			require.ErrorAs(t, err, &e)
			require.Equal(t, CodeInvalid, e.Code)
		})
	}

	_, err := Parse(strings.Repeat(" ", MaxPatchBytes+1))
	require.EqualError(t, err, "invalid patch: exceeds 10485760 bytes")
	var e *ParseError
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodeTooLarge, e.Code)

	_, err = Parse(inPatch("*** \\x"))
	require.ErrorAs(t, err, &e)
	require.Equal(t, `invalid patch: line 2: invalid operation "<\"*** \x\">"`, e.Message(func(s string) string { return `<"` + s + `">` }))
}

func TestTargets(t *testing.T) {
	p := mustParse(t, inPatch("*** Add File: a", "*** Delete File: b", "*** Update File: c", "+x", "*** Update File: d", "*** Move to: e"))
	require.Equal(t, []Target{{Add, "a", Dest}, {Delete, "b", Source}, {Update, "c", Dest}, {Update, "d", Source}, {Update, "e", Dest}}, p.Targets())
}

var crs = regexp.MustCompile(`\r+(\n|$)`)

func FuzzParse(f *testing.F) {
	f.Add(inPatch("*** Add File: a", "+x", "", "*** Delete File: b", "*** Update File: c", "*** Move to: d", "@@ x", "@@", " y", "-z", "+", "", "*** End of File"))
	f.Add("<<EOF\n" + inPatch("*** Update File: c", "@@ -1 +1 @@", " y\r\r", "\x00", "+\r") + "\nEOF\n")
	f.Add("*** Begin Patch\n*** Update File: f\n-a\n *** End Patch")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			require.Regexp(t, `^invalid patch: [^\x00-\x1f\x7f]+$`, err.Error())
			return
		}
		printed := p.String()
		again, err := Parse(printed)
		require.NoError(t, err, "%q", printed)
		require.Equal(t, p, again, "%q", printed)

		lf := crs.ReplaceAllString(text, "$1")
		one, oneErr := Parse(lf)
		two, twoErr := Parse(strings.ReplaceAll(lf, "\n", "\r\n"))
		require.Equal(t, fmt.Sprint(oneErr), fmt.Sprint(twoErr))
		require.Equal(t, one, two)
	})
}
