package diff

import (
	"fmt"
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
	candidates := []Payload{p}
	if p.Diff != nil || len(p.Files) > 0 {
		candidates = append(candidates, Payload{Text: b.note(p)}, Payload{Text: "[diff truncated]"})
	} else {
		b.Payload = max(b.Payload, p.EncodedLen())
	}
	for _, c := range candidates {
		if c.EncodedLen() <= b.Payload && (b.Frame == 0 || b.Size(c) <= b.Frame) {
			return c, true
		}
	}
	return Payload{}, false
}

// note returns the line that stands for the diffs of p, and the paths of
// several files under it.
func (b Budget) note(p Payload) string {
	bound := b.Frame
	if p.EncodedLen() > b.Payload {
		bound = b.Payload
	}
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
