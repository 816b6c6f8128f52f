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
	flood   *flood // see OnlyLast; or nil
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
	l.flood.release()
}

// OnlyLast says that from now on only the last n records of all are needed, n
// being more than 0. Of others, skipped may be told the number and the bytes as
// [Record.Len] has them, in their place in the order, and emit is not called. It
// makes a flood of short lines cheap. Lines, Bytes and Invalid count them all.
func (l *Log) OnlyLast(n int, skipped func(lines int, bytes int64)) {
	l.flood.release()
	l.flood = &flood{log: l, last: n, skipped: skipped}
	l.out.flood, l.err.flood = l.flood, l.flood
}

// Lines returns the number of records so far.
func (l *Log) Lines() int {
	held, _ := l.flood.size()
	return l.lines + held
}

// Bytes returns the length so far of the complete rendering: the records joined
// with one LF, text that was dropped included.
func (l *Log) Bytes() int64 {
	held, bytes := l.flood.size()
	return add(l.bytes, bytes+int64(held))
}

// Invalid reports whether a record so far has the flag InvalidUTF8.
func (l *Log) Invalid() bool { return l.invalid }

func (l *Log) decoder(s Stream) *Decoder {
	if s == Stdout {
		return &l.out
	}
	return &l.err
}

func (l *Log) add(r Record) {
	l.flood.release()
	l.put(r)
}

func (l *Log) put(r Record) {
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
