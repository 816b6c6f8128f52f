package lineedit

import (
	"bytes"
	"strings"
)

// compose returns t with edits applied, which are valid and sorted, and the
// number of lines of the result.
func compose(t *text, edits []Edit) (content []byte, lines int) {
	c := composer{t: t, line: 1}
	for _, e := range edits {
		c.keep(int(e.Start))
		if e.NewText != "" {
			c.write(e)
		}
		c.line = int(e.EndExclusive)
	}
	c.keep(t.total + 1)
	if len(t.bom) > 0 {
		c.dropMark()
	}
	// Two pieces at least, or Join would give nil for a missing file.
	content = bytes.Join(append([][]byte{t.bom, nil}, c.pieces...), nil)
	return content, c.ends + unterminated(content)
}

// A composer collects what follows the byte order mark in the result. It counts
// lines as it goes, which is cheaper than to look for them in the result.
type composer struct {
	t      *text
	pieces [][]byte // none is empty
	ends   int      // number of endings in pieces
	line   int      // the first line of t that is neither kept nor replaced yet
	isNew  bool     // the first piece is the text of an edit
}

// keep adds the lines of t up to line n, exclusive.
func (c *composer) keep(n int) {
	c.add(c.t.body[c.t.start(c.line):c.t.start(n)])
	c.ends += c.t.endsBefore(n) - c.t.endsBefore(c.line)
}

// write adds the text of an edit, which is not empty, and the endings that it
// needs.
func (c *composer) write(e Edit) {
	text := []byte(e.NewText)
	last := completion(c.t, e)
	if e.Start > int64(c.t.total) && len(c.pieces) > 0 && !endsLine(c.pieces[len(c.pieces)-1]) {
		c.add([]byte(appendEnding(c.t, e.NewText, last)))
		c.ends++
	}
	c.isNew = c.isNew || len(c.pieces) == 0
	c.add(text)
	c.ends += countEnds(text, 0, len(text))
	if last != "" {
		c.add([]byte(last))
		c.ends++
	}
}

// add adds a piece as it is. An LF between a CR and an LF keeps them two
// endings; it makes no further one.
func (c *composer) add(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if n := len(c.pieces); n > 0 && piece[0] == '\n' && bytes.HasSuffix(c.pieces[n-1], []byte{'\r'}) {
		c.pieces = append(c.pieces, []byte{'\n'})
	}
	c.pieces = append(c.pieces, piece)
}

// dropMark removes the byte order mark from the text of an edit that has come
// to be first, so that it is not doubled. What was written behind that text was
// decided before: the text had a character.
func (c *composer) dropMark() {
	if c.isNew {
		c.pieces[0] = bytes.TrimPrefix(c.pieces[0], []byte(bom))
	}
}

// completion returns the ending to add to the text of an edit, "" if none.
func completion(t *text, e Edit) string {
	switch {
	case endsLine(e.NewText):
		return ""
	case e.Start < e.EndExclusive:
		return t.ending(int(e.EndExclusive) - 1)
	}
	if ending := t.nearestEnding(int(e.Start)); ending != "" {
		return ending
	}
	if ending := lastEnding(e.NewText); ending != "" {
		return ending
	}
	return "\n"
}

// appendEnding returns the ending for a last line that has none when newText,
// completed by last, is appended.
func appendEnding(t *text, newText, last string) string {
	if ending := t.nearestEnding(t.total); ending != "" {
		return ending
	}
	if ending := firstEnding(newText); ending != "" {
		return ending
	}
	return last
}

// firstEnding returns the first ending in s, "" if it has none.
func firstEnding(s string) string {
	i := strings.IndexAny(s, "\r\n")
	switch {
	case i < 0:
		return ""
	case strings.HasPrefix(s[i:], "\r\n"):
		return "\r\n"
	default:
		return s[i : i+1]
	}
}

// lastEnding returns the last ending in s, "" if it has none.
func lastEnding(s string) string {
	i := strings.LastIndexAny(s, "\r\n")
	switch {
	case i < 0:
		return ""
	case strings.HasSuffix(s[:i+1], "\r\n"):
		return "\r\n"
	default:
		return s[i : i+1]
	}
}
