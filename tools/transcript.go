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
	settled bool // nothing but the last records is of interest any more
	cut     bool // a record was too long to be saved whole, and what follows it is not
	text    []byte
	marker  []byte
}

func newTranscript(spool *artifact.Spool, policy truncate.Policy) *transcript {
	t := &transcript{rendering: newRendering(spool, policy)}
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
	t.text, t.marker = r.AppendTo(t.text[:0]), r.AppendMarker(t.marker[:0])
	t.add(t.text, t.marker)
	if r.Omitted > 0 {
		t.cut = true
		t.stopSaving()
	}
	if cap(t.text) > saveBuffer { // one huge line must not cost its size for good
		t.text = nil
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
