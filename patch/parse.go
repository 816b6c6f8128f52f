package patch

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	beginMarker  = "*** Begin Patch"
	endMarker    = "*** End Patch"
	addMarker    = "*** Add File:"
	deleteMarker = "*** Delete File:"
	updateMarker = "*** Update File:"
	moveMarker   = "*** Move to:"
	eofMarker    = "*** End of File"
)

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\ufeff"

// whitespace is what is ignored around markers and paths, and between lines
// that are compared tolerantly.
const whitespace = " \t\v\f\r"

// Parse returns the patch that text holds. It looks at no file.
//
// The text is UTF-8. Its lines end in LF or CR LF, whatever the files have. It
// may start with a byte order mark, and may be wrapped like a here-document of
// a shell ("apply_patch <<'EOF'", "EOF"). Around the patch only blank lines are
// allowed.
//
// An error is a [*ParseError], with the first line at fault; but a missing end of
// the patch comes before all faults inside. Too large are a text, a patch and a
// path over [MaxPatchBytes], [MaxSections] and [MaxPathBytes].
func Parse(text string) (*Patch, error) {
	switch {
	case len(text) > MaxPatchBytes:
		return nil, errPatchTooLarge
	case !utf8.ValidString(text):
		return nil, errPatchNotUTF8
	}
	p := parser{lines: splitLines(strings.TrimPrefix(text, byteOrderMark))}
	if err := p.open(); err != nil {
		return nil, err
	}
	if err := p.sections(); err != nil {
		return nil, err
	}
	return &Patch{p.parsed}, nil
}

// splitLines cuts text at each LF, with the CR in front of it, if there is one.
func splitLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// A parser reads lines one by one.
type parser struct {
	lines    []string // up to the last one that is not blank
	at       int      // index of the next line
	looseEnd bool     // the last line is the end marker, behind whitespace
	parsed   []Section
}

// open steps behind the line that begins the patch, and takes the wrapper off.
func (p *parser) open() error {
	p.trim()
	if p.at == len(p.lines) {
		return errEmptyPatch
	}
	last := len(p.lines) - 1
	if word := heredocWord(p.lines[p.at]); word != "" && word == p.lines[last] {
		p.at, p.lines = p.at+1, p.lines[:last]
		p.trim()
	}
	if p.at == len(p.lines) || trim(p.lines[p.at]) != beginMarker {
		return errNoBegin
	}
	p.at++
	return p.findEnd()
}

// trim steps over blank lines and drops those at the end.
func (p *parser) trim() {
	for len(p.lines) > p.at && isBlank(p.lines[len(p.lines)-1]) {
		p.lines = p.lines[:len(p.lines)-1]
	}
	p.skipBlank()
}

func (p *parser) skipBlank() {
	for p.at < len(p.lines) && isBlank(p.lines[p.at]) {
		p.at++
	}
}

var heredoc = regexp.MustCompile(`^(?:apply_patch )?<<(?:([A-Za-z_]\w*)|'([A-Za-z_]\w*)'|"([A-Za-z_]\w*)")$`)

// heredocWord returns the word that ends the here-document which line starts,
// "" if it starts none.
func heredocWord(line string) string {
	m := heredoc.FindStringSubmatch(trimRight(line))
	if m == nil {
		return ""
	}
	return m[1] + m[2] + m[3]
}

// findEnd looks for the end marker. In an Update it must not be indented, where
// it would be a context line; but if there is no other one, the last line of
// the text may be.
func (p *parser) findEnd() error {
	indented := false
	for _, line := range p.lines[p.at:] {
		if trimRight(line) == endMarker {
			return nil
		}
		indented = indented || trim(line) == endMarker
	}
	if !indented {
		return errNoEnd
	}
	p.looseEnd = trim(p.lines[len(p.lines)-1]) == endMarker
	return nil
}

// atEnd reports whether the next line is the end marker, in an Update.
func (p *parser) atEnd() bool {
	return trimRight(p.lines[p.at]) == endMarker || p.looseEnd && p.at == len(p.lines)-1
}

// sections reads the sections and the end of the patch.
func (p *parser) sections() error {
	for {
		p.skipBlank()
		if p.at == len(p.lines) {
			return errNoEnd
		}
		if trim(p.lines[p.at]) == endMarker {
			return p.close()
		}
		if err := p.section(); err != nil {
			return err
		}
	}
}

// close checks the end of the patch, at the end marker.
func (p *parser) close() error {
	if len(p.parsed) == 0 {
		return errNoSections
	}
	p.at++
	p.skipBlank()
	if p.at < len(p.lines) {
		return p.fault(p.at, `text after "`+endMarker+`"`)
	}
	return nil
}

// fault returns the error of the line with the given index.
func (p *parser) fault(index int, reason string) error {
	return &ParseError{Code: CodeInvalid, Line: index + 1, reason: reason}
}

// faultIn is fault with a text that the reason quotes where it has a %s.
func (p *parser) faultIn(index int, reason, text string) error {
	return &ParseError{Code: CodeInvalid, Line: index + 1, Text: text, reason: reason}
}

func trim(s string) string { return strings.Trim(s, whitespace) }

func trimRight(s string) string { return strings.TrimRight(s, whitespace) }

func isBlank(s string) bool { return trim(s) == "" }
