package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/replace"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

// Limits of what a failed edit shows.
const (
	maxMatchLines   = 5  // line numbers of an ambiguous text
	maxExcerptLines = 20 // lines of the place that may have been meant
)

const editDescription = `Replace exact texts in one existing UTF-8 file. Prefer one call with several edits over several calls.
Each oldText must occur exactly once in the file. All edits are matched against the original content, not against the result of earlier ones, and must not overlap; if one fails, nothing is changed.
Copy text from read without the line number and flags at the start of its lines. Whitespace must be exact; line endings need not be: LF matches CRLF and CR, and new lines get the ending that the file has there. An empty newText deletes.
The result has edits, changed and total_bytes (of the file afterwards). If a text was not found, the answer may hold lines of the file near it, in the form of read.
Names shown with a backslash are escaped (\n, \u{1b}; \\ is one backslash).`

type editTool struct{ Env }

// NewEdit returns the tool edit in the style of exact text. Its internal name
// is "replace".
func NewEdit(env Env) Tool {
	t := &editTool{env}
	return newEditor(env.Spool, Definition{
		Name:        "edit",
		Internal:    "replace",
		Description: editDescription,
		Tags:        []string{"shell:edit", "shell:edit:replace", "shell:mutates-files"},
		Destructive: true,
	}, func(a args.Edit) Display { return Display{Args: escape.Path(string(a.Path))} }, t.call)
}

func (t *editTool) call(ctx context.Context, call Call, a args.Edit, d Display) Outcome {
	return t.underLock(ctx, call, d, call.writeDir(string(a.Path)), func(ctx context.Context, call Call) Outcome {
		return t.edit(ctx, call, a, d)
	})
}

func (t *editTool) edit(ctx context.Context, call Call, a args.Edit, d Display) Outcome {
	edits := make([]replace.Edit, len(a.Edits))
	for i, e := range a.Edits {
		edits[i] = replace.Edit(e)
	}
	path := string(a.Path)
	done, err := t.mutate(ctx, call, mutation{
		op:     workspace.OpEdit,
		path:   path,
		intent: (*guard.Policy).EditIntent,
		apply: func(ctx context.Context, c *workspace.Change) ([]byte, error) {
			old, err := c.Read(ctx)
			if err != nil {
				return nil, err
			}
			result, err := replace.Apply(ctx, old, edits)
			if err != nil {
				return nil, t.replaceError(ctx, path, old, err)
			}
			return result.Content, nil
		},
	})
	if errors.Is(err, workspace.ErrNoFileName) { // the texts are those of a file
		err = cannotEdit(path, framing.CodeNotFound, "no such file or directory", fs.ErrNotExist)
	}
	if err != nil {
		return Fail(ctx, err, d)
	}
	var result framing.Result
	result.AddInt("edits", int64(len(edits)))
	result.Add("changed", strconv.FormatBool(done.Changed))
	result.AddInt("total_bytes", int64(len(done.after)))
	return Succeed(result, done.display(ctx, d, path))
}

// replaceError returns the error of a call for that of the package replace.
func (t *editTool) replaceError(ctx context.Context, path string, src []byte, err error) error {
	var e *replace.Error
	if !errors.As(err, &e) {
		return err
	}
	failure := &framing.Error{Code: e.Code, Message: e.Error(), Cause: e}
	switch e.Code {
	case replace.CodeInvalidUTF8, replace.CodeTooLarge:
		return cannotEdit(path, e.Code, e.Error(), e)
	case replace.CodeAmbiguousMatch:
		failure.Fields = []framing.Header{{Key: "match_lines", Value: matchLines(e.MatchLines)}}
	case replace.CodeNoMatch:
		if e.Hint == "" {
			break
		}
		failure.Fields = []framing.Header{
			{Key: "hint", Value: string(e.Hint)},
			{Key: "near_line", Value: strconv.Itoa(e.NearLine)},
		}
		first := e.NearLine - 2
		last := min(e.NearLine+e.NearCount+1, max(first, 1)+maxExcerptLines-1)
		return t.addExcerpt(ctx, failure, src, first, last)
	}
	return failure
}

// resultTooLarge is the reason to refuse content that the editors could not take
// again.
var resultTooLarge = fmt.Sprintf("result exceeds %d bytes", workspace.MaxEditBytes)

// cannotEdit returns the error of content that cannot be edited.
func cannotEdit(path, code, reason string, err error) error {
	return &workspace.Error{Code: code, Op: workspace.OpEdit, Path: path, Reason: reason, Err: err}
}

// matchLines lists the first of the lines.
func matchLines(lines []int) string {
	var list []string
	for _, n := range lines[:min(len(lines), maxMatchLines)] {
		list = append(list, strconv.Itoa(n))
	}
	if len(lines) > maxMatchLines {
		list = append(list, "…")
	}
	return strings.Join(list, ",")
}
