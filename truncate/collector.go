package truncate

// A Collector cuts a stream of records to a budget. Its result is that of
// [Policy.Apply] on the same records, but it holds only what may be shown: a
// few times the byte budget, however many records there are and however long
// they are. Without a byte budget it holds the records that the line budget
// allows, and without any budget all of them.
//
// A Collector is made by [NewCollector] and is for one goroutine.
type Collector struct {
	policy  Policy
	lines   int
	bytes   int64
	scratch []byte

	// Which of these is shown is known only at the end.
	list list // for at most policy.Lines records
	head head // with tail, for a list that is cut in the middle
	tail tail
}

// NewCollector returns a Collector for the budget p.
func NewCollector(p Policy) *Collector {
	p = p.limits()
	return &Collector{
		policy: p,
		list:   list{bytes: p.Bytes, skips: !p.KeepTail},
		head:   head{records: p.Head, bytes: p.Bytes / 2},
	}
}

// Add adds the next record.
func (c *Collector) Add(r Record) {
	c.scratch = append(append(c.scratch[:0], r.Text...), r.Marker...)
	c.AddBytes(c.scratch[:len(r.Text)], c.scratch[len(r.Text):])
}

// AddBytes adds the next record from bytes, which may be reused afterwards. An
// empty marker means "(truncated)".
func (c *Collector) AddBytes(text, marker []byte) {
	c.count(int64(len(text)))
	marker = orDefault(marker)
	if len(text) > c.policy.Bytes {
		text = marker
	}
	c.place(text, marker)
}

// AddLong adds the next record by its length, which is over the budget of bytes:
// only its marker can be shown.
func (c *Collector) AddLong(length int64, marker []byte) {
	c.count(length)
	marker = orDefault(marker)
	c.place(marker, marker)
}

func orDefault(marker []byte) []byte {
	if len(marker) == 0 {
		return []byte(defaultMarker)
	}
	return marker
}

func (c *Collector) count(length int64) {
	if c.lines > 0 {
		c.bytes++ // the LF before it
	}
	c.bytes += length
	c.lines++
}

func (c *Collector) place(text, marker []byte) {
	if c.lines <= c.policy.Lines {
		c.list.add(text, marker)
	} else {
		c.list = list{full: true}
	}
	if !c.head.add(text, marker) && c.policy.Tail > 0 {
		c.tail.add(text, marker, c.policy.Tail, c.tailBytes())
	}
}

// Settled reports whether it is settled which first records are shown, and that
// of those still to come only the last ones can be, at most the last n. Then
// others need not be added: Skip counts them.
func (c *Collector) Settled() (n int, ok bool) {
	return c.policy.Tail, c.head.full && c.lines > c.policy.Lines
}

// Skip counts records that come next, with the sum of their lengths in bytes. It
// is for a Collector that is settled, and for records behind which n others will
// be added.
func (c *Collector) Skip(records int, bytes int64) {
	c.lines += records
	c.bytes += bytes + int64(records) // an LF before each
}

// Over reports whether the records added so far are more than the budget. Then
// the result is truncated, whatever follows.
func (c *Collector) Over() bool {
	return c.lines > c.policy.Lines || c.bytes > int64(c.policy.Bytes)
}

// Result returns what to show of the records added so far.
func (c *Collector) Result() Result {
	r := Result{Truncated: c.Over(), Lines: c.lines, Bytes: c.bytes}
	if c.lines <= c.policy.Lines && (c.list.skips || !c.list.full) {
		r.Body = string(c.list.body)
	} else {
		r.Body = c.headAndTail()
	}
	return r
}

// tailBytes is what the head and the separator leave for the tail.
func (c *Collector) tailBytes() int {
	return c.policy.Bytes - len(c.head.body) - len("\n"+Separator)
}

// headAndTail returns the first and the last records, with the separator
// unless nothing lies between them.
func (c *Collector) headAndTail() string {
	body, lines := c.head.body, c.head.taken
	tail, n := c.tail.last(c.tailBytes())
	if lines+n < c.lines && c.tailBytes() >= 0 {
		body = appendLine(body, lines, []byte(Separator))
		lines++
	}
	if lines == 0 && n > 0 {
		tail = tail[len("\n"):]
	}
	return string(append(body, tail...))
}

// A list is the records in order while they fit.
type list struct {
	bytes int  // the budget
	skips bool // a marker may stand for a record that does not fit
	body  []byte
	taken int
	full  bool // something did not fit
}

func (l *list) add(text, marker []byte) {
	switch {
	case l.full:
	case len(l.body)+lineCost(l.taken, text) <= l.bytes:
		l.body = appendLine(l.body, l.taken, text)
		l.taken++
	case l.skips && len(l.body)+lineCost(l.taken, marker) <= l.bytes:
		l.body = appendLine(l.body, l.taken, marker)
		l.taken++
	default:
		l.full = true
	}
}

// A head is the first records.
type head struct {
	records, bytes int // the budget
	body           []byte
	taken          int
	full           bool
}

// add takes the next record into the head, and reports whether it did.
func (h *head) add(text, marker []byte) bool {
	if h.taken == 0 && len(text) > h.bytes {
		text = marker
	}
	if h.full || h.taken == h.records || len(h.body)+lineCost(h.taken, text) > h.bytes {
		h.full = true
		return false
	}
	h.body = appendLine(h.body, h.taken, text)
	h.taken++
	return true
}

// A tail is the last records that may still be shown, oldest first.
type tail struct {
	buf    []byte // the records, an LF before each
	costs  []int  // the bytes of each in buf
	marker []byte // of the last record
	from   int    // buf[:from] and costs[:first] are dropped
	first  int
}

// add adds a record and drops the oldest ones that, with at most the given
// records and bytes, will not be shown whatever follows.
func (t *tail) add(text, marker []byte, records, bytes int) {
	t.buf = append(append(t.buf, '\n'), text...)
	t.costs = append(t.costs, 1+len(text))
	t.marker = append(t.marker[:0], marker...)

	// The last record does not count: its marker may be shown in its place.
	for len(t.costs)-t.first > records || len(t.buf)-t.from-t.costs[len(t.costs)-1] > max(bytes, 0) {
		t.from += t.costs[t.first]
		t.first++
	}
	if t.from > len(t.buf)/2 {
		t.buf = t.buf[:copy(t.buf, t.buf[t.from:])]
		t.costs = t.costs[:copy(t.costs, t.costs[t.first:])]
		t.from, t.first = 0, 0
	}
}

// last returns the last records that fit in the given bytes, an LF before
// each, and their number. The marker of the very last record stands for it
// when it does not fit.
func (t *tail) last(bytes int) (body []byte, n int) {
	if len(t.costs) == 0 {
		return nil, 0
	}
	end, suffix := len(t.buf), []byte(nil)
	if last := t.costs[len(t.costs)-1]; last > bytes {
		suffix = append([]byte{'\n'}, t.marker...)
		if len(suffix) > bytes {
			return nil, 0
		}
		bytes -= len(suffix)
		end -= last
		n = 1
	}
	start := end
	for i := len(t.costs) - 1 - n; i >= t.first && t.costs[i] <= bytes; i-- {
		bytes -= t.costs[i]
		start -= t.costs[i]
		n++
	}
	return append(t.buf[start:end:end], suffix...), n
}

// lineCost is what a line adds to a body of n lines, in bytes.
func lineCost(n int, line []byte) int {
	if n == 0 {
		return len(line)
	}
	return len("\n") + len(line)
}

// appendLine appends a line to a body of n lines.
func appendLine(body []byte, n int, line []byte) []byte {
	if n > 0 {
		body = append(body, '\n')
	}
	return append(body, line...)
}
