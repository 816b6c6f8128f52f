package tools

import (
	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/truncate"
)

// A transcript is what one command writes, as records: the visible ones, the
// saved ones, and the totals of all.
type transcript struct {
	*rendering
	log     *shellrec.Log
	budget  int64 // bytes of what is shown
	settled bool  // nothing but the last records is of interest any more
	cut     bool  // a record was too long to be saved whole, and what follows it is not
	text    []byte
	marker  []byte
}

func newTranscript(spool *artifact.Spool, policy truncate.Policy) *transcript {
	t := &transcript{rendering: newRendering(spool, policy), budget: int64(policy.Bytes)}
	t.log = shellrec.NewLog(0, t.record)
	return t
}

// write takes what the command has written.
func (t *transcript) write(s shellrec.Stream, p []byte) {
	t.log.Write(s, p)
	if t.settled {
		return
	}
	if last, ok := t.collector.Settled(); ok && t.isSaved() {
		t.settled = true
		t.log.OnlyLast(last, t.collector.Skip)
	}
}

// record takes a record, which a saved output shows only if it is whole: it is
// an exact prefix of the complete rendering.
func (t *transcript) record(r shellrec.Record) {
	t.marker = r.AppendMarker(t.marker[:0])
	if length := r.Len(); length > t.budget {
		text := r.Text
		r.Text = ""
		t.text = r.AppendTo(t.text[:0])
		t.addLong(length, t.text, text, t.marker)
	} else {
		t.text = r.AppendTo(t.text[:0])
		t.add(t.text, t.marker)
	}
	if r.Omitted > 0 {
		t.cut = true
		t.stopSaving()
	}
}

// addTo ends the transcript and adds it to a result: the headers of a truncated
// output, and the body.
func (t *transcript) addTo(r *framing.Result) {
	t.log.Close()
	shown, saved, err := t.finish()
	if shown.Truncated {
		saved.Complete = saved.Complete && !t.cut
		addTruncation(r, t.log.Lines(), t.log.Bytes(), saved, err)
	}
	r.Body = shown.Body
}
