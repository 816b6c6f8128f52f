package tools

import (
	"bufio"
	"strings"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/truncate"
)

// saveBuffer is how much of a rendering is handed to the spool at once.
const saveBuffer = 64 << 10

// recordsPerCheck is how many records a tool renders between two looks at its
// context.
const recordsPerCheck = 1024

// truncationWarning is the advice that comes with a cut output.
const truncationWarning = "output was cut to fit; prefer narrower commands or filters"

// A rendering collects the records of one call: what to show of them, and all
// of them in a saved artifact once they are more than the budget. Until then
// nothing is created on disk. Memory stays within a few times the budget.
type rendering struct {
	spool     *artifact.Spool
	collector *truncate.Collector
	records   int
	pending   []byte // all records, while they may still fit

	file    *artifact.Writer // all records, afterwards
	out     *bufio.Writer    // before file; nil if there is none
	stopped bool             // no more is written to it
	err     error            // why there is none
}

func newRendering(spool *artifact.Spool, policy truncate.Policy) *rendering {
	return &rendering{spool: spool, collector: truncate.NewCollector(policy)}
}

// add adds a record and the marker that stands for it when it is skipped. Both
// may be reused afterwards.
func (r *rendering) add(text, marker []byte) {
	over := r.collector.Over()
	r.collector.AddBytes(text, marker)
	switch {
	case !over:
		if r.records > 0 {
			r.pending = append(r.pending, '\n')
		}
		r.pending = append(r.pending, text...)
	case r.out != nil && !r.stopped: // an error of it sticks, and shows in finish
		_ = r.out.WriteByte('\n')
		_, _ = r.out.Write(text)
	}
	r.records++
	if !over && r.collector.Over() {
		r.spill()
	}
}

// addLong adds a record that alone is over the budget: its length, what it begins
// with and the text that follows, which is not copied, and its marker.
func (r *rendering) addLong(length int64, head []byte, text string, marker []byte) {
	over := r.collector.Over()
	r.collector.AddLong(length, marker)
	if !over {
		r.spill()
	}
	if r.out != nil && !r.stopped { // an error of it sticks, and shows in finish
		if r.records > 0 {
			_ = r.out.WriteByte('\n')
		}
		_, _ = r.out.Write(head)
		_, _ = r.out.WriteString(text)
	}
	r.records++
}

// spill moves the records to an artifact.
func (r *rendering) spill() {
	if r.file, r.err = r.spool.Create(); r.err == nil {
		r.out = bufio.NewWriterSize(r.file, saveBuffer)
		_, _ = r.out.Write(r.pending)
	}
	r.pending = nil
}

// stopSaving leaves what comes next out of the saved output.
func (r *rendering) stopSaving() { r.stopped = true }

// isSaved reports whether all is saved that will be.
func (r *rendering) isSaved() bool {
	return r.err != nil || r.stopped || r.file != nil && r.file.Full()
}

// finish returns what to show and what was saved. The error says why a
// truncated output was not saved; its reader is the log of the spool.
func (r *rendering) finish() (truncate.Result, artifact.Saved, error) {
	shown := r.collector.Result()
	if r.out == nil {
		return shown, artifact.Saved{}, r.err
	}
	if err := r.out.Flush(); err != nil {
		return shown, artifact.Saved{}, err
	}
	saved, err := r.file.Commit()
	return shown, saved, err
}

// discard removes what was saved, unless it is finished. It may be deferred.
func (r *rendering) discard() {
	if r.file != nil {
		_ = r.file.Abort()
	}
}

// addTruncation adds the headers of a truncated output: the totals, and where
// the whole is. Why it could not be saved is not the model's business.
func addTruncation(r *framing.Result, lines int, bytes int64, saved artifact.Saved, err error) {
	r.AddTrue("truncated", true)
	r.AddInt("total_lines", int64(lines))
	r.AddInt("total_bytes", bytes)
	r.Add("truncation_warning", truncationWarning)
	switch {
	case err != nil:
		r.AddTrue("saved_output_unavailable", true)
	case saved.Complete:
		r.Add("full_output_path", saved.Path)
	default:
		r.Add("saved_output_path", saved.Path)
		r.AddTrue("saved_output_truncated", true)
		r.AddInt("saved_output_bytes", saved.Bytes)
	}
}

// statsOf measures a visible body.
func statsOf(body string) *Stats {
	if body == "" {
		return &Stats{}
	}
	return &Stats{Lines: 1 + strings.Count(body, "\n"), Bytes: len(body)}
}
