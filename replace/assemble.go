package replace

import (
	"bytes"
	"cmp"
	"strings"
)

// assemble returns the text n behind the given byte order mark with all changes
// made, which are in order and disjoint.
func assemble(mark []byte, n normal, changes []change) ([]byte, error) {
	p := pieces{list: make([]piece, 0, 3*len(changes)+2)}
	p.add(piece{text: mark})
	endings := newEndings(n)
	at := 0
	for _, c := range changes {
		from, to := n.source(c.from), n.source(c.to)
		p.add(piece{text: n.src[at:from]})
		if len(mark) > 0 && p.size == len(mark) {
			c.insert = strings.TrimPrefix(c.insert, byteOrderMark)
		}
		inserted := piece{text: []byte(c.insert)}
		if strings.Contains(c.insert, "\n") {
			inserted.ending = endings.at(from, to)
		}
		p.add(inserted)
		at = to
	}
	p.add(piece{text: n.src[at:]})
	if p.size > MaxFileBytes {
		return nil, newError(CodeTooLarge, -1, ErrResultTooLarge)
	}
	return p.join(), nil
}

// endings finds the line ending for inserted text. It looks at each byte of
// the source once, whatever the number of insertions.
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

// A piece is a part of the result.
type piece struct {
	text   []byte
	ending string // what each LF in text is written as; "" leaves text as it is
}

func (p piece) size() int {
	if p.ending == "" {
		return len(p.text)
	}
	return len(p.text) + bytes.Count(p.text, []byte{'\n'})*(len(p.ending)-1)
}

// startsWithLF reports whether the first byte written for p is LF.
func (p piece) startsWithLF() bool {
	return p.text[0] == '\n' && (p.ending == "" || p.ending == "\n")
}

// endsWithCR reports whether the last byte written for p is CR.
func (p piece) endsWithCR() bool {
	last := p.text[len(p.text)-1]
	return last == '\r' || last == '\n' && p.ending == "\r"
}

func (p piece) appendTo(dst []byte) []byte {
	if p.ending == "" || p.ending == "\n" {
		return append(dst, p.text...)
	}
	for line := range bytes.Lines(p.text) {
		text, ended := bytes.CutSuffix(line, []byte{'\n'})
		dst = append(dst, text...)
		if ended {
			dst = append(dst, p.ending...)
		}
	}
	return dst
}

// pieces are the parts of the result in order. None is empty.
type pieces struct {
	list []piece
	size int // bytes of all
}

// add adds p unless it is empty. Where a CR and an LF that were two line
// endings would become one, it puts an LF between them, which makes them CR LF
// and LF.
func (p *pieces) add(next piece) {
	if len(next.text) == 0 {
		return
	}
	if n := len(p.list); n > 0 && p.list[n-1].endsWithCR() && next.startsWithLF() {
		p.list = append(p.list, piece{text: []byte{'\n'}})
		p.size++
	}
	p.list = append(p.list, next)
	p.size += next.size()
}

func (p *pieces) join() []byte {
	out := make([]byte, 0, p.size)
	for _, next := range p.list {
		out = next.appendTo(out)
	}
	return out
}
