package patch

import (
	"context"
	"io/fs"
)

// Options are what can be chosen about [NewPlan] and [Apply]. The zero value is
// right for most.
type Options struct {
	Mode  Mode // of Apply
	Match Match

	// Escape makes a name or a line of a patch fit for a message of one line.
	// Double quotes are escaped after it, where they must be. The default
	// escapes backslashes and control characters: \\, \n, \r, \t and \u{1b}.
	Escape func(string) string

	// Judge, if set, may refuse a section. It is asked once for each, and once
	// more for the new name of a move, after this package has refused a name
	// that is taken or a file of the wrong kind or size, and before it reports
	// a missing file or a hunk that does not fit. Its error ends the call and is
	// returned as it is.
	Judge func(ctx context.Context, s Subject) error

	// Check, if set, is asked immediately before each step that others can see:
	// a directory is made, or a file is published, renamed or removed. Its error
	// ends the call and is returned as it is.
	Check func(ctx context.Context) error
}

// A Mode says when [Apply] writes.
type Mode uint8

// The modes.
const (
	Atomic     Mode = iota // after all sections were found to fit
	Sequential             // after each section, so that those before one that fails are applied
)

// A Subject is what a section is about to change, for [Options].Judge.
type Subject struct {
	Target
	Key     string      // of its file
	Creates bool        // the file is made: that of an Add, and the new name of a move
	Exists  bool        // there is one
	Type    fs.FileMode // what it is: 0 is a regular file, fs.ModeSymlink a link
	Data    []byte      // its content, nil if it was not read; it must not be changed
	Seen    bool        // an earlier section of the patch has made it what it is
	Last    []byte      // its content as that section was applied and left it; nil if none was, or it is not known
}
