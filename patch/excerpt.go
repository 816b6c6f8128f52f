package patch

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// Limits of an excerpt.
const (
	maxExcerptLines = 20  // of each list
	maxExcerptBytes = 200 // of each line
)

// excerpts returns the lines that a hunk expected, and those of the file that
// resemble them most.
func (w wording) excerpts(path string, m *MatchError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "expected lines in %s (hunk %d):", w.escape(path), m.Hunk)
	if m.Anchor != "" {
		writeList(&b, []string{"@@ " + m.Anchor})
	} else {
		lines := make([]string, len(m.Expected))
		for i, l := range m.Expected {
			lines[i] = string(rune(l.Kind)) + l.Text
		}
		writeList(&b, lines)
	}
	if len(m.Closest) > 0 {
		fmt.Fprintf(&b, "\nclosest lines in %s:", w.escape(path))
		lines := make([]string, len(m.Closest))
		for i, text := range m.Closest {
			lines[i] = strconv.Itoa(m.ClosestLine+i) + " " + text
		}
		writeList(&b, lines)
	}
	return b.String()
}

// writeList writes a line break and a line for each of the first lines, and how
// many there are more.
func writeList(b *strings.Builder, lines []string) {
	for i, line := range lines {
		if i == maxExcerptLines {
			fmt.Fprintf(b, "\n... %d more lines", len(lines)-i)
			return
		}
		b.WriteByte('\n')
		b.WriteString(excerptLine(line))
	}
}

// excerptLine returns line as UTF-8 that is not too long.
func excerptLine(line string) string {
	var b strings.Builder
	for line != "" {
		r, n := utf8.DecodeRuneInString(line)
		if r == utf8.RuneError && n == 1 {
			n = illformed.Len(line)
		}
		if b.Len()+utf8.RuneLen(r) > maxExcerptBytes {
			return b.String() + "…"
		}
		b.WriteRune(r)
		line = line[n:]
	}
	return b.String()
}
