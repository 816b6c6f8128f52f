package tools

import (
	"context"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/lineio"
	"github.com/taukit/taukit/truncate"
)

// addExcerpt adds the lines of src from first to last to an error, as read
// shows them and within its budget. Numbers outside the file do not matter.
func (e Env) addExcerpt(ctx context.Context, failure *framing.Error, src []byte, first, last int) error {
	total := lineio.Count(src)
	first, last = max(first, 1), min(last, total)
	if first > last {
		return failure
	}
	out := newRendering(e.Spool, truncate.Native)
	defer out.discard()
	var record, marker []byte
	for l := range lineio.Lines(src[lineio.Offset(src, first):lineio.Offset(src, last+1)]) {
		l.Number += first - 1
		record = lineio.AppendLine(record[:0], l)
		marker = lineio.AppendLineMarker(marker[:0], l)
		out.add(record, marker)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	shown, saved, err := out.finish()
	if shown.Truncated {
		var headers framing.Result
		addTruncation(&headers, total, int64(len(src)), saved, err)
		failure.Fields = append(failure.Fields, headers.Headers...)
	}
	failure.Output = shown.Body
	return failure
}
