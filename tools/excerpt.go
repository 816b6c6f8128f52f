package tools

import (
	"errors"
	"io"
	"iter"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/taukit/taukit/lineio"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/workspace"
)

// errTooLarge says that a file has more bytes than its reader takes.
var errTooLarge = errors.New("file too large")

// An excerpt is what a call needs of a file: facts about all of it, and the
// text from the first wanted line to the last.
type excerpt struct {
	lines int   // of the file
	bytes int64 // of the file, as they were read
	valid bool  // the file is well-formed UTF-8
	first int   // number of the first line of text
	text  []byte
}

// scanExcerpt reads all of f, at most limit bytes, and keeps the lines from
// the first to the last that the ranges name. Sum, unless it is nil, is given
// all of it.
func scanExcerpt(f workspace.File, ranges []args.LineRange, limit int64, sum *workspace.Digest) (*excerpt, error) {
	if f.Size() > limit {
		return nil, errTooLarge
	}
	first, last := math.MaxInt, 0
	for _, r := range ranges {
		first = min(first, clampInt(r.StartLine))
		last = max(last, clampInt(r.EndLine))
	}
	x := &excerpt{valid: true, first: first}
	for block, err := range lineio.Blocks(io.LimitReader(f, limit+1)) {
		if err != nil {
			return nil, err
		}
		if sum != nil {
			_, _ = sum.Write(block)
		}
		n := lineio.Count(block)
		x.valid = x.valid && utf8.Valid(block)
		if first <= x.lines+n && x.lines < last {
			x.keep(block, first-x.lines, min(last-x.lines, n), n, f.Size())
		}
		x.lines += n
		x.bytes += int64(len(block))
	}
	if x.bytes > limit {
		return nil, errTooLarge
	}
	return x, nil
}

// keep adds the lines from first to last, counted from 1, of a block of n lines
// in a file of about the given size.
func (x *excerpt) keep(block []byte, first, last, n int, size int64) {
	end := len(block)
	if last < n {
		end = lineio.Offset(block, last+1)
	} else if x.text == nil { // much more may follow
		x.text = make([]byte, 0, max(int(size-x.bytes), len(block)))
	}
	x.text = append(x.text, block[lineio.Offset(block, first):end]...)
}

// chunks returns the lines of the ranges in order, with a line of number 0
// between two ranges.
func (x *excerpt) chunks(ranges []args.LineRange) iter.Seq[lineio.Line] {
	offset := x.offsets(ranges)
	return func(yield func(lineio.Line) bool) {
		for i, r := range ranges {
			if i > 0 && !yield(lineio.Line{}) {
				return
			}
			start := clampInt(r.StartLine)
			for l := range lineio.Lines(x.text[offset[start]:offset[after(r)]]) {
				l.Number += start - 1
				if !yield(l) {
					return
				}
			}
		}
	}
}

// offsets returns where in the text the first line of each range starts, and
// the line after its last. The text is walked once, however many ranges there
// are.
func (x *excerpt) offsets(ranges []args.LineRange) map[int]int {
	var numbers []int
	for _, r := range ranges {
		numbers = append(numbers, clampInt(r.StartLine), after(r))
	}
	slices.Sort(numbers)
	offsets := make(map[int]int, len(numbers))
	line, at := x.first, 0
	for _, n := range numbers {
		at += lineio.Offset(x.text[at:], n-line+1)
		line = n
		offsets[n] = at
	}
	return offsets
}

// renderedSize returns the size of the rendering of several ranges in bytes,
// or any size over the limit if it is over.
func (x *excerpt) renderedSize(ranges []args.LineRange) int {
	size := -1 // the first record has no LF before it
	var record []byte
	for l := range x.chunks(ranges) {
		size++
		if l.Number > 0 {
			record = lineio.AppendLine(record[:0], l)
			size += len(record)
		}
		if size > maxRangesRendered {
			break
		}
	}
	return size
}

// after returns the number of the line after the range.
func after(r args.LineRange) int {
	return clampInt(min(r.EndLine, math.MaxInt64-1) + 1)
}

// clampInt returns n as an int, the largest one if n is larger.
func clampInt(n int64) int { return int(min(n, math.MaxInt)) }
