// Package shellrec turns the two output streams of a command into one list of
// flagged line records, which a reader can turn back into the bytes:
//
//	out building
//	err(no_nl) warning: x
//
// A record is one line of one stream. It says which stream it is of, how the
// line ended unless that was LF, and whether the line had bytes that were not
// UTF-8. Its text is payload and stays as it is, control characters too; a
// line never holds CR or LF, so no text can pass for another record.
//
// The package is pure: it knows no process, clock or disk. [Log] takes the
// bytes of both streams as they arrive, cut anywhere, and counts the whole
// rendering, whatever of it is shown or kept; [Decoder] is one stream alone;
// [Parse] reads a record back.
package shellrec

// A Stream is one of the two output streams of a command.
type Stream uint8

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

// String returns the name of the stream in a record, "out" or "err".
func (s Stream) String() string {
	if s == Stdout {
		return "out"
	}
	return "err"
}

// Flags are what a record says of its line beside the text.
type Flags uint8

// The flags, in the order in which a record shows them. A line that ended in LF
// has none of CRLF, CR and NoNL; any other has exactly one of them.
const (
	InvalidUTF8 Flags = 1 << iota // U+FFFD stands for bytes that were not UTF-8
	CRLF                          // the line ended in CR LF
	CR                            // the line ended in a CR that no LF follows
	NoNL                          // the stream ended in the line
	Truncated                     // the record is a marker, see [Record.Marker]
)

var flagNames = [...]string{"invalid-utf8", "crlf", "cr", "no_nl", "truncated"}

// Ending returns the bytes that ended the line.
func (f Flags) Ending() string {
	switch {
	case f&CRLF != 0:
		return "\r\n"
	case f&CR != 0:
		return "\r"
	case f&NoNL != 0:
		return ""
	default:
		return "\n"
	}
}

// A Record is one line of output.
type Record struct {
	Stream Stream
	Flags  Flags
	// Text is the line without its ending. It is valid UTF-8: one U+FFFD stands
	// for each maximal subpart of an ill-formed sequence (The Unicode Standard,
	// chapter 3, "U+FFFD Substitution of Maximal Subparts").
	Text string
	// Omitted is how many bytes of text came behind Text and were dropped
	// because the line was longer than the limit of its decoder.
	Omitted int64
}

// AppendTo appends the record as it is shown, without a line end. Text that was
// dropped is missing at its end; a record with the flag Truncated is a marker.
func (r Record) AppendTo(dst []byte) []byte {
	dst = r.appendHead(dst, r.Flags)
	if r.Flags&Truncated != 0 {
		return dst
	}
	dst = append(dst, ' ')
	return append(dst, r.Text...)
}

// String returns the record as it is shown.
func (r Record) String() string { return string(r.AppendTo(nil)) }

// Marker returns the form of the record that stands for one too long to show:
// the stream, and the flags with "truncated" behind them.
func (r Record) Marker() string { return string(r.AppendMarker(nil)) }

// AppendMarker appends the marker to dst.
func (r Record) AppendMarker(dst []byte) []byte {
	return r.appendHead(dst, r.Flags|Truncated)
}

// Len returns the length of the whole record in bytes, with the text that was
// dropped.
func (r Record) Len() int64 {
	n := int64(len(r.Stream.String())) + 1 + int64(len(r.Text))
	for i, name := range flagNames {
		if r.Flags&(1<<i) != 0 {
			n += 1 + int64(len(name)) // a parenthesis or a comma before it
		}
	}
	switch {
	case r.Flags&Truncated != 0: // a marker has ")" and neither space nor text
		return n - int64(len(r.Text))
	case r.Flags != 0:
		n++
	}
	return add(n, r.Omitted)
}

func (r Record) appendHead(dst []byte, flags Flags) []byte {
	dst = append(dst, r.Stream.String()...)
	if flags == 0 {
		return dst
	}
	separator := byte('(')
	for i, name := range flagNames {
		if flags&(1<<i) != 0 {
			dst = append(dst, separator)
			dst = append(dst, name...)
			separator = ','
		}
	}
	return append(dst, ')')
}
