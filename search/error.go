package search

import (
	"errors"
	"regexp/syntax"
	"strconv"
	"strings"
)

// Errors to compare with by [errors.Is].
var (
	ErrPattern = errors.New("invalid pattern") // every *PatternError
	ErrGlob    = errors.New("invalid glob")    // every *GlobError

	// Reasons why a path cannot be searched, in an *fs.PathError or given to
	// WalkOptions.Errors. Others are errors of the system.
	ErrNotRegular   = errors.New("not a regular file or directory")
	ErrNotDirectory = errors.New("not a directory")
	ErrLineTooLong  = errors.New("line too long")
	ErrTooLarge     = errors.New("UTF-16 file too large")
)

// A PatternFault is what is wrong with a pattern.
type PatternFault uint8

// The faults.
const (
	FaultSyntax        PatternFault = iota // it is no regular expression
	FaultLookAround                        // it has look-around, which takes time that is not linear
	FaultBackReference                     // it has back-references, likewise
	FaultTooLarge                          // it is over MaxProgram instructions, or nests too deeply
	FaultLineBreak                         // it holds or spells CR or LF, which no line has
)

// A PatternError is a pattern that [Compile] refuses.
type PatternError struct {
	Fault PatternFault

	// Reason is what package regexp/syntax says, such as
	// "missing closing ): `a(b`", with FaultTooLarge "pattern too large", and ""
	// with FaultLineBreak.
	Reason string
}

// Error returns one line: the reason, and what is not supported.
func (e *PatternError) Error() string {
	switch e.Fault {
	case FaultLineBreak:
		return "pattern must not contain a line break; matching is line by line"
	case FaultLookAround:
		return ErrPattern.Error() + ": " + e.Reason + "; look-around is not supported"
	case FaultBackReference:
		return ErrPattern.Error() + ": " + e.Reason + "; back-references are not supported"
	default:
		return ErrPattern.Error() + ": " + e.Reason
	}
}

// Is reports whether target is [ErrPattern].
func (e *PatternError) Is(target error) bool { return target == ErrPattern }

// syntaxError returns the error of package syntax as a PatternError.
func syntaxError(err error) *PatternError {
	e := &PatternError{Reason: err.Error()}
	var fault *syntax.Error
	if !errors.As(err, &fault) {
		return e
	}
	e.Reason = fault.Code.String() + ": `" + fault.Expr + "`"
	switch {
	case fault.Code == syntax.ErrLarge, fault.Code == syntax.ErrNestingDepth:
		return errPatternTooLarge()
	case hasAnyPrefix(fault.Expr, "(?=", "(?!", "(?<=", "(?<!"):
		e.Fault = FaultLookAround
	case fault.Code == syntax.ErrInvalidEscape && hasAnyPrefix(fault.Expr, `\1`, `\2`, `\3`, `\4`, `\5`, `\6`, `\7`, `\8`, `\9`):
		e.Fault = FaultBackReference
	}
	return e
}

func errPatternTooLarge() *PatternError {
	return &PatternError{FaultTooLarge, "pattern too large"}
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// A GlobError is a malformed glob.
type GlobError struct {
	Glob   string
	Reason string // one of the Glob constants
}

// Error returns one line with the glob, quoted, and the reason.
func (e *GlobError) Error() string {
	return ErrGlob.Error() + " " + strconv.Quote(e.Glob) + ": " + e.Reason
}

// Is reports whether target is [ErrGlob].
func (e *GlobError) Is(target error) bool { return target == ErrGlob }
