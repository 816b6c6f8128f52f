package search

import (
	"bytes"
	"context"
	"math"

	"github.com/taukit/taukit/search/internal/lines"
	"github.com/taukit/taukit/search/internal/rawfs"
)

// Sizes in bytes.
const (
	chunkBytes   = 256 << 10      // read and searched at once: little enough for the caches
	segmentBytes = 4 << 20        // of a segment of a large file
	bufferBytes  = 2 * chunkBytes // of the largest buffer that is kept for other files
)

// A reader reads a file from front to back into a buffer. It looks at the
// context for each chunk.
type reader struct {
	ctx    context.Context
	file   rawfs.File
	buf    []byte
	offset int64 // of the end of buf in the file
	eof    bool
}

// fill reads until buf has n bytes, or the file ends.
func (r *reader) fill(n int) error {
	for len(r.buf) < n && !r.eof {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if cap(r.buf) < n {
			r.buf = append(make([]byte, 0, max(n, min(2*cap(r.buf), bufferBytes))), r.buf...)
		}
		room := r.buf[len(r.buf):min(n, len(r.buf)+chunkBytes)]
		got, err := r.file.ReadAt(room, r.offset)
		if err != nil {
			return err
		}
		r.buf = r.buf[:len(r.buf)+got]
		r.offset += int64(got)
		// A read that ends where the file did when it was opened needs no other
		// one to tell that this is the end.
		r.eof = got == 0 || got < len(room) && r.offset == r.file.Size()
	}
	return nil
}

// drop drops the first n bytes of the buffer.
func (r *reader) drop(n int) {
	if n == 0 {
		return
	}
	r.buf = r.buf[:copy(r.buf, r.buf[n:])]
}

// searchFile searches an open file. With named, a binary file is searched too.
// It is the error of reading or of the context, ErrLineTooLong or ErrTooLarge;
// what was found before is in w.found.
func (w *worker) searchFile(f rawfs.File, named bool) error {
	r := &reader{ctx: w.s.work, file: f, buf: w.buf[:0]}
	defer func() { w.keep(r.buf) }()

	limits := w.s.o.sizes
	first := max(limits.head, int(min(f.Size()+1, int64(limits.chunk))))
	if err := r.fill(first); err != nil {
		return err
	}
	if order := utf16Order(r.buf); order != nil {
		return w.searchUTF16(r, named)
	}
	if !named && w.isBinary(r.buf) {
		return nil
	}
	mark := 0
	if bytes.HasPrefix(r.buf, []byte(byteOrderMark)) {
		mark = len(byteOrderMark)
	}
	if !r.eof && w.s.o.Context == 0 && f.Size() > int64(limits.segment) {
		w.searchSegments(f, mark)
		return nil
	}
	r.drop(mark)
	return w.searchChunks(r, toEnd)
}

// toEnd as the end of a segment means the whole file.
const toEnd = math.MaxInt64

// searchChunks searches the lines of a file that start before an offset. The
// buffer starts with the first of them.
func (w *worker) searchChunks(r *reader, until int64) error {
	limits, c := w.s.o.sizes, w.found
	for {
		if lines.End(r.buf, 0) > limits.line {
			return ErrLineTooLong
		}
		end, last := r.wholeLines(until)
		t := lines.New(r.buf[:end])
		if err := c.search(w.s.work, w.searcher, t); err != nil || c.full() {
			return err
		}
		if !last || until != toEnd {
			c.count(t, end)
		}
		if last {
			return nil
		}
		c.remember(t)
		r.drop(end)
		// Enough for the next chunk, and twice as much for a line that goes on,
		// but of that no more than a CR LF behind the longest.
		most := limits.line + len("\r\n")
		if err := r.fill(min(max(limits.chunk, 2*len(r.buf)), most)); err != nil {
			return err
		}
	}
}

// wholeLines returns the end of the lines in the buffer that are complete and
// start before an offset in the file, and whether there are no more of them in
// the file.
func (r *reader) wholeLines(until int64) (end int, last bool) {
	end = len(r.buf)
	if !r.eof {
		end = lines.Last(r.buf)
	}
	cut := until - (r.offset - int64(len(r.buf)))
	switch {
	case cut > int64(end):
		return end, r.eof
	case cut <= 0:
		return 0, true
	default:
		t := lines.Text{Data: r.buf[:end]}
		return t.After(lines.End(t.Data, int(cut)-1)), true
	}
}

// searchUTF16 searches a file that begins with a byte order mark of UTF-16.
func (w *worker) searchUTF16(r *reader, named bool) error {
	most := w.s.o.sizes.utf16
	if r.file.Size() > int64(most) {
		return ErrTooLarge
	}
	if err := r.fill(int(min(r.file.Size(), int64(most))) + 1); err != nil {
		return err
	}
	for !r.eof && len(r.buf) <= most { // it has grown
		if err := r.fill(2 * len(r.buf)); err != nil {
			return err
		}
	}
	if len(r.buf) > most {
		return ErrTooLarge
	}
	text := appendUTF16(make([]byte, 0, len(r.buf)), r.buf[2:], utf16Order(r.buf))
	if !named && w.isBinary(text) {
		return nil
	}
	return w.found.search(w.s.work, w.searcher, lines.New(text))
}

// isBinary reports whether text is not to be searched.
func (w *worker) isBinary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), w.s.o.sizes.head)], 0) >= 0
}
