package patch

import (
	"fmt"
	"strings"
)

// A ParseError says why a text is no patch.
type ParseError struct {
	Code string // CodeInvalid or CodeTooLarge
	Line int    // the line of the text at fault, from 1; 0 if it is the text as a whole
	Text string // the piece of the text that the message quotes, "" if none

	reason string // with %s for Text, if it is quoted
	whole  bool   // Text is quoted without a limit
}

func newParseError(code, reason string) *ParseError {
	return &ParseError{Code: code, reason: reason}
}

var (
	errPatchTooLarge   = newParseError(CodeTooLarge, fmt.Sprintf("exceeds %d bytes", MaxPatchBytes))
	errPatchNotUTF8    = newParseError(CodeInvalid, "not valid UTF-8")
	errEmptyPatch      = newParseError(CodeInvalid, "empty patch")
	errNoBegin         = newParseError(CodeInvalid, `first line must be "`+beginMarker+`"`)
	errNoEnd           = newParseError(CodeInvalid, `last line must be "`+endMarker+`"`)
	errNoSections      = newParseError(CodeInvalid, "no file operations")
	errTooManySections = newParseError(CodeInvalid, fmt.Sprintf("more than %d file operations", MaxSections))
)

// Error returns the message with the default escapes: see [Options].
func (e *ParseError) Error() string { return e.Message(nil) }

// Message returns the message, one line, with the piece of the text escaped as
// [Options] says.
func (e *ParseError) Message(escape func(string) string) string {
	w := newWording(escape)
	reason := e.reason
	if strings.Contains(reason, "%s") {
		piece := w.excerpt(e.Text)
		if e.whole {
			piece = w.quote(e.Text)
		}
		reason = fmt.Sprintf(reason, piece)
	}
	if e.Line == 0 {
		return "invalid patch: " + reason
	}
	return fmt.Sprintf("invalid patch: line %d: %s", e.Line, reason)
}
