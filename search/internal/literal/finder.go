package literal

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A Finder looks for one literal that is not empty. It is immutable.
type Finder struct {
	Literal
	exact bool

	// The positions of the two rarest bytes of the text, the rarest first. They
	// are the same if all its bytes are.
	rare, other int
}

// NewFinder returns a Finder for l.
func NewFinder(l Literal) *Finder {
	f := &Finder{Literal: l}
	_, f.exact = l.Text()
	f.rare = f.rarest(-1)
	f.other = f.rarest(f.rare)
	return f
}

// rarest returns the position of the rarest byte that does not equal the one at
// position except, which is returned if there is no other.
func (f *Finder) rarest(except int) int {
	best := except
	for i := range len(f.text) {
		if except >= 0 && f.text[i] == f.text[except] {
			continue
		}
		if best == except || rank[f.text[i]] < rank[f.text[best]] {
			best = i
		}
	}
	return best
}

func (f *Finder) folded(i int) bool { return f.fold != "" && f.fold[i] != 0 }

// Index returns the position of the first occurrence of the literal in data at
// or after from, or -1.
func (f *Finder) Index(data []byte, from int) int {
	switch {
	case f.exact && len(f.text) > longText:
		// The comparison of a long text at many places could take too long.
		if i := bytes.Index(data[from:], []byte(f.text)); i >= 0 {
			return from + i
		}
		return -1
	case f.folded(f.rare):
		return f.indexPair(data, from)
	default:
		return f.indexRare(data, from)
	}
}

// longText is the length of a text in bytes over which the time to compare it
// counts.
const longText = 64

// indexRare looks for the rarest byte alone, which is fastest while that byte
// is rare in data too.
func (f *Finder) indexRare(data []byte, from int) int {
	rare := f.text[f.rare]
	at := from + f.rare
	misses := 0
	for at < len(data) {
		i := bytes.IndexByte(data[at:], rare)
		if i < 0 {
			return -1
		}
		at += i
		if start := at - f.rare; start+len(f.text) <= len(data) && f.equal(data[start:]) {
			return start
		}
		at++
		misses++
		if misses > 8 && (at-from)/misses < missBytes && f.other != f.rare {
			return f.indexPair(data, at-f.rare)
		}
	}
	return -1
}

// missBytes is how many bytes a false hit of indexRare has to be worth: in that
// time indexPair looks at about as many.
const missBytes = 48

// indexPair looks for the two rarest bytes at their distance, in many places at
// once: it costs the same however common each of them is.
func (f *Finder) indexPair(data []byte, from int) int {
	rare, other := f.broadcast(f.rare), f.broadcast(f.other)
	at := from
	a, b := data[min(at+f.rare, len(data)):], data[min(at+f.other, len(data)):]
	for len(a) >= pairBytes && len(b) >= pairBytes {
		x, y := (*[pairBytes]byte)(a), (*[pairBytes]byte)(b)
		z0 := rare.differ(x[0:8]) | other.differ(y[0:8])
		z1 := rare.differ(x[8:16]) | other.differ(y[8:16])
		z2 := rare.differ(x[16:24]) | other.differ(y[16:24])
		z3 := rare.differ(x[24:32]) | other.differ(y[24:32])
		if zeros(z0)|zeros(z1)|zeros(z2)|zeros(z3) != 0 {
			for i, z := range [...]uint64{z0, z1, z2, z3} {
				for hits := zeros(z); hits != 0; hits &= hits - 1 {
					start := at + 8*i + bits.TrailingZeros64(hits)/8
					if start+len(f.text) <= len(data) && f.equal(data[start:]) {
						return start
					}
				}
			}
		}
		at += pairBytes
		a, b = a[pairBytes:], b[pairBytes:]
	}
	for ; at+len(f.text) <= len(data); at++ {
		if f.equal(data[at:]) {
			return at
		}
	}
	return -1
}

// pairBytes is how many places indexPair looks at before it decides.
const pairBytes = 32

// A word is the same byte eight times, and the bits in which it need not equal
// another one.
type word struct{ value, fold uint64 }

const ones = 0x0101010101010101

func (f *Finder) broadcast(i int) word {
	w := word{value: uint64(f.text[i]) * ones}
	if f.folded(i) {
		w.fold = foldBit * ones
	}
	return w
}

// differ returns zero bytes where b has the byte of w.
func (w word) differ(b []byte) uint64 {
	return (binary.LittleEndian.Uint64(b) | w.fold) ^ w.value
}

// zeros returns the highest bit of each byte of z that is zero, and perhaps of
// some above one that is.
func zeros(z uint64) uint64 { return (z - ones) &^ z & (ones << 7) }

// equal reports whether data, which is at least as long, starts with the
// literal.
func (f *Finder) equal(data []byte) bool {
	data = data[:len(f.text)]
	if f.exact {
		return string(data) == f.text
	}
	fold := f.fold[:len(data)]
	for i, b := range data {
		if b|fold[i] != f.text[i] {
			return false
		}
	}
	return true
}
