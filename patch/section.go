package patch

import (
	"fmt"
	"regexp"
	"strings"
)

// section reads a section, at its first line.
func (p *parser) section() error {
	s, err := p.header()
	if err != nil {
		return err
	}
	switch s.Op {
	case Add:
		err = p.content(&s)
	case Update:
		err = p.changes(&s)
	}
	if err != nil {
		return err
	}
	p.parsed = append(p.parsed, s)
	return nil
}

// header reads the first line of a section.
func (p *parser) header() (s Section, err error) {
	var ok bool
	line := trim(p.lines[p.at])
	if s.Path, ok = cutMarker(line, addMarker); ok {
		s.Op = Add
	} else if s.Path, ok = cutMarker(line, deleteMarker); ok {
		s.Op = Delete
	} else if s.Path, ok = cutMarker(line, updateMarker); ok {
		s.Op = Update
	} else {
		return s, p.unknown()
	}
	if len(p.parsed) == MaxSections {
		return s, errTooManySections
	}
	err = p.checkPath(s.Path)
	p.at++
	return s, err
}

// cutMarker returns the path behind a marker and whitespace.
func cutMarker(line, marker string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(line, marker)
	path = trim(rest)
	return path, ok && (path == "" || !strings.HasPrefix(rest, path))
}

// unknown returns the error of the next line, which starts no section.
func (p *parser) unknown() error {
	line := trim(p.lines[p.at])
	if _, ok := cutMarker(line, moveMarker); ok {
		return p.fault(p.at, `"`+moveMarker+`" must directly follow "`+updateMarker+`"`)
	}
	if line == eofMarker {
		return p.misplacedEOF(p.at)
	}
	return p.faultIn(p.at, "invalid operation %s", p.lines[p.at])
}

func (p *parser) misplacedEOF(index int) error {
	return p.fault(index, `misplaced "`+eofMarker+`"`)
}

// checkPath checks a path that the next line holds.
func (p *parser) checkPath(path string) error {
	last := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case path == "":
		return p.fault(p.at, "missing path")
	case last == "" || last == "." || last == "..":
		return p.faultIn(p.at, "path does not name a file: %s", path)
	case strings.IndexByte(path, 0) >= 0:
		return p.fault(p.at, "path must not contain NUL")
	case len(path) > MaxPathBytes:
		return p.fault(p.at, fmt.Sprintf("path is longer than %d bytes", MaxPathBytes))
	}
	return nil
}

// content reads the lines of an Add.
func (p *parser) content(s *Section) error {
	blank := -1 // the first line without content; only such may follow
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		text, isContent := strings.CutPrefix(line, "+")
		switch {
		case isContent && blank < 0:
			s.Lines = append(s.Lines, text)
		case strings.HasPrefix(trim(line), "***"):
			return nil
		case blank >= 0 && !isBlank(line):
			return p.notContent(blank)
		case !isBlank(line):
			return p.notContent(p.at)
		case blank < 0:
			blank = p.at
		}
	}
	return nil
}

func (p *parser) notContent(index int) error {
	return p.faultIn(index, "add-file line must start with +: %s", p.lines[index])
}

// changes reads the new name and the hunks of an Update.
func (p *parser) changes(s *Section) error {
	header := p.at - 1
	if err := p.moveTo(s); err != nil {
		return err
	}
	for p.at < len(p.lines) && !p.atEnd() {
		line := p.lines[p.at]
		if line == "" {
			p.at++
			continue
		}
		if startsSection(line) {
			break
		}
		h, err := p.hunk()
		if err != nil {
			return err
		}
		s.Hunks = append(s.Hunks, h)
	}
	if len(s.Hunks) == 0 && s.MoveTo == "" {
		return &ParseError{
			Code: CodeInvalid, Line: header + 1, Text: s.Path,
			reason: "update of %s has no hunks", whole: true,
		}
	}
	return nil
}

// moveTo reads the new name of an Update, if the next line holds one.
func (p *parser) moveTo(s *Section) error {
	if p.at == len(p.lines) {
		return nil
	}
	path, ok := cutMarker(trimRight(p.lines[p.at]), moveMarker)
	if !ok {
		return nil
	}
	s.MoveTo = path
	err := p.checkPath(path)
	p.at++
	return err
}

// hunk reads a hunk, at its first line.
func (p *parser) hunk() (h Hunk, err error) {
	numbered, err := p.anchors(&h)
	if err != nil {
		return h, err
	}
	for p.at < len(p.lines) && !p.atEnd() {
		line := p.lines[p.at]
		if line == "" {
			h.Lines = append(h.Lines, Line{Kind: ' ', Bare: true})
		} else if strings.IndexByte(" -+", line[0]) >= 0 {
			h.Lines = append(h.Lines, Line{Kind: line[0], Text: line[1:]})
		} else {
			break
		}
		p.at++
	}
	if err := p.closeHunk(&h); err != nil {
		return h, err
	}
	if numbered >= 0 && h.inserts() {
		return h, p.fault(numbered, "line-number hunk header needs context or removed lines")
	}
	return h, nil
}

// numberedHeader is the header of a unified diff. Models get the numbers wrong,
// so they are not believed.
var numberedHeader = regexp.MustCompile(`^@@ -\d+(,\d+)? \+\d+(,\d+)? @@`)

// anchors reads the headers of a hunk and returns the index of the last one
// with line numbers, -1 if there is none.
func (p *parser) anchors(h *Hunk) (numbered int, err error) {
	numbered = -1
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		rest, ok := strings.CutPrefix(line, "@@")
		switch {
		case !ok:
			return numbered, nil
		case isBlank(rest):
		case rest[0] != ' ':
			return numbered, p.notHunkLine()
		case numberedHeader.MatchString(line):
			numbered = p.at
		default:
			h.Anchors = append(h.Anchors, rest[1:])
		}
	}
	return numbered, nil
}

func (p *parser) notHunkLine() error {
	return p.faultIn(p.at, "hunk line must start with space, - or +: %s", p.lines[p.at])
}

// closeHunk checks what follows the lines of a hunk.
func (p *parser) closeHunk(h *Hunk) error {
	switch {
	case p.at == len(p.lines):
		return errNoEnd
	case trimRight(p.lines[p.at]) == eofMarker:
		return p.closeFile(h)
	case !p.closesHunk() && strings.HasPrefix(p.lines[p.at], "***"):
		return p.unknown()
	case !p.closesHunk():
		return p.notHunkLine()
	case len(h.Lines) == 0:
		return p.fault(p.at-1, "hunk has no lines")
	}
	return nil
}

// closesHunk reports whether the next line is one that may follow a hunk.
func (p *parser) closesHunk() bool {
	line := p.lines[p.at]
	return p.atEnd() || strings.HasPrefix(line, "@@") || startsSection(line)
}

// closeFile reads the end-of-file marker, which only a header, a section or the
// end of the patch may follow.
func (p *parser) closeFile(h *Hunk) error {
	marker := p.at
	if len(h.Lines) == 0 {
		return p.misplacedEOF(marker)
	}
	h.EOF = true
	p.at++
	p.skipBlank()
	if p.at == len(p.lines) {
		return errNoEnd
	}
	if !p.closesHunk() {
		return p.misplacedEOF(marker)
	}
	return nil
}

func startsSection(line string) bool {
	for _, marker := range []string{addMarker, deleteMarker, updateMarker} {
		if _, ok := cutMarker(trimRight(line), marker); ok {
			return true
		}
	}
	return false
}
