package replace

import (
	"bytes"
	"cmp"
	"strings"
)

// assemble returns the text n behind the given byte order mark with all changes
// made, which are in order and disjoint.
func assemble(mark []byte, n normal, changes []change) ([]byte, error) {
	p := pieces{list: make([][]byte, 0, 3*len(changes)+2)}
	p.add(mark)
	endings := newEndings(n)
	at := 0
	for _, c := range changes {
		from, to := n.source(c.from), n.source(c.to)
		p.add(n.src[at:from])
		if len(mark) > 0 && p.size == len(mark) {
			c.insert = strings.TrimPrefix(c.insert, byteOrderMark)
		}
		if strings.Contains(c.insert, "\n") && n.steps != nil {
			c.insert = strings.ReplaceAll(c.insert, "\n", endings.at(from, to))
		}
		p.add([]byte(c.insert))
		at = to
	}
	p.add(n.src[at:])
	if p.size > MaxFileBytes {
		return nil, newError(CodeTooLarge, -1, ErrResultTooLarge)
	}
	return bytes.Join(p.list, nil), nil // which, unlike append, need not clear the memory first
}

// endings finds the line ending for inserted text in a source where they
// differ. It looks at each byte of the source once, whatever the number of
// insertions.
type endings struct {
	src   []byte
	first string // the first ending of src, LF if there is none
	last  string // the last ending before src[seen], "" if there is none
	seen  int
}

func newEndings(n normal) *endings {
	e := &endings{src: n.src, first: "\n"}
	if i := bytes.IndexByte(n.text, '\n'); i >= 0 {
		e.first = endingAt(n.src, n.source(i))
	}
	return e
}

// at returns the ending for text in the place of src[from:to]. From one call to
// the next, from must not decrease.
func (e *endings) at(from, to int) string {
	if before := endingBefore(e.src, e.seen, from); before != "" {
		e.last = before
	}
	e.seen = from
	if i := bytes.IndexAny(e.src[from:to], "\r\n"); i >= 0 {
		return endingAt(e.src, from+i)
	}
	return cmp.Or(e.last, e.first) // without one before, the first is behind
}

// pieces are the parts of the result in order. None is empty.
type pieces struct {
	list [][]byte
	size int // bytes of all
}

// add adds next unless it is empty. Where a CR and an LF that were two line
// endings would become one, it puts an LF between them, which makes them CR LF
// and LF.
func (p *pieces) add(next []byte) {
	if len(next) == 0 {
		return
	}
	if n := len(p.list); n > 0 && next[0] == '\n' && bytes.HasSuffix(p.list[n-1], []byte{'\r'}) {
		p.list = append(p.list, []byte{'\n'})
		p.size++
	}
	p.list = append(p.list, next)
	p.size += len(next)
}
