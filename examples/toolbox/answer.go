package main

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/diff"
)

// An answer is one line of standard output. Empty members are left out; the
// text is always there.
type answer struct {
	ID      jsontext.Value `json:"id,omitzero"`
	Text    string         `json:"text"`
	Error   *callError     `json:"error,omitzero"`
	Display display        `json:"display,omitzero"`
	Diffs   []fileDiff     `json:"diffs,omitempty"`
	Content []content      `json:"content,omitempty"`
}

type callError struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Details details `json:"details,omitempty"`
}

type display struct {
	Header string `json:"header,omitzero"`
	Status string `json:"status,omitzero"`
}

type fileDiff struct {
	Path    string      `json:"path"`
	Added   int         `json:"added"`
	Removed int         `json:"removed"`
	Hunks   []diff.Hunk `json:"hunks"`
}

type content struct {
	Type     string `json:"type"`
	MIMEType string `json:"mime_type"`
	Data     []byte `json:"data"`
}

// details are the output and the fields of an error, as one object. Of two with
// one name the first counts.
type details []framing.Header

// MarshalJSONTo writes the members in their order.
func (d details) MarshalJSONTo(e *jsontext.Encoder) error {
	tokens := []jsontext.Token{jsontext.BeginObject}
	for _, h := range d {
		tokens = append(tokens, jsontext.String(h.Key), jsontext.String(h.Value))
	}
	for _, t := range append(tokens, jsontext.EndObject) {
		if err := e.WriteToken(t); err != nil {
			return err
		}
	}
	return nil
}

func answerOf(id jsontext.Value, out tools.Outcome) answer {
	a := answer{
		ID:      id,
		Text:    out.Text,
		Display: display{out.Display.Header(), out.Display.Status},
		Diffs:   diffsOf(out.Display),
	}
	if out.Error != nil {
		a.Error = errorOf(out.Error)
	}
	for _, c := range out.Content {
		a.Content = append(a.Content, content{"image", c.MIMEType, c.Data})
	}
	return a
}

func errorOf(e *framing.Error) *callError {
	var list details
	if e.Output != "" {
		list = append(list, framing.Header{Key: "output", Value: framing.SafeBody(e.Output)})
	}
	for _, h := range e.Result().Headers[1:] { // behind the message
		if !slices.ContainsFunc(list, func(other framing.Header) bool { return other.Key == h.Key }) {
			list = append(list, h)
		}
	}
	return &callError{e.Code, e.Error(), list}
}

// diffsOf returns the structured diffs; a note is none.
func diffsOf(d tools.Display) []fileDiff {
	var list []fileDiff
	if s := d.Diffs.Diff; s != nil {
		path := d.Args
		if len(d.Changes) == 1 {
			path = d.Changes[0].Path
		}
		list = append(list, fileDiff{path, s.Added, s.Removed, s.Hunks})
	}
	for _, f := range d.Diffs.Files {
		list = append(list, fileDiff{f.Path, f.Summary.Added, f.Summary.Removed, f.Summary.Hunks})
	}
	return list
}
