package shellrec

import "math"

// A Log puts the records of both streams in order and counts them. Make one with
// [NewLog]. It is not safe for concurrent use.
//
// A record takes its place when it is complete, so a line that has not ended
// yet is overtaken by lines of the other stream. The order of what one stream
// wrote is always exact; two pipes have no common clock.
type Log struct {
	emit    func(Record)
	out     Decoder
	err     Decoder
	closed  bool
	lines   int
	bytes   int64
	invalid bool
}

// NewLog returns a Log that calls emit for each record, in order. Of a line at
// most limit bytes of text are kept, see [Decoder]; 0 means DefaultLineLimit.
func NewLog(limit int, emit func(Record)) *Log {
	return &Log{
		emit: emit,
		out:  Decoder{Stream: Stdout, Limit: limit},
		err:  Decoder{Stream: Stderr, Limit: limit},
	}
}

// Write decodes p, which s gave, and does not keep it. After Close it does
// nothing.
func (l *Log) Write(s Stream, p []byte) {
	if !l.closed {
		l.decoder(s).Write(p, l.add)
	}
}

// Close ends both streams: what is left of stdout comes before what is left of
// stderr. It is idempotent.
func (l *Log) Close() {
	if l.closed {
		return
	}
	l.closed = true
	l.out.Close(l.add)
	l.err.Close(l.add)
}

// OnlyLast says that from now on, of the lines that one Write completes, only the
// last n are needed as records, n being more than 0: enough to know the last n of
// all. Of others, skipped may be told the number and the bytes as [Record.Len]
// has them, in their place in the order, and emit is not called. It makes a flood
// of short lines cheap. Lines, Bytes and Invalid count them all.
func (l *Log) OnlyLast(n int, skipped func(lines int, bytes int64)) {
	count := func(lines int, bytes int64) {
		l.bytes = add(l.bytes, add(bytes, int64(lines))) // each has an LF before it
		l.lines += lines
		skipped(lines, bytes)
	}
	for _, d := range []*Decoder{&l.out, &l.err} {
		d.last, d.skipped = n, count
	}
}

// Lines returns the number of records so far.
func (l *Log) Lines() int { return l.lines }

// Bytes returns the length so far of the complete rendering: the records joined
// with one LF, text that was dropped included.
func (l *Log) Bytes() int64 { return l.bytes }

// Invalid reports whether a record so far has the flag InvalidUTF8.
func (l *Log) Invalid() bool { return l.invalid }

func (l *Log) decoder(s Stream) *Decoder {
	if s == Stdout {
		return &l.out
	}
	return &l.err
}

func (l *Log) add(r Record) {
	if l.lines > 0 {
		l.bytes = add(l.bytes, 1)
	}
	l.bytes = add(l.bytes, r.Len())
	l.lines++
	l.invalid = l.invalid || r.Flags&InvalidUTF8 != 0
	l.emit(r)
}

// add adds two counts and stays at the largest there is.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
