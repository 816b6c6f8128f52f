package lineedit

import "fmt"

// The codes of an [Error], for programs to route on.
const (
	CodeInvalidArguments = "INVALID_ARGUMENTS" // an edit that makes no sense, or not for this file
	CodeOverlap          = "OVERLAP"           // two edits touch the same lines
	CodeContextMismatch  = "CONTEXT_MISMATCH"  // the line before an edit is not the one it names
	CodeInvalidUTF8      = "FS_INVALID_UTF8"   // text in one encoding for a file in another
)

// A Reason says exactly what an [Error] is about; several can share a code.
type Reason uint8

// The reasons, in the order in which [Apply] checks them.
const (
	TooManyEdits       Reason = iota + 1 // more than MaxEdits edits
	StartBelowOne                        // Start is less than 1
	EndBelowOne                          // EndExclusive is less than 1
	EndBelowStart                        // EndExclusive is less than Start
	ContextNotOneLine                    // ContextLine holds a CR or LF that does not end it
	StartPastEnd                         // Start is more than TotalLines+1
	EndPastEnd                           // EndExclusive is more than TotalLines+1
	EditsOverlap                         // the edits Index and Other overlap
	ContextNotEmpty                      // Start is 1, and ContextLine is not empty
	ContextInvalidLine                   // the line before Start is not valid UTF-8
	ContextDiffers                       // the line before Start is not ContextLine
	TextNotASCII                         // NewText is not ASCII, and the file is not valid UTF-8
)

// String returns a short description, for developers.
func (r Reason) String() string {
	switch r {
	case TooManyEdits:
		return "too many edits"
	case StartBelowOne:
		return "start is less than 1"
	case EndBelowOne:
		return "end is less than 1"
	case EndBelowStart:
		return "end is less than start"
	case ContextNotOneLine:
		return "context is not a single line"
	case StartPastEnd:
		return "start is past the end of the file"
	case EndPastEnd:
		return "end is past the end of the file"
	case EditsOverlap:
		return "edits overlap"
	case ContextNotEmpty:
		return "context is not empty at line 1"
	case ContextInvalidLine:
		return "context line is not valid UTF-8"
	case ContextDiffers:
		return "context does not match"
	case TextNotASCII:
		return "file is not valid UTF-8 and new text is not ASCII"
	default:
		return fmt.Sprintf("Reason(%d)", uint8(r))
	}
}

// code returns the code that r belongs to.
func (r Reason) code() string {
	switch r {
	case EditsOverlap:
		return CodeOverlap
	case ContextNotEmpty, ContextInvalidLine, ContextDiffers:
		return CodeContextMismatch
	case TextNotASCII:
		return CodeInvalidUTF8
	default:
		return CodeInvalidArguments
	}
}

// An Error says why edits cannot be applied. It holds places only: no text of
// the file or of the edits.
type Error struct {
	Code   string // one of the Code constants, as Reason implies
	Reason Reason
	Index  int // 0-based position of the edit, -1 with TooManyEdits
	Other  int // with EditsOverlap the position of the other edit, greater than Index; -1 otherwise

	// Line is the line number that was given and is past the end, with
	// StartPastEnd and EndPastEnd; 0 otherwise.
	Line int64

	// TotalLines and TotalBytes measure the whole original, byte order mark
	// included. They are 0 if it is empty or missing, and for the reasons up to
	// ContextNotOneLine, for which it is not looked at.
	TotalLines, TotalBytes int

	// Mismatch is set with CodeContextMismatch, nil otherwise.
	Mismatch *Mismatch
}

// Error returns one line for developers, without text of the file or of the
// edits.
func (e *Error) Error() string {
	switch e.Reason {
	case TooManyEdits:
		return fmt.Sprintf("lineedit: more than %d edits", MaxEdits)
	case StartPastEnd, EndPastEnd:
		return fmt.Sprintf("lineedit: edit %d: %s: %d, file has %d lines", e.Index, e.Reason, e.Line, e.TotalLines)
	case EditsOverlap:
		return fmt.Sprintf("lineedit: edits %d and %d overlap", e.Index, e.Other)
	case ContextInvalidLine, ContextDiffers:
		if e.Mismatch != nil {
			return fmt.Sprintf("lineedit: edit %d: %s: line %d", e.Index, e.Reason, e.Mismatch.Line)
		}
	}
	return fmt.Sprintf("lineedit: edit %d: %s", e.Index, e.Reason)
}

// A Mismatch tells what is known about a context that did not match, and which
// lines of the original to show so that the next attempt can be right. Line
// numbers are 1-based. A context "equals" a line here by the rules of
// [Edit.ContextLine].
type Mismatch struct {
	// Line is the line that the context has to equal, the one before Start. It
	// is 0 with ContextNotEmpty: no line comes before line 1.
	Line int

	// EqualsStart says, with ContextDiffers, that the context is not empty and
	// equals the line at Start, which is Line+1: the commonest slip.
	EqualsStart bool

	// FoundAt is the only line of the file that the context equals. It is 0 if
	// there is none or more than one, if the context is empty, and if
	// EqualsStart has said it already.
	FoundAt int

	// First and Last are the existing lines around Line, up to ContextLines on
	// either side, both inclusive. In an empty file they are 1 and 0: no line.
	First, Last int

	// ValidUTF8 says whether the whole original is valid UTF-8.
	ValidUTF8 bool
}

// reject returns the error for one edit, whatever the file.
func reject(reason Reason, index int) *Error {
	return &Error{Code: reason.code(), Reason: reason, Index: index, Other: -1}
}

// reject returns the error for one edit of t.
func (t *text) reject(reason Reason, index int) *Error {
	err := reject(reason, index)
	err.TotalLines, err.TotalBytes = t.total, len(t.src)
	return err
}
