// Package lines finds the lines of a text in memory. A line ends at LF, at CR
// LF, or at a CR that no LF follows; what follows the last of these is a line
// too, unless it is empty.
package lines

import "bytes"

// A Text is text that begins where a line begins.
type Text struct {
	Data []byte
	cr   bool // there is a CR in it
}

// New returns data as a Text. It looks for CR once, because most texts have
// none and are then searched for LF alone.
func New(data []byte) Text {
	return Text{data, bytes.IndexByte(data, '\r') >= 0}
}

// Start returns where the line of the byte at the given position starts, which
// is not before low, the start of that line or of one before. The byte may end
// the line, but must not be the LF of a CR LF.
func (t Text) Start(at, low int) int {
	before := t.Data[low:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	if t.cr {
		start += bytes.LastIndexByte(before[start:], '\r') + 1
	}
	return low + start
}

// End returns the position of the first line end at or after the given
// position, len(t.Data) if there is none.
func (t Text) End(at int) int {
	if t.cr {
		return End(t.Data, at)
	}
	if i := bytes.IndexByte(t.Data[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(t.Data)
}

// After returns where the line behind the line end at the given position
// starts.
func (t Text) After(end int) int {
	switch rest := t.Data[end:]; {
	case len(rest) == 0:
		return end
	case rest[0] == '\r' && len(rest) > 1 && rest[1] == '\n':
		return end + 2
	default:
		return end + 1
	}
}

// Count returns the number of line ends from the start of one line to the start
// of another, which is the number of lines between them.
func (t Text) Count(from, to int) int {
	part := t.Data[from:to]
	n := bytes.Count(part, []byte{'\n'})
	if !t.cr {
		return n
	}
	for {
		i := bytes.IndexByte(part, '\r')
		if i < 0 {
			return n
		}
		part = part[i+1:]
		if len(part) == 0 || part[0] != '\n' {
			n++
		}
	}
}

// End returns the position of the first CR or LF in data at or after the given
// position, len(data) if there is none. It reads little more than that: with
// two kinds of line ends, one of them may be far away.
func End(data []byte, at int) int {
	for window := 64; at < len(data); window *= 2 {
		part := data[at:min(at+window, len(data))]
		end := bytes.IndexByte(part, '\n')
		if end >= 0 {
			part = part[:end]
		}
		if cr := bytes.IndexByte(part, '\r'); cr >= 0 {
			return at + cr
		}
		at += len(part)
		if end >= 0 {
			break
		}
	}
	return at
}

// Last returns where the last line that goes on behind data starts: the
// position behind the last line end that is complete whatever follows, 0 if
// there is none. A CR at the very end is not complete: an LF may follow.
func Last(data []byte) int {
	end := bytes.LastIndexByte(data, '\n') + 1
	if rest := data[end:]; len(rest) > 1 {
		end += bytes.LastIndexByte(rest[:len(rest)-1], '\r') + 1
	}
	return end
}
