package diff

import (
	"bytes"
	"encoding/json"
)

// IsZero reports whether there is nothing to show.
func (p Payload) IsZero() bool {
	return p.Diff == nil && len(p.Files) == 0 && p.Text == ""
}

// EncodedLen returns the size of p as JSON, in bytes.
func (p Payload) EncodedLen() int {
	text, _ := p.MarshalJSON() // these types cannot fail
	return len(text)
}

// MarshalJSON encodes the one field that is set. A diff whose hunks were left out
// is encoded as the note that stands for it.
func (p Payload) MarshalJSON() ([]byte, error) {
	if p.truncated() {
		p = Payload{Text: p.note(DefaultPayload)}
	}
	switch {
	case p.Diff != nil:
		return marshal(p.Diff)
	case len(p.Files) > 0:
		return marshal(struct {
			Files []File `json:"files"`
		}{p.Files})
	case p.Text != "":
		return marshal(struct {
			Text string `json:"text"`
		}{p.Text})
	default:
		return []byte("null"), nil
	}
}

// MarshalJSON encodes no hunks as an empty array.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary // without this method
	s.Hunks = append([]Hunk{}, s.Hunks...)
	return marshal(plain(s))
}

// MarshalJSON leaves out what a line of its kind does not have, and the ending
// LF.
func (l Line) MarshalJSON() ([]byte, error) {
	if l.Kind == Modify {
		return marshal(struct {
			Kind      Kind      `json:"kind"`
			Old       []Segment `json:"old"`
			New       []Segment `json:"new"`
			OldEnding Ending    `json:"old_ending,omitzero"`
			NewEnding Ending    `json:"new_ending,omitzero"`
		}{l.Kind, append([]Segment{}, l.Old...), append([]Segment{}, l.New...), l.OldEnding, l.NewEnding})
	}
	return marshal(struct {
		Kind   Kind   `json:"kind"`
		Text   string `json:"text"`
		Ending Ending `json:"ending,omitzero"`
	}{l.Kind, l.Text, l.Ending})
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
