package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/lineedit"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

const lineEditDescription = `Replace, insert or delete whole lines of one file by line number, or create a file. Prefer one call with several edits over several calls.
Ranges are half-open: to replace lines A..B as read numbers them, use start_line A and end_line_exclusive B+1. Equal numbers insert before that line; total_lines + 1 for both appends. All numbers are those of the original file, as if all edits happened at once; ranges must not overlap. If one edit fails, nothing is changed.
context_line is the exact content of the line before start_line, without its number: empty for line 1, the last line when appending. newText is whole lines; an empty one deletes the range. To create a file, insert at line 1 with an empty context_line.
The result has edits, changed, new_max_valid_start_line (the highest start_line that is valid for the next call) and total_bytes. If a context_line does not match, the answer holds the lines around it, in the form of read.
Names shown with a backslash are escaped (\n, \u{1b}; \\ is one backslash).`

type lineEditTool struct{ Env }

// NewLineEdit returns the tool edit in the style of line numbers. A set has
// either this or [NewEdit].
func NewLineEdit(env Env) Tool {
	t := &lineEditTool{env}
	return newEditor(env.Spool, Definition{
		Name:        "edit",
		Description: lineEditDescription,
		Tags:        []string{"shell:edit", "shell:edit:line", "shell:mutates-files"},
		Destructive: true,
	}, lineEditDisplay, t.call)
}

// lineEditDisplay shows the path and each range once.
func lineEditDisplay(a args.LineEdit) Display {
	var ranges []string
	for _, e := range a.Edits {
		r := fmt.Sprintf("%d..<%d", e.StartLine, e.EndLineExclusive)
		if !slices.Contains(ranges, r) {
			ranges = append(ranges, r)
		}
	}
	return Display{Args: escape.Path(string(a.Path)) + " " + strings.Join(ranges, ",")}
}

func (t *lineEditTool) call(ctx context.Context, call Call, a args.LineEdit, d Display) Outcome {
	return t.underLock(ctx, call, d, call.writeDir(string(a.Path)), func(ctx context.Context, call Call) Outcome {
		return t.edit(ctx, call, a, d)
	})
}

func (t *lineEditTool) edit(ctx context.Context, call Call, a args.LineEdit, d Display) Outcome {
	edits := make([]lineedit.Edit, len(a.Edits))
	for i, e := range a.Edits {
		edits[i] = lineedit.Edit{
			Start: e.StartLine, EndExclusive: e.EndLineExclusive, NewText: e.NewText, ContextLine: e.ContextLine,
		}
	}
	path, lines := string(a.Path), 0
	done, err := t.mutate(ctx, call, mutation{
		op:     workspace.OpEdit,
		path:   path,
		intent: (*guard.Policy).WriteIntent,
		apply: func(ctx context.Context, c *workspace.Change) (old []byte, err error) {
			if c.Exists() {
				if old, err = c.Read(ctx); err != nil {
					return nil, err
				}
			}
			result, err := lineedit.Apply(old, edits)
			if err != nil {
				return nil, t.lineEditError(ctx, path, old, edits, err)
			}
			if len(result.Content) > workspace.MaxEditBytes {
				return nil, cannotEdit(path, framing.CodeTooLarge, resultTooLarge, nil)
			}
			lines = result.Lines
			return result.Content, nil
		},
	})
	if err != nil {
		return Fail(ctx, err, d)
	}
	var result framing.Result
	result.AddInt("edits", int64(len(edits)))
	result.Add("changed", strconv.FormatBool(done.Changed))
	result.AddInt("new_max_valid_start_line", int64(lines)+1)
	result.AddInt("total_bytes", int64(len(done.after)))
	return Succeed(result, done.display(ctx, d, path))
}

// lineEditError returns the error of a call for that of the package lineedit.
func (t *lineEditTool) lineEditError(ctx context.Context, path string, src []byte, edits []lineedit.Edit, err error) error {
	var e *lineedit.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Reason == lineedit.TextNotASCII {
		return cannotEdit(path, e.Code, "not valid UTF-8; only ASCII text can be added", e)
	}
	failure := &framing.Error{Code: e.Code, Message: lineEditMessage(edits, e), Cause: e}
	m := e.Mismatch
	if m == nil {
		return failure
	}
	var fields framing.Result
	fields.AddInt("context_line_number", int64(m.Line))
	if m.FoundAt > 0 {
		fields.AddInt("context_line_at", int64(m.FoundAt))
	}
	if !m.ValidUTF8 {
		fields.Add("valid_utf8", "false")
	}
	if e.TotalLines == 0 {
		fields.AddInt("total_lines", 0)
		fields.AddInt("total_bytes", 0)
	}
	failure.Fields = fields.Headers
	return t.addExcerpt(ctx, failure, src, m.First, m.Last)
}

// lineEditMessage words an error of the package lineedit. The arguments have
// passed their decoder, so that some errors cannot be.
func lineEditMessage(edits []lineedit.Edit, e *lineedit.Error) string {
	edit := fmt.Sprintf("edits[%d]: ", e.Index)
	pastEnd := fmt.Sprintf(" %d is past end of file (max_valid_start_line: %d)", e.Line, e.TotalLines+1)
	switch e.Reason {
	case lineedit.StartPastEnd:
		return edit + "start_line" + pastEnd
	case lineedit.EndPastEnd:
		return edit + "end_line_exclusive" + pastEnd
	case lineedit.EditsOverlap:
		return fmt.Sprintf("edits[%d] and edits[%d] overlap", e.Index, e.Other)
	case lineedit.ContextNotEmpty:
		return edit + "context_line must be empty because start_line is 1"
	case lineedit.ContextInvalidLine:
		return edit + fmt.Sprintf("line %d is not valid UTF-8, so no context_line can match it", e.Mismatch.Line)
	case lineedit.ContextDiffers:
		message := edit + fmt.Sprintf("context_line does not match line %d", e.Mismatch.Line)
		if e.Mismatch.EqualsStart {
			message += fmt.Sprintf("; it equals line %d, but it must be the line before start_line", edits[e.Index].Start)
		}
		return message
	default:
		return e.Error()
	}
}
