package search

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/lineio"
)

// match returns a line that matches where its needle is.
func match(number int, text string) Line {
	l := Line{Number: number, Match: true, Text: []byte(text)}
	if l.Start = strings.Index(text, "needle"); l.Start >= 0 {
		l.End = l.Start + len("needle")
	}
	return l
}

func TestAppendLine(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	e := func(n int) string { return strings.Repeat("é", n) }
	for _, tt := range []struct {
		rule    string
		line    Line
		want    string
		changes Changes
	}{
		{"a match", match(3, "\tneedle \\n"), "3:\tneedle \\n", Changes{}},
		{"context", Line{Number: 12, Text: []byte("x")}, "12-x", Changes{}},
		{"empty", Line{Number: 1, Match: true}, "1:", Changes{}},
		{"498 characters fit after 1:", match(1, "needle"+a(492)), "1:needle" + a(492), Changes{}},
		{"499 do not", match(1, "needle"+a(493)), "1:needle" + a(491) + "…", Changes{Shortened: true}},
		{"the number counts", match(1234, "needle"+a(490)), "1234:needle" + a(488) + "…", Changes{Shortened: true}},
		{"characters, not bytes", match(1, "needle"+e(492)), "1:needle" + e(492), Changes{}},
		{"characters, not bytes, cut", match(1, "needle"+e(493)), "1:needle" + e(491) + "…", Changes{Shortened: true}},
		{"a match in the first 100", match(1, a(100)+"needle"+a(900)), "1:" + a(100) + "needle" + a(391) + "…", Changes{Shortened: true}},
		{"a match that ends within", match(1, a(491)+"needle"+a(900)), "1:" + a(491) + "needle…", Changes{Shortened: true}},
		{"a window around a far match", match(1, a(700)+"needle"+a(700)), "1:…" + a(100) + "needle" + a(390) + "…", Changes{Shortened: true}},
		{"just far", match(1, a(492)+"needle"+a(900)), "1:…" + a(100) + "needle" + a(390) + "…", Changes{Shortened: true}},
		{"the tail", match(1, a(700)+"needle"), "1:…" + a(491) + "needle", Changes{Shortened: true}},
		{"the tail, just", match(1, a(700)+"needle"+a(391)), "1:…" + a(100) + "needle" + a(391), Changes{Shortened: true}},
		{"a window, just", match(1, a(700)+"needle"+a(392)), "1:…" + a(100) + "needle" + a(390) + "…", Changes{Shortened: true}},
		{"long context", Line{Number: 1, Text: []byte(a(700))}, "1-" + a(497) + "…", Changes{Shortened: true}},
		{"invalid UTF-8", match(1, "x\xffneedle\xe2\x82"), "1:x\ufffdneedle\ufffd", Changes{Replaced: true}},
		{"one character for each maximal subpart", match(1, strings.Repeat("\xe2\x82", 492)+"needle"), "1:" + strings.Repeat("\ufffd", 492) + "needle", Changes{Replaced: true}},
		{"invalid UTF-8 that is not shown", match(1, a(700)+"needle"+a(700)+"\xff"), "1:…" + a(100) + "needle" + a(390) + "…", Changes{Shortened: true}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			for _, clip := range []bool{false, true} {
				line := tt.line
				if clip {
					line.clip()
				}
				got, changes := AppendLine([]byte("> "), line)
				require.Equal(t, "> "+tt.want, string(got))
				require.Equal(t, tt.changes, changes)
			}
		})
	}
}

// naiveLine is the record of a line, with the rule written out.
func naiveLine(l Line) string {
	prefix := []rune(strings.TrimSuffix(string(mustRecord(Line{Number: l.Number, Match: l.Match})), "\n"))
	runes := func(b []byte) []rune {
		valid, _ := lineio.AppendValid(nil, b)
		return []rune(string(valid))
	}
	text := runes(l.Text)
	m := len(runes(l.Text[:l.Start]))
	end := m + len(runes(l.Text[l.Start:l.End]))
	room := 500 - len(prefix)
	switch {
	case len(text) <= room:
		return string(prefix) + string(text)
	case end <= room-1 || m <= 100:
		return string(prefix) + string(text[:room-1]) + "…"
	case len(text)-(m-100) <= room-1:
		return string(prefix) + "…" + string(text[len(text)-(room-1):])
	default:
		return string(prefix) + "…" + string(text[m-100:m-100+room-2]) + "…"
	}
}

func mustRecord(l Line) []byte {
	record, _ := AppendLine(nil, l)
	return record
}

func TestRecordsAreThoseOfTheRuleWrittenOut(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	pieces := [][]string{{"a"}, {"a", "é", "中", "\U0001f600"}, {"a", "\xff", "é"}, {"\xe2\x82", "\xf0\x9f\x98", "x"}, {"\x80"}}
	for range 1500 {
		set := pieces[r.IntN(len(pieces))]
		size := func() int { return r.IntN([]int{10, 120, 600, 600, 9000}[r.IntN(5)]) }
		l := match([]int{1, 99, 1234567, 12345678901}[r.IntN(4)], pick(r, set, size())+"needle"+pick(r, set, size()))
		want := naiveLine(l)
		got := string(mustRecord(l))
		require.Equal(t, want, got)
		require.True(t, utf8.ValidString(got))
		require.LessOrEqual(t, utf8.RuneCountInString(got), RecordChars)
		require.Contains(t, got, "needle")

		l.clip()
		require.LessOrEqual(t, len(l.Text), clipBytes)
		require.Equal(t, want, string(mustRecord(l)), "clipped")
	}
}

func TestAppendHeading(t *testing.T) {
	a := func(n int) string { return strings.Repeat("é", n) }
	for _, tt := range []struct {
		rule, display, want string
		shortened           bool
	}{
		{"as it is", "src/a.txt", "src/a.txt", false},
		{"like a match", "12:x", "./12:x", false},
		{"like context", "2026-11-30.md", "./2026-11-30.md", false},
		{"digits alone are not like a line", "7up.txt", "7up.txt", false},
		{"nor is a number", "12", "12", false},
		{"500 characters", a(500), a(500), false},
		{"501 characters", a(501), a(499) + "…", true},
		{"like a line and long", "1:" + a(497), "./1:" + a(495) + "…", true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, changes := AppendHeading(nil, tt.display)
			require.Equal(t, tt.want, string(got))
			require.Equal(t, Changes{Shortened: tt.shortened}, changes)
		})
	}
}

func FuzzAppendLine(f *testing.F) {
	f.Add("abc needle", 3, 7, 12, true)
	f.Add(strings.Repeat("é", 600)+"\xffneedle", 1201, 1207, 1, true)
	f.Fuzz(func(t *testing.T, text string, start, end, number int, isMatch bool) {
		if start < 0 || end < start || end > len(text) || number < 1 {
			return
		}
		l := Line{Number: number, Match: isMatch, Text: []byte(text), Start: start, End: end}
		record := mustRecord(l)
		require.True(t, utf8.Valid(record))
		require.LessOrEqual(t, utf8.RuneCount(record), RecordChars)
	})
}
