package lineio

import (
	"bytes"
	"io"
	"iter"
)

// Sizes of the buffer in bytes: at first, and once a stream turns out to be
// long. A block is larger only if a line is.
const (
	firstBytes = 4 << 10
	blockBytes = 64 << 10
)

// maxEmptyReads is how many reads in a row may give nothing before a reader
// counts as broken.
const maxEmptyReads = 100

// Blocks reads r to its end in blocks of whole lines, for callers that count,
// check or skip many lines at once: each block ends where a line ends, so it
// holds no part of a character, a CR LF or a line that goes on in the next
// one. Blocks have about 64 KiB, more only when a single line is longer.
//
// A block is valid until the next one is asked for. An error of r other than
// io.EOF is given last, with a nil block, after the block of all that was read
// before it. The bytes of the blocks together are those of r.
func Blocks(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		b := blocks{r: r}
		for {
			block, err := b.next()
			if err == io.EOF { //nolint:errorlint // only EOF itself is the end; a wrapped one is a failure
				return
			}
			if !yield(block, err) || err != nil {
				return
			}
		}
	}
}

// A Scanner gives the lines of a stream one by one, as [Lines] gives those of
// a text in memory. A line may have any length: the buffer grows as needed, so
// limit the reader if its content is not to be trusted.
//
// A Scanner is for one goroutine.
type Scanner struct {
	blocks blocks
	cutter cutter
	line   Line
	err    error
}

// NewScanner returns a Scanner that reads from r.
func NewScanner(r io.Reader) *Scanner {
	return &Scanner{blocks: blocks{r: r}}
}

// Scan advances to the next line. It is false at the end of the stream and
// after an error. All that was read before an error is given first: a line that
// the error broke off has the ending [None], and a CR as the last byte is [CR].
func (s *Scanner) Scan() bool {
	for {
		l, ok := s.cutter.next()
		if ok {
			s.line = l
			return true
		}
		if s.err != nil {
			return false
		}
		var block []byte
		block, s.err = s.blocks.next()
		s.cutter = newCutter(block)
		s.cutter.number = s.line.Number
	}
}

// Line returns the line that Scan advanced to. Its text is valid until the
// next Scan.
func (s *Scanner) Line() Line { return s.line }

// Err returns the error that ended the stream, nil if that was its end.
func (s *Scanner) Err() error {
	if s.err == io.EOF { //nolint:errorlint // as in Blocks
		return nil
	}
	return s.err
}

// blocks cuts a stream into blocks of whole lines.
type blocks struct {
	r     io.Reader
	buf   []byte
	given int   // buf[:given] is the block given last
	more  bool  // the last read filled all the room it had
	err   error // what ended the reading
}

// next returns the next block, or the error that ended the stream.
func (b *blocks) next() ([]byte, error) {
	b.buf = append(b.buf[:0], b.buf[b.given:]...)
	b.given = 0
	searched := 0 // buf[:searched] holds no end of a line
	for b.err == nil {
		b.fill()
		if end := lastEnd(b.buf, searched); end > 0 {
			b.given = end
			return b.buf[:end:end], nil
		}
		// A CR at the very end may become a CR LF: it is looked at again.
		searched = max(len(b.buf)-1, 0)
	}
	b.given = len(b.buf)
	if b.given == 0 {
		return nil, b.err
	}
	return b.buf, nil
}

// fill reads once, or notes why nothing more can be read.
func (b *blocks) fill() {
	switch {
	case b.buf == nil:
		b.buf = make([]byte, 0, firstBytes)
	case len(b.buf) == cap(b.buf):
		b.buf = append(make([]byte, 0, 2*cap(b.buf)), b.buf...)
	case b.more && cap(b.buf) < blockBytes:
		b.buf = append(make([]byte, 0, blockBytes), b.buf...)
	}
	for range maxEmptyReads {
		room := b.buf[len(b.buf):min(cap(b.buf), len(b.buf)+blockBytes)]
		n, err := b.r.Read(room)
		b.buf = b.buf[:len(b.buf)+n]
		b.err = err
		if n > 0 || err != nil {
			b.more = n == len(room)
			return
		}
	}
	b.err = io.ErrNoProgress
}

// lastEnd returns the position behind the last line in data that is complete
// whatever follows, 0 if there is none; data[:from] is known to hold no end of
// a line.
func lastEnd(data []byte, from int) int {
	tail := data[from:]
	end := 0
	if bytes.IndexByte(tail, '\n') >= 0 { // forward search is much the faster one
		end = from + bytes.LastIndexByte(tail, '\n') + 1
	}
	rest := data[max(end, from):]
	if len(rest) > 1 && bytes.IndexByte(rest[:len(rest)-1], '\r') >= 0 {
		end = len(data) - len(rest) + bytes.LastIndexByte(rest[:len(rest)-1], '\r') + 1
	}
	return end
}
