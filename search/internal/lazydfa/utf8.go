package lazydfa

import "unicode/utf8"

// A byteRange is the bytes from lo to hi.
type byteRange struct{ lo, hi byte }

// A trie is a set of sequences of byte ranges that share what they begin with.
type trie struct {
	branches []branch
}

type branch struct {
	byteRange
	end  bool // a sequence ends here
	next *trie
}

// addRange adds the UTF-8 sequences of the characters from lo to hi, without CR,
// LF and surrogates.
func (t *trie) addRange(lo, hi rune) {
	for _, hole := range [...]struct{ first, last rune }{{'\n', '\n'}, {'\r', '\r'}, {0xD800, 0xDFFF}} {
		if lo <= hole.last && hole.first <= hi {
			if lo < hole.first {
				t.addRange(lo, hole.first-1)
			}
			if hole.last < hi {
				t.addRange(hole.last+1, hi)
			}
			return
		}
	}
	// Cut where the length of a sequence changes.
	for _, last := range [...]rune{0x7F, 0x7FF, 0xFFFF} {
		if lo <= last && last < hi {
			t.addRange(lo, last)
			t.addRange(last+1, hi)
			return
		}
	}
	// Cut where the bytes after the first that differs do not take all values.
	for n := 1; n < utf8.RuneLen(hi); n++ {
		low := rune(1)<<(6*n) - 1 // the bits of the last n bytes
		if lo&^low == hi&^low {
			continue
		}
		if lo&low != 0 {
			t.addRange(lo, lo|low)
			t.addRange(lo|low+1, hi)
			return
		}
		if hi&low != low {
			t.addRange(lo, hi&^low-1)
			t.addRange(hi&^low, hi)
			return
		}
	}
	var first, last [utf8.UTFMax]byte
	n := utf8.EncodeRune(first[:], lo)
	utf8.EncodeRune(last[:], hi)
	sequence := make([]byteRange, n)
	for i := range sequence {
		sequence[i] = byteRange{first[i], last[i]}
	}
	t.add(sequence)
}

// add adds one sequence. Sequences that come after each other in order share
// their beginnings.
func (t *trie) add(sequence []byteRange) {
	if n := len(t.branches); n > 0 && t.branches[n-1].byteRange == sequence[0] && len(sequence) > 1 && t.branches[n-1].next != nil {
		t.branches[n-1].next.add(sequence[1:])
		return
	}
	b := branch{byteRange: sequence[0], end: len(sequence) == 1}
	if !b.end {
		b.next = new(trie)
		b.next.add(sequence[1:])
	}
	t.branches = append(t.branches, b)
}
