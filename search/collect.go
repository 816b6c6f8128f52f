package search

import (
	"context"

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

	// Where it is. Positions are in the chunk at hand.
	number   int // of the line at counted
	counted  int
	selected int // where the line behind the last selected one starts
	after    int // lines of context that are still to come
}

// begin prepares for another file.
func (c *collector) begin() {
	c.lines = c.lines[:0]
	c.texts.reset()
	c.matches, c.number, c.counted, c.selected, c.after = 0, 1, 0, 0, 0
}

// full reports whether more matches than the limit were found.
func (c *collector) full() bool { return c.o.Limit > 0 && c.matches > c.o.Limit }

// search searches a chunk of whole lines from the start of a line at from. What
// is before it was searched already and is there for context. The error is that
// of the context.
func (c *collector) search(ctx context.Context, s *linematch.Searcher, t lines.Text, from int) error {
	s.Reset(t)
	for !c.full() {
		start, end, ok := s.Next(from)
		if !ok {
			c.trailing(t, len(t.Data))
			break
		}
		c.trailing(t, start)
		c.count(t, start)
		if c.o.Context > 0 {
			c.leading(t, start)
		}
		c.add(t.Data[start:end], c.number, true)
		c.selected = t.After(end)
		c.after = c.o.Context
		from = c.selected
		if c.matches++; c.matches%matchesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
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
	at := back(t, start, c.selected, c.o.Context)
	for number := c.number - t.Count(at, start); at < start; number++ {
		end := t.End(at)
		c.add(t.Data[at:end], number, false)
		at = t.After(end)
	}
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
func (c *collector) add(text []byte, number int, match bool) {
	l := Line{Number: number, Match: match, Text: text}
	if match && len(text) > RecordChars/2 {
		l.Start, l.End = c.o.Pattern.Find(text)
	}
	if c.o.Clip {
		l.clip()
	}
	l.Text = c.texts.copy(l.Text)
	c.lines = append(c.lines, l)
}

// moved tells that the first n bytes of the chunk, which are counted, are gone.
func (c *collector) moved(n int) {
	c.counted -= n
	c.selected = max(c.selected-n, 0)
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
