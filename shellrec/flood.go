package shellrec

import "bytes"

// A flood is the lines of a Log that come faster than anybody reads: of each chunk
// that has many, the last ones are held back, and are not even made records if a
// chunk follows that has as many. A nil flood holds nothing.
type flood struct {
	log     *Log
	last    int // records that are needed
	skipped func(lines int, bytes int64)

	stream Stream
	held   []byte // the last lines, each with its LF
}

// drop counts the record that begins a chunk, and what is held back before it.
func (f *flood) drop(r Record) {
	f.skip(f.held)
	f.held = f.held[:0]
	f.log.invalid = f.log.invalid || r.Flags&InvalidUTF8 != 0
	f.count(1, r.Len())
}

// skip counts lines, each with its LF, that are UTF-8.
func (f *flood) skip(lines []byte) {
	if n, size := sizeOf(lines); n > 0 {
		f.count(n, size)
	}
}

// size returns what is held back.
func (f *flood) size() (lines int, size int64) {
	if f == nil {
		return 0, 0
	}
	return sizeOf(f.held)
}

// sizeOf returns the number of the lines and the sum of [Record.Len] of each.
func sizeOf(lines []byte) (n int, size int64) {
	n = bytes.Count(lines, []byte{'\n'})
	return n, int64(n*len("out ")) + int64(len(lines)-n)
}

func (f *flood) count(lines int, size int64) {
	separators := int64(lines) // an LF before each but the very first
	if f.log.lines == 0 {
		separators--
	}
	f.log.bytes = add(f.log.bytes, add(size, separators))
	f.log.lines += lines
	f.skipped(lines, size)
}

func (f *flood) hold(s Stream, lines []byte) {
	f.stream, f.held = s, append(f.held[:0], lines...)
}

// release makes records of what is held back.
func (f *flood) release() {
	if f == nil || len(f.held) == 0 {
		return
	}
	lines := f.held
	f.held = nil
	for line := range bytes.Lines(lines) {
		f.log.put(Record{Stream: f.stream, Text: string(line[:len(line)-1])})
	}
}
