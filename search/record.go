package search

import (
	"strconv"
	"unicode/utf8"
)

// RecordChars is the length of the longest record in characters.
const RecordChars = 500

// The characters that a record shows before a match that is far from the start
// of its line.
const leadChars = 100

const ellipsis = "…"

// Changes is what a record shows other than it is.
type Changes struct {
	Shortened bool // only a part of the content is shown
	Replaced  bool // invalid UTF-8 is shown as U+FFFD
}

// AppendHeading appends the record that names a file: its path as it is to be
// displayed, already escaped. One that could be taken for a line of a file gets
// "./" in front, and one of more than RecordChars characters is cut.
func AppendHeading(dst []byte, display string) ([]byte, Changes) {
	if looksLikeLine(display) {
		display = "./" + display
	}
	text := []byte(display)
	if n, _ := chars(text, RecordChars+1); n <= RecordChars {
		return append(dst, text...), Changes{}
	}
	_, size := chars(text, RecordChars-1)
	return append(append(dst, text[:size]...), ellipsis...), Changes{Shortened: true}
}

// looksLikeLine reports whether s begins with digits and then ":" or "-".
func looksLikeLine(s string) bool {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i > 0 && i < len(s) && (s[i] == ':' || s[i] == '-')
}

// AppendLine appends the record of a line: its number, ":" for a match or "-"
// for context, and its content with invalid UTF-8 replaced. A record has at most
// RecordChars characters: of a longer one it shows the start if the match is
// there, otherwise what is around the match, with an ellipsis for what is left
// out at either end.
func AppendLine(dst []byte, l Line) ([]byte, Changes) {
	start := len(dst)
	dst = strconv.AppendInt(dst, int64(l.Number), 10)
	if l.Match {
		dst = append(dst, ':')
	} else {
		dst = append(dst, '-')
	}
	room := RecordChars - (len(dst) - start)
	text, before, after := l.visible(room)
	if before {
		dst = append(dst, ellipsis...)
	}
	dst, valid := appendValid(dst, text)
	if after {
		dst = append(dst, ellipsis...)
	}
	return dst, Changes{Shortened: before || after, Replaced: !valid}
}

// visible returns the part of the content that is shown in so many characters,
// and whether an ellipsis goes before or after it.
func (l *Line) visible(room int) (text []byte, before, after bool) {
	if !l.CutBefore && !l.CutAfter {
		if len(l.Text) <= room {
			return l.Text, false, false
		}
		if n, _ := chars(l.Text, room+1); n <= room {
			return l.Text, false, false
		}
	}
	m, _ := chars(l.Text[:l.Start], len(l.Text))
	matched, _ := chars(l.Text[l.Start:l.End], len(l.Text))
	if !l.CutBefore && (m+matched <= room-1 || m <= leadChars) {
		_, size := chars(l.Text, room-1)
		return l.Text[:size], false, true
	}
	_, skip := chars(l.Text, m-leadChars)
	rest := l.Text[skip:]
	n, _ := chars(rest, room)
	if n <= room-1 && !l.CutAfter {
		total, _ := chars(l.Text, len(l.Text))
		_, skip = chars(l.Text, total-(room-1))
		return l.Text[skip:], true, false
	}
	_, size := chars(rest, room-2)
	return rest[:size], true, true
}

// The bytes that the longest character and the longest record take, and more
// than all a record can show of a line.
const (
	maxRecordBytes = utf8.UTFMax * RecordChars
	clipBytes      = 3 * maxRecordBytes
)

// clip cuts Text to what AppendLine can show of it, whatever its number.
func (l *Line) clip() {
	if len(l.Text) <= clipBytes {
		return
	}
	m, _ := chars(l.Text[:l.Start], leadChars+1)
	end, _ := chars(l.Text[:l.End], RecordChars)
	from := 0
	if m > leadChars && end >= RecordChars-2 {
		from = max(l.Start-utf8.UTFMax*(leadChars+1), 0)
		from = charStart(l.Text, min(from, len(l.Text)-maxRecordBytes))
	}
	to := len(l.Text)
	if from+clipBytes < to {
		to = charStart(l.Text, from+clipBytes)
	}
	l.CutBefore, l.CutAfter = from > 0, to < len(l.Text)
	l.Text = l.Text[from:to:to]
	l.Start, l.End = l.Start-from, min(l.End, to)-from
}

// charStart returns the position at or little before i where a character
// starts.
func charStart(text []byte, i int) int {
	for back := 0; back < utf8.UTFMax && i-back > 0; back++ {
		if utf8.RuneStart(text[i-back]) {
			return i - back
		}
	}
	return i
}
