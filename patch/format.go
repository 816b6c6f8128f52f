package patch

import "strings"

// String returns the text of the patch: one that [Parse] understands as the
// same patch, if the patch is one that Parse can return.
func (p *Patch) String() string {
	var b printer
	b.line(beginMarker)
	for i := range p.Sections {
		b.section(&p.Sections[i])
	}
	b.line(endMarker)
	return b.String()
}

// A printer collects the lines of a patch.
type printer struct {
	strings.Builder
}

func (b *printer) section(s *Section) {
	switch s.Op {
	case Add:
		b.line(addMarker, " ", s.Path)
	case Delete:
		b.line(deleteMarker, " ", s.Path)
	case Update:
		b.line(updateMarker, " ", s.Path)
	}
	if s.MoveTo != "" {
		b.line(moveMarker, " ", s.MoveTo)
	}
	for _, text := range s.Lines {
		b.line("+", text)
	}
	for i := range s.Hunks {
		b.hunk(&s.Hunks[i])
	}
}

func (b *printer) hunk(h *Hunk) {
	if len(h.Anchors) == 0 {
		b.line("@@")
	}
	for _, anchor := range h.Anchors {
		b.line("@@ ", anchor)
	}
	for _, l := range h.Lines {
		if l.Bare {
			b.line()
		} else {
			b.line(string(rune(l.Kind)), l.Text)
		}
	}
	if h.EOF {
		b.line(eofMarker)
	}
}

// line writes a line in pieces. A CR at its end needs another one, because one
// CR in front of an LF is not part of the line.
func (b *printer) line(pieces ...string) {
	for _, piece := range pieces {
		b.WriteString(piece)
	}
	if n := len(pieces); n > 0 && strings.HasSuffix(pieces[n-1], "\r") {
		b.WriteByte('\r')
	}
	b.WriteByte('\n')
}
