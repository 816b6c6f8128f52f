package truncate

import "math"

// Separator is the line between the head and the tail of a cut list.
const Separator = "..."

// defaultMarker stands for a record that has no marker of its own.
const defaultMarker = "(truncated)"

// A Record is one line of output.
type Record struct {
	Text   string // the whole record, without a line end
	Marker string // what stands for it when its content is skipped; empty means "(truncated)"
}

// A Policy is a budget and a way to keep to it.
//
// A list of at most Lines records that fit in Bytes is shown whole. Otherwise:
//
//   - With at most Lines records, they are shown in order while they fit; a
//     record that does not fit is shown as its marker, and the first one whose
//     marker does not fit either ends the list. With KeepTail, records longer
//     than Bytes are shown as markers, and if that is not enough, the list is
//     cut to head and tail.
//   - With more records, the first ones are shown, up to Head of them and half
//     of Bytes, then [Separator], then the last ones, up to Tail of them in
//     the rest of Bytes. A record longer than Bytes is shown as its marker,
//     and so are the first and the last record if they alone do not fit.
//
// Bytes counts UTF-8 bytes of all lines shown, the separator and the LF between
// them; Lines does not count the separator. A Lines or Bytes of 0 or less means
// no limit. If neither Head nor Tail is more than 0, they share Lines evenly. A
// Head over Lines is cut to it, and a Tail to what the Head leaves. A separator
// that would not fit in Bytes is left out.
type Policy struct {
	Lines, Head, Tail int // records
	Bytes             int
	KeepTail          bool
}

// The budgets of the tool set. They are not to be changed.
var (
	// Native is for read, ls, find, grep and the excerpts of editors.
	Native = Policy{Lines: 2000, Head: 1000, Tail: 1000, Bytes: 10 << 10}
	// Shell is for the output of commands that a model runs.
	Shell = Policy{Lines: 2000, Head: 1000, Tail: 1000, Bytes: 15 << 10, KeepTail: true}
	// UserShell is for the output of commands that a person runs.
	UserShell = Policy{Lines: 2000, Head: 1000, Tail: 1000, Bytes: 10 << 10, KeepTail: true}
)

// A Result is what to show of a list of records.
type Result struct {
	Body      string // the lines to show, joined by LF, without a final one
	Truncated bool   // Body is not the whole list
	Lines     int    // number of records of the whole list
	Bytes     int64  // bytes of the whole list: all records and the LF between them
}

// Apply cuts the records to the budget.
func (p Policy) Apply(records []Record) Result {
	c := NewCollector(p)
	for _, r := range records {
		c.Add(r)
	}
	return c.Result()
}

// limits returns p with every limit in force as a number.
func (p Policy) limits() Policy {
	if p.Lines <= 0 {
		p.Lines = math.MaxInt
	}
	if p.Bytes <= 0 {
		p.Bytes = math.MaxInt
	}
	if p.Head <= 0 && p.Tail <= 0 {
		p.Head, p.Tail = p.Lines-p.Lines/2, p.Lines/2
	}
	p.Head = min(max(p.Head, 0), p.Lines)
	p.Tail = min(max(p.Tail, 0), p.Lines-p.Head)
	return p
}
