package patch

// old reports whether the line must be in the file.
func (l Line) old() bool { return l.Kind != '+' }

// countOld returns how many lines must be in the file.
func countOld(lines []Line) int {
	n := 0
	for _, l := range lines {
		if l.old() {
			n++
		}
	}
	return n
}

// oldLines returns the lines that must be in the file.
func oldLines(lines []Line) []Line {
	var list []Line
	for _, l := range lines {
		if l.old() {
			list = append(list, l)
		}
	}
	return list
}

// newLines returns what lines leave in the file, as context.
func newLines(lines []Line) []Line {
	var list []Line
	for _, l := range lines {
		if l.Kind != '-' {
			list = append(list, Line{Kind: ' ', Text: l.Text})
		}
	}
	return list
}

// inserts reports whether the hunk names no line of the file. Blank lines at its
// end that were written without prefix then merely separate it from what
// follows.
func (h *Hunk) inserts() bool {
	return countOld(withoutSeparators(h.Lines)) == 0
}

// withoutSeparators returns lines without the blank lines at the end that were
// written without prefix.
func withoutSeparators(lines []Line) []Line {
	for len(lines) > 0 && lines[len(lines)-1].Bare {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// A reading is one way to understand a hunk.
type reading struct {
	lines []Line
	eof   bool // it must end at the end of the file
}

// readings returns the ways to understand a hunk with old lines, the best one
// first.
func (h *Hunk) readings() []reading {
	list := []reading{{h.Lines, h.EOF}}
	if rest := withoutSeparators(h.Lines); len(rest) < len(h.Lines) {
		list = append(list, reading{rest, h.EOF})
	}
	rest, last := h.Lines[:len(h.Lines)-1], h.Lines[len(h.Lines)-1]
	if last.Kind == ' ' && isBlank(last.Text) && countOld(rest) > 0 {
		list = append(list, reading{rest, true})
	}
	return list
}
