// Package literal finds plain texts, one or one of several, with or without
// regard to the case of ASCII letters.
package literal

// A Literal is a text to look for. The zero value is the empty text.
type Literal struct {
	text string
	fold string // for each byte foldBit, or 0 if it matches itself alone; "" means all 0
}

// foldBit is the bit in which the two cases of an ASCII letter differ.
const foldBit = 0x20

// Exact returns a literal that matches the bytes of text.
func Exact(text string) Literal { return Literal{text: text} }

// Fold returns a literal that matches text in any mixture of the two cases of
// its ASCII letters. Other bytes match themselves.
func Fold(text string) Literal {
	lower, fold := []byte(text), make([]byte, len(text))
	for i, b := range lower {
		if isLetter(b) {
			lower[i] = b | foldBit
			fold[i] = foldBit
		}
	}
	return Literal{string(lower), string(fold)}
}

// Join returns the literal that matches a and then b.
func Join(a, b Literal) Literal {
	if a.fold == "" && b.fold == "" {
		return Literal{text: a.text + b.text}
	}
	return Literal{a.text + b.text, a.folds() + b.folds()}
}

// Len returns the length of what l matches, in bytes.
func (l Literal) Len() int { return len(l.text) }

// Text returns what l matches, and whether it matches nothing else.
func (l Literal) Text() (text string, exact bool) {
	for i := range len(l.fold) {
		if l.fold[i] != 0 {
			return l.text, false
		}
	}
	return l.text, true
}

// Rarity says how selective l is likely to be; more is better. It is 0 for a
// text that is not worth looking for on its own.
func (l Literal) Rarity() int {
	if len(l.text) < 2 {
		return 0
	}
	sum := 0
	for i := range min(len(l.text), rarityBytes) {
		sum += 256 - int(rank[l.text[i]])
		if l.fold != "" && l.fold[i] != 0 {
			sum--
		}
	}
	return sum + 4*len(l.text)
}

// rarityBytes is how many bytes at the start of a literal Rarity looks at.
const rarityBytes = 12

func (l Literal) folds() string {
	if l.fold != "" {
		return l.fold
	}
	return string(make([]byte, len(l.text)))
}

func isLetter(b byte) bool { return 'a' <= b|foldBit && b|foldBit <= 'z' }
