package search

import (
	"bytes"
	"context"
	"slices"

	"github.com/taukit/taukit/search/internal/linematch"
	"github.com/taukit/taukit/search/internal/lines"
)

// A collector collects the selected lines of one file, which it gets in chunks
// of whole lines. It copies them, so that the chunks may be overwritten.
type collector struct {
	o       *GrepOptions
	lines   []Line
	matches int
	texts   arena
	before  []Line // the last lines before the chunk at hand that are not selected

	// The memory that lines and their texts take, in bytes.
	reserve func(bytes int) bool // waits for room, false if the search is over
	held    int                  // reserved
	more    int                  // not reserved yet

	// Where it is. Positions are in the chunk at hand.
	number   int // of the line at counted
	counted  int
	selected int // where the line behind the last selected one starts
	after    int // lines of context that are still to come
}

// keptLines is how many lines the largest list has that is used again.
const keptLines = 16 << 10

// begin prepares for another file.
func (c *collector) begin(reserve func(bytes int) bool) {
	if cap(c.lines) > keptLines {
		c.lines = nil
	}
	c.lines, c.before = c.lines[:0], c.before[:0]
	c.texts.reset()
	c.reserve, c.held, c.more = reserve, 0, 0
	c.matches, c.number, c.counted, c.selected, c.after = 0, 1, 0, 0, 0
}

// full reports whether more matches than the limit were found.
func (c *collector) full() bool { return c.o.Limit > 0 && c.matches > c.o.Limit }

// search searches a chunk, which is the first one or follows on the one before.
// The error is that of the context.
func (c *collector) search(ctx context.Context, s *linematch.Searcher, t lines.Text) error {
	s.Reset(t)
	c.counted, c.selected = 0, 0
	for from := 0; !c.full(); {
		start, end, ok := s.Next(from)
		if !ok {
			c.trailing(t, len(t.Data))
			break
		}
		c.trailing(t, start)
		c.count(t, start)
		c.leading(t, start)
		c.add(t.Data[start:end], c.number, true)
		c.selected = t.After(end)
		c.after = c.o.Context
		from = c.selected
		if c.matches++; c.matches%matchesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c.more >= reserveBytes && !c.settle() {
			return ctx.Err()
		}
	}
	if c.more > 0 && !c.settle() {
		return ctx.Err()
	}
	return nil
}

// settle reserves the memory that was taken since it did so last. It is false if
// the search is over.
func (c *collector) settle() bool {
	if !c.reserve(c.more) {
		return false
	}
	c.held += c.more
	c.more = 0
	return true
}

// count moves on to the line that starts at a position.
func (c *collector) count(t lines.Text, to int) {
	c.number += t.Count(c.counted, to)
	c.counted = to
}

// matchesPerCheck is how many matching lines are found between two looks at the
// context.
const matchesPerCheck = 1000

// trailing selects what is left of the context after the last match, up to the
// line at stop.
func (c *collector) trailing(t lines.Text, stop int) {
	for ; c.after > 0 && c.selected < stop; c.after-- {
		end := t.End(c.selected)
		c.count(t, c.selected)
		c.add(t.Data[c.selected:end], c.number, false)
		c.selected = t.After(end)
	}
}

// leading selects the context before the match at start, which is counted,
// without what is selected already.
func (c *collector) leading(t lines.Text, start int) {
	if c.o.Context == 0 {
		return
	}
	at := back(t, start, c.selected, c.o.Context)
	n := t.Count(at, start)
	if c.selected == 0 {
		for _, l := range c.before[max(0, len(c.before)-(c.o.Context-n)):] {
			c.keep(l)
		}
	}
	for number := c.number - n; at < start; number++ {
		end := t.End(at)
		c.add(t.Data[at:end], number, false)
		at = t.After(end)
	}
}

// remember copies the last lines of a chunk that is counted to its end. They may
// be context of a match in the next one.
func (c *collector) remember(t lines.Text) {
	most := c.o.Context
	if most == 0 {
		return
	}
	if c.selected > 0 {
		c.before = c.before[:0]
	}
	at := back(t, len(t.Data), c.selected, most)
	for number := c.number - t.Count(at, len(t.Data)); at < len(t.Data); number++ {
		end := t.End(at)
		l := c.line(t.Data[at:end], number, false)
		l.Text = bytes.Clone(l.Text)
		c.before = append(c.before, l)
		at = t.After(end)
	}
	c.before = slices.Delete(c.before, 0, max(0, len(c.before)-most))
}

// back returns where the n-th line before the one at start begins, but not less
// than low.
func back(t lines.Text, start, low, n int) int {
	for ; n > 0 && start > low; n-- {
		end := start - 1
		if t.Data[end] == '\n' && end > low && t.Data[end-1] == '\r' {
			end--
		}
		start = t.Start(end, low)
	}
	return start
}

// add adds a line.
func (c *collector) add(text []byte, number int, match bool) { c.keep(c.line(text, number, match)) }

// line returns a line, of which Text is not copied.
func (c *collector) line(text []byte, number int, match bool) Line {
	l := Line{Number: number, Match: match, Text: text}
	if match && (!c.o.ForRecords || len(text) > RecordChars/2) {
		l.Start, l.End = c.o.Pattern.Find(text)
	}
	if c.o.ForRecords {
		l.clip()
	}
	return l
}

// keep adds a line with a copy of its text.
func (c *collector) keep(l Line) {
	l.Text = c.texts.copy(l.Text)
	c.lines = append(c.lines, l)
	c.more += lineBytes + len(l.Text)
}

// An arena keeps copies of texts, many in one allocation.
type arena struct {
	block []byte
}

// The sizes of a block, unless a text needs more.
const (
	firstBlock = 4 << 10
	nextBlock  = 64 << 10
)

func (a *arena) copy(text []byte) []byte {
	if cap(a.block)-len(a.block) < len(text) {
		size := firstBlock
		if a.block != nil {
			size = nextBlock
		}
		a.block = make([]byte, 0, max(size, len(text)))
	}
	n := len(a.block)
	a.block = append(a.block, text...)
	return a.block[n:len(a.block):len(a.block)]
}

// reset gives the memory of all copies up, to be used again.
func (a *arena) reset() {
	if cap(a.block) > nextBlock {
		a.block = nil
	}
	a.block = a.block[:0]
}
