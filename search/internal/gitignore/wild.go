package gitignore

// A token is one element of a pattern.
type token struct {
	kind kind
	char byte     // of a char
	set  *byteSet // of a class: the bytes that match
}

type kind uint8

const (
	char    kind = iota // this byte
	any                 // one byte other than "/"
	class               // one byte of a set
	star                // any bytes other than "/"
	deep                // any bytes
	parents             // nothing, or any bytes that end in "/": "**/"
)

// A byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte)           { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) contains(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

// tokenize reads a pattern. With flat, a path has a single element, so that
// "**" is "*". It is false for a pattern that matches nothing: one with an
// unfinished class or a backslash at its end.
func tokenize(pattern string, flat bool) ([]token, bool) {
	tokens := []token{}
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; c {
		case '\\':
			if i+1 == len(pattern) {
				return nil, false
			}
			tokens = append(tokens, token{kind: char, char: pattern[i+1]})
			i += 2
		case '?':
			tokens = append(tokens, token{kind: any})
			i++
		case '*':
			stars := i
			for i < len(pattern) && pattern[i] == '*' {
				i++
			}
			alone := !flat && i-stars > 1 && (stars == 0 || pattern[stars-1] == '/')
			rest := pattern[i:]
			switch {
			case alone && rest != "" && rest[0] == '/':
				tokens = append(tokens, token{kind: parents})
				i++
			case alone && (rest == "" || len(rest) > 1 && rest[:2] == `\/`):
				tokens = append(tokens, token{kind: deep})
			default:
				tokens = append(tokens, token{kind: star})
			}
		case '[':
			set, end := parseClass(pattern, i)
			if set == nil {
				return nil, false
			}
			tokens = append(tokens, token{kind: class, set: set})
			i = end
		default:
			tokens = append(tokens, token{kind: char, char: c})
			i++
		}
	}
	return tokens, true
}

// wildMatch reports whether the tokens match all of text. The time is at most
// the product of the two lengths: at a mismatch only the last star can still
// help, and once it has met a "/", only the last deep or parents can, because
// whatever an earlier one would take, a later one can take as well.
func wildMatch(tokens []token, text string) bool {
	var back, deepBack struct {
		token, text int // where to go on; no way back if token is 0
	}
	t, i := 0, 0
	for {
		if t < len(tokens) {
			switch tok := &tokens[t]; tok.kind {
			case star:
				t++
				back.token, back.text = t, i
				continue
			case deep, parents:
				t++
				deepBack.token, deepBack.text = t, i
				back.token = 0
				continue
			default:
				if i < len(text) && tok.takes(text[i]) {
					t++
					i++
					continue
				}
			}
		} else if i == len(text) {
			return true
		}
		switch {
		case back.token > 0 && back.text < len(text) && text[back.text] != '/':
			back.text++
			t, i = back.token, back.text
		case deepBack.token > 0:
			next := deepBack.text
			if tokens[deepBack.token-1].kind == parents {
				for next < len(text) && text[next] != '/' {
					next++
				}
			}
			if next == len(text) {
				return false
			}
			deepBack.text = next + 1
			t, i = deepBack.token, deepBack.text
			back.token = 0
		default:
			return false
		}
	}
}

// takes reports whether a token for a single byte matches b.
func (t *token) takes(b byte) bool {
	switch t.kind {
	case char:
		return b == t.char
	case any:
		return b != '/'
	default:
		return t.set.contains(b)
	}
}
