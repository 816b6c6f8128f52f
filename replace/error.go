package replace

import (
	"errors"
	"fmt"
)

// Codes of an [Error].
const (
	CodeInvalidArguments = "INVALID_ARGUMENTS" // no edits, too many, an empty OldText, a text that is not UTF-8
	CodeInvalidUTF8      = "FS_INVALID_UTF8"   // the source is not UTF-8
	CodeTooLarge         = "FS_TOO_LARGE"      // the source or the result is over MaxFileBytes
	CodeNoMatch          = "NO_MATCH"          // an OldText does not occur
	CodeAmbiguousMatch   = "AMBIGUOUS_MATCH"   // an OldText occurs more than once
	CodeOverlap          = "OVERLAP"           // two edits match a common byte
)

// The two things that can be too large. An [Error] with [CodeTooLarge] wraps
// one of them.
var (
	ErrSourceTooLarge = fmt.Errorf("file exceeds %d bytes", MaxFileBytes)
	ErrResultTooLarge = fmt.Errorf("result exceeds %d bytes", MaxFileBytes)
)

var (
	errNoEdits        = errors.New("edits must not be empty")
	errTooManyEdits   = fmt.Errorf("edits exceeds the limit of %d entries", MaxEdits)
	errEmptyOldText   = errors.New("oldText must not be empty")
	errOldTextNotUTF8 = errors.New("oldText is not valid UTF-8")
	errNewTextNotUTF8 = errors.New("newText is not valid UTF-8")
	errSourceNotUTF8  = errors.New("not valid UTF-8")
)

// A Hint says why an OldText may not have been found. It is a diagnosis only:
// no such difference is ever overlooked.
type Hint string

// The hints, in the order in which they are tried.
const (
	HintLineNumbers Hint = "line_numbers" // it occurs without the line numbers in front of its lines
	HintBOM         Hint = "bom"          // it occurs without the byte order mark in front of it
	HintWhitespace  Hint = "whitespace"   // its lines occur with other spaces and tabs, or other empty lines around
	HintFirstLine   Hint = "first_line"   // its first line that is not blank occurs once, spaces and tabs aside
)

// An Error is a failed [Apply]. Entries are counted from 0, lines from 1, and a
// byte order mark belongs to no line. Fields that do not apply are zero, the
// entries -1.
type Error struct {
	Code  string // one of the Code constants
	Index int    // the entry at fault
	Other int    // of an overlap: the other entry; Index is less

	// Of an ambiguous match: the number of occurrences, where MaxMatches means
	// that or more, and the lines on which these start, ascending, without
	// duplicates. One that starts with a line end is on the line it ends.
	Matches    int
	MatchLines []int

	// Of a text that was not found: what may be wrong, "" if that is unknown,
	// the line at which it may have been meant to start, and the number of its
	// own lines.
	Hint      Hint
	NearLine  int
	NearCount int

	err error // the reason, if Code does not say all
}

func newError(code string, entry int, reason error) *Error {
	return &Error{Code: code, Index: entry, Other: -1, err: reason}
}

func argumentError(entry int, reason error) error {
	return newError(CodeInvalidArguments, entry, reason)
}

// Error returns one line that says what is wrong, without any text of the
// source or the edits.
func (e *Error) Error() string {
	switch {
	case e.Code == CodeOverlap:
		return fmt.Sprintf("edits[%d] and edits[%d] overlap", e.Index, e.Other)
	case e.Index >= 0:
		return fmt.Sprintf("edits[%d]: %s", e.Index, e.reason())
	default:
		return e.reason()
	}
}

// Unwrap returns the reason: [ErrSourceTooLarge] or [ErrResultTooLarge] with
// [CodeTooLarge], nothing to rely on otherwise.
func (e *Error) Unwrap() error { return e.err }

func (e *Error) reason() string {
	switch {
	case e.err != nil:
		return e.err.Error()
	case e.Code == CodeNoMatch:
		return "oldText was not found"
	case e.Code == CodeAmbiguousMatch && e.Matches >= MaxMatches:
		return fmt.Sprintf("oldText matches %d or more places; it must match exactly one", MaxMatches)
	case e.Code == CodeAmbiguousMatch:
		return fmt.Sprintf("oldText matches %d places; it must match exactly one", e.Matches)
	default:
		return e.Code
	}
}
