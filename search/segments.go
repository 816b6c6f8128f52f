package search

import (
	"sync"
	"sync/atomic"

	"github.com/taukit/taukit/search/internal/lines"
	"github.com/taukit/taukit/search/internal/rawfs"
)

// A bigFile is a large file that several workers search at once, in segments:
// each has the lines that start in it.
type bigFile struct {
	s        *search
	file     rawfs.File
	mark     int // the bytes of its byte order mark
	segments []segment
	next     atomic.Int64  // the first segment that nobody has taken
	window   chan struct{} // has an element for each segment taken and not consumed
	given    chan struct{} // closed when the consumer wants no more segments

	stopped sync.Once
	taken   int // segments, when no more are to be taken
}

// A segment is a part of a large file.
type segment struct {
	found   *collector
	matches int
	lines   int // that start in it
	err     error
	done    chan struct{} // closed when all of this is known
}

// searchSegments searches a large file together with the workers that are idle,
// and publishes it before that. It starts with a byte order mark of so many
// bytes.
func (w *worker) searchSegments(f rawfs.File, mark int) {
	size := int64(w.s.o.sizes.segment)
	b := &bigFile{
		s:        w.s,
		file:     f,
		mark:     mark,
		segments: make([]segment, (f.Size()+size-1)/size),
		window:   make(chan struct{}, 2*w.s.o.Workers),
		given:    make(chan struct{}),
	}
	for i := range b.segments {
		b.segments[i].done = make(chan struct{})
	}
	w.publish(result{big: b})
	for range w.s.o.Workers - 1 {
		select {
		case w.s.help <- b:
		default:
		}
	}
	b.search(w, true)
	// The file is closed next. Nobody takes another segment now.
	for i := range b.segments[:b.stop()] {
		<-b.segments[i].done
	}
	for i := range b.segments[:b.stop()] {
		w.matches += b.segments[i].matches
		if b.segments[i].err != nil {
			break // the consumer will stop there
		}
	}
}

// stop keeps segments from being taken and returns how many were.
func (b *bigFile) stop() int {
	b.stopped.Do(func() {
		b.taken = int(min(b.next.Swap(int64(len(b.segments))), int64(len(b.segments))))
	})
	return b.taken
}

// search searches segments while there are any to take. With wait it waits for
// the consumer when that is far behind; who only helps must not, because the
// consumer may be waiting for what others have to do first.
func (b *bigFile) search(w *worker, wait bool) {
	if !wait {
		w.searcher.Begin()
	}
	for b.enter(wait) {
		i := int(b.next.Add(1)) - 1
		if i >= len(b.segments) {
			<-b.window
			return
		}
		seg := &b.segments[i]
		w.of = seg
		w.collect()
		seg.lines, seg.err = b.searchSegment(w, i)
		seg.matches = w.found.matches
		if len(w.found.lines) > 0 {
			seg.found, w.found = w.found, nil
		}
		close(seg.done)
	}
}

// enter takes a place in the window. It is false if there is none, or with wait
// if no more segments are wanted.
func (b *bigFile) enter(wait bool) bool {
	select {
	case b.window <- struct{}{}:
		return true
	default:
	}
	if !wait {
		return false
	}
	select {
	case b.window <- struct{}{}:
		return true
	case <-b.given:
		return false
	case <-b.s.work.Done():
		return false
	}
}

// searchSegment searches the i-th segment and returns the number of lines that
// start in it.
func (b *bigFile) searchSegment(w *worker, i int) (int, error) {
	limits := b.s.o.sizes
	low := int64(i) * int64(limits.segment)
	high := low + int64(limits.segment)
	r := &reader{ctx: b.s.work, file: b.file, buf: w.buf[:0], offset: max(low-1, 0)}
	defer func() { w.keep(r.buf) }()

	if err := r.fill(limits.chunk); err != nil {
		return 0, err
	}
	start := min(b.mark, len(r.buf))
	if i > 0 {
		// The byte before the segment tells whether a line starts with it.
		var err error
		if start, err = r.lineStart(1, limits.segment); err != nil {
			return 0, err
		}
	}
	r.drop(start)
	if err := w.searchChunks(r, high); err != nil {
		return 0, err
	}
	return w.found.number - 1, nil
}

// moreBytes is what is read at first to find the end of a line, in bytes.
const moreBytes = 4 << 10

// lineStart returns where the first line starts that does so at or after at, in
// the buffer, which it fills on as needed. If that is behind most, it may be any
// position behind most.
func (r *reader) lineStart(at, most int) (int, error) {
	i := min(at-1, len(r.buf))
	for more := moreBytes; ; more *= 2 {
		i = lines.End(r.buf, i)
		known := i+1 < len(r.buf) || i < len(r.buf) && r.buf[i] == '\n'
		if known || r.eof {
			return lines.Text{Data: r.buf}.After(i), nil
		}
		if i > most {
			return i, nil
		}
		if err := r.fill(min(len(r.buf)+more, most+len("\r\n"))); err != nil {
			return 0, err
		}
	}
}
