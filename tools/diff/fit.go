package diff

import (
	"fmt"
	"slices"
	"strings"
)

// DefaultPayload is how large an encoded payload may be by default, in bytes.
const DefaultPayload = 1 << 20

// A Budget bounds what a payload may take.
type Budget struct {
	Payload int               // bytes of the encoded payload; 0 means DefaultPayload
	Frame   int               // bytes of the complete outgoing frame; 0 means no bound
	Size    func(Payload) int // the size of that frame with a payload in it; may be nil without Frame
}

// Fit returns p if it fits in the budget. Otherwise it returns a note in its
// place that says so, with the names of the files if there were several; then,
// if that is still too much, a shorter note; and in the end the zero Payload
// and false. A payload that is a note is kept if the frame has room for it.
// Hunks are never cut: it is the whole diff or an explicit marker.
func Fit(p Payload, b Budget) (Payload, bool) {
	if b.Payload == 0 {
		b.Payload = DefaultPayload
	}
	size := p.EncodedLen()
	isNote := p.Diff == nil && len(p.Files) == 0
	if !p.truncated() && (isNote || size <= b.Payload) && b.holds(p) {
		return p, true
	}
	if isNote {
		return Payload{}, false
	}
	bound := b.Frame
	if p.truncated() || size > b.Payload {
		bound = b.Payload
	}
	for _, note := range []string{p.note(bound), truncatedNote} {
		n := Payload{Text: note}
		if n.EncodedLen() <= b.Payload && b.holds(n) {
			return n, true
		}
	}
	return Payload{}, false
}

// truncatedNote is the last note that stands for diffs.
const truncatedNote = "[diff truncated]"

// holds reports whether the frame has room for p.
func (b Budget) holds(p Payload) bool { return b.Frame == 0 || b.Size(p) <= b.Frame }

// truncated reports whether hunks have been left out.
func (p Payload) truncated() bool {
	return p.Diff != nil && p.Diff.Truncated ||
		slices.ContainsFunc(p.Files, func(f File) bool { return f.Summary.Truncated })
}

// note returns the line that stands for diffs that exceed a bound, and the
// paths of several files under it.
func (p Payload) note(bound int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "[diff truncated: structured diff would exceed %d bytes]", bound)
	if len(p.Files) > 0 {
		out.WriteString("\nChanged files:")
		for _, f := range p.Files {
			out.WriteString("\n" + f.Path)
		}
	}
	return out.String()
}
