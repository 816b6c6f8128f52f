// Package diff describes changes of text for people to look at: hunks of
// lines with the changed words marked, and totals.
//
// The data is raw file text and for user interfaces only. Making it safe for a
// terminal is the interface's duty, and nothing here reaches a model.
package diff

import "strconv"

// A Kind says what became of a line or a part of one.
type Kind string

// The kinds. Lines may be of any kind; segments are never [Modify].
const (
	Equal  Kind = "equal"
	Remove Kind = "remove"
	Add    Kind = "add"
	Modify Kind = "modify" // one line changed into one other
)

// An Ending is how a line ends. The zero value is LF.
type Ending string

// The endings other than LF.
const (
	CRLF Ending = "crlf"
	CR   Ending = "cr"
	None Ending = "none"
)

// A Payload is what a user interface gets of the changes of a call. At most
// one field is set: Diff for the one file that the call names, Files for
// several, Text for a note in place of a diff. The zero Payload means that
// there is nothing to show.
//
// In JSON it is the diff itself, or an object with the member "files" or
// "text".
type Payload struct {
	Diff  *Summary
	Files []File
	Text  string
}

// A File is the change of one of several files. Path is an escaped field.
type File struct {
	Path    string  `json:"path"`
	Summary Summary `json:"diff"`
}

// A Summary is the change of one file.
type Summary struct {
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
	Hunks   []Hunk `json:"hunks"`
	// Truncated says that the hunks would take too much and were left out. [Fit],
	// and the encoding of a [Payload], put a note in the place of such a diff.
	Truncated bool `json:"-"`
}

// Chip returns the totals as in "+3/-1".
func (s Summary) Chip() string {
	return "+" + strconv.Itoa(s.Added) + "/-" + strconv.Itoa(s.Removed)
}

// A Hunk is a run of changed lines with equal lines around them. Starts are
// 1-based line numbers; where a count is 0, the start is the line before.
type Hunk struct {
	OldStart int    `json:"old_start"`
	OldCount int    `json:"old_count"`
	NewStart int    `json:"new_start"`
	NewCount int    `json:"new_count"`
	Lines    []Line `json:"lines"`
}

// A Line is one line of a hunk. Text and Ending are set for all kinds but
// [Modify], which has the two sides in Old and New.
type Line struct {
	Kind      Kind
	Text      string // without its ending
	Ending    Ending
	Old, New  []Segment
	OldEnding Ending
	NewEnding Ending
}

// A Segment is a part of a modified line.
type Segment struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}
