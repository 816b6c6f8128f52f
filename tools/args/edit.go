package args

import (
	"errors"

	"github.com/taukit/taukit/lineedit"
)

// Edit is the arguments of the tool edit in the style of exact text.
type Edit struct {
	Path  Path       `json:"path" description:"File to edit; relative paths start at the working directory."`
	Edits []TextEdit `json:"edits" limits:"minItems=1 maxItems=100" description:"All edits of the file, matched against its original content."`
}

// A TextEdit replaces one exact text.
type TextEdit struct {
	OldText string `json:"oldText" limits:"minLength=1" description:"Text that occurs exactly once in the file, whitespace included."`
	NewText string `json:"newText" description:"Text to put in its place; empty to delete it."`
}

// LineEdit is the arguments of the tool edit in the style of line numbers.
type LineEdit struct {
	Path  Path        `json:"path" description:"File to edit or create; relative paths start at the working directory."`
	Edits []RangeEdit `json:"edits" limits:"minItems=1 maxItems=100" description:"All edits of the file, by the line numbers of its original content."`
}

// A RangeEdit replaces the lines of a half-open range.
type RangeEdit struct {
	StartLine        int64  `json:"start_line" limits:"minimum=1" description:"First line to replace, from 1; total_lines + 1 to append."`
	EndLineExclusive int64  `json:"end_line_exclusive" limits:"minimum=1 notBelow=start_line" description:"Line after the last one to replace; equal to start_line to insert before that line."`
	NewText          string `json:"newText" description:"Whole lines to put there; empty to delete the range."`
	ContextLine      string `json:"context_line" description:"Exact content of the line before start_line; empty if start_line is 1."`
}

// Check refuses a context of several lines.
func (e RangeEdit) Check() error {
	if _, ok := lineedit.TrimContext(e.ContextLine); !ok {
		return errors.New("context_line must be a single line")
	}
	return nil
}

// Hint tells those who take the ranges of read for those of edit.
func (RangeEdit) Hint(field string) string {
	if field != "end_line" {
		return ""
	}
	return "read ranges include their last line but edit ranges do not: for read lines A..B use start_line A, end_line_exclusive B+1"
}
