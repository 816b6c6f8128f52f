package gitignore

import "strings"

// parseClass reads the class at pattern[start:], which begins with "[". It
// returns the bytes that match, and the position behind the class; nil if the
// class is unfinished or names an unknown POSIX class. As in git, a "]" right
// behind the opening is a member, and so is "[:" without its end.
func parseClass(pattern string, start int) (*byteSet, int) {
	set := new(byteSet)
	i := start + 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	low := -1 // the byte that a "-" would make a range with
	for first := true; first || i < len(pattern) && pattern[i] != ']'; first = false {
		if i >= len(pattern) {
			return nil, 0
		}
		switch c := pattern[i]; {
		case c == '-' && low >= 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			i++
			if pattern[i] == '\\' {
				i++
			}
			if i == len(pattern) {
				return nil, 0
			}
			for b := low; b <= int(pattern[i]); b++ {
				set.add(byte(b))
			}
			low = -1
		case c == '[' && i+1 < len(pattern) && pattern[i+1] == ':' && strings.IndexByte(pattern[i+2:], ']') >= 0:
			name := pattern[i+2:]
			name = name[:strings.IndexByte(name, ']')]
			name, ok := strings.CutSuffix(name, ":")
			if !ok { // no end: "[" is a member
				set.add('[')
				low = '['
				break
			}
			if !addPOSIX(set, name) {
				return nil, 0
			}
			i += len("[:") + len(name) + len(":]") - 1
			low = -1
		default:
			if c == '[' && i+1 < len(pattern) && pattern[i+1] == ':' {
				return nil, 0 // no "]" follows at all
			}
			if c == '\\' {
				i++
				if i == len(pattern) {
					return nil, 0
				}
				c = pattern[i]
			}
			set.add(c)
			low = int(c)
		}
		i++
	}
	if i >= len(pattern) {
		return nil, 0
	}
	if negated {
		for w := range set {
			set[w] = ^set[w]
		}
	}
	set['/'>>6] &^= 1 << ('/' & 63)
	return set, i + 1
}

// addPOSIX adds the bytes of a POSIX class, in the C locale and as git has it.
// It is false for an unknown name.
func addPOSIX(set *byteSet, name string) bool {
	for c := range 128 {
		b := byte(c)
		lower, upper, digit := 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9'
		graph := ' ' < b && b < 0x7F
		var in bool
		switch name {
		case "alnum":
			in = lower || upper || digit
		case "alpha":
			in = lower || upper
		case "blank":
			in = b == ' ' || b == '\t'
		case "cntrl":
			in = b < ' ' || b == 0x7F
		case "digit":
			in = digit
		case "graph":
			in = graph
		case "lower":
			in = lower
		case "print":
			in = graph || b == ' '
		case "punct":
			in = graph && !lower && !upper && !digit
		case "space": // without vertical tab and form feed
			in = b == ' ' || b == '\t' || b == '\n' || b == '\r'
		case "upper":
			in = upper
		case "xdigit":
			in = digit || 'a' <= b|0x20 && b|0x20 <= 'f'
		default:
			return false
		}
		if in {
			set.add(b)
		}
	}
	return true
}
