package tools

import (
	"context"
	"encoding/base64"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/diff"
)

// DefaultFrameLimit is the frame limit of a session that sets none, in bytes.
const DefaultFrameLimit = 16 << 20

// frameOverhead stands for what a frame holds beside the parts of an outcome,
// in bytes.
const frameOverhead = 256

// fitFrame returns the outcome in a form that fits in a frame of limit bytes,
// as far as that can be done without touching what the model reads.
func fitFrame(out Outcome, limit int) Outcome {
	if len(out.Content) > 0 && frameSize(out) > limit {
		d := out.Display
		d.Diffs, d.Stats = diff.Payload{}, nil
		return Fail(context.Background(), &framing.Error{
			Code:    framing.CodeFrameTooLarge,
			Message: "typed image result exceeds the complete terminal frame byte limit",
		}, d)
	}
	if out.Display.Diffs.IsZero() {
		return out
	}
	out.Display.Diffs, _ = diff.Fit(out.Display.Diffs, diff.Budget{
		Frame: limit,
		Size: func(p diff.Payload) int {
			out := out
			out.Display.Diffs = p
			return frameSize(out)
		},
	})
	return out
}

// frameSize returns what the outcome takes of a display, in bytes.
func frameSize(out Outcome) int {
	size := len(out.Text) + len(out.Display.Header()) + frameOverhead
	for _, c := range out.Content {
		size += base64.StdEncoding.EncodedLen(len(c.Data))
	}
	if !out.Display.Diffs.IsZero() {
		size += out.Display.Diffs.EncodedLen()
	}
	return size
}
