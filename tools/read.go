package tools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/lineio"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
	"github.com/taukit/taukit/truncate"
)

// Limits of the tool read.
const (
	MaxReadBytes      = 16 << 20 // bytes of a file
	maxRangesRendered = 2 << 20  // bytes of the native rendering of several ranges
)

// Codes of errors that only read has.
const (
	CodeReadPastEOF  = "READ_PAST_EOF"  // a range starts behind the last line
	CodeReadTooLarge = "READ_TOO_LARGE" // several ranges select too much
)

const readDescription = `Read a text file. By default the whole file is shown, and that is preferred.
Each line of the output is NUMBER(flags) TEXT; the text is literal. Flags: invalid-utf8 (bytes that are not UTF-8 are shown as U+FFFD), crlf or cr (line ending other than LF), no_nl (no newline at the end of the file), truncated (content skipped). Without flags there are no parentheses.
start_line and end_line are inclusive. ranges takes up to 100 ranges in place of them, which may overlap; their chunks are separated by one empty line. A start past the end of the file is an error; an end past it is clipped.
Output is capped at 2000 lines and 10 KiB; of more than 2000 lines the start and the end are kept around a "..." line. A truncated result carries total_lines and total_bytes of the file and normally full_output_path (or saved_output_path with its first 16 MiB), a file that is kept for a short time and holds all selected lines in this form, numbers included. Better than reading that is to read the file itself with narrower ranges.
Files over 16 MiB are refused. Names shown with a backslash are escaped (\n, \u{1b}; \\ is one backslash).`

type readTool struct{ Env }

// NewRead returns the tool read, which shows lines of a file.
func NewRead(env Env) Tool {
	t := &readTool{env}
	return newSpooled(env.Spool, Definition{
		Name:        "read",
		Description: readDescription,
		Tags:        []string{"shell:read"},
		ReadOnly:    true,
		Idempotent:  true,
	}, readDisplay, t.call)
}

func (t *readTool) call(ctx context.Context, call Call, a args.Read, d Display) Outcome {
	result, err := t.observed(ctx, call, a)
	if err != nil {
		return Fail(ctx, err, d)
	}
	if result.Body != "" {
		d.Stats = statsOf(result.Body)
	}
	return Succeed(result, d)
}

// observed reads and tells the guard what was seen, or why nothing was. Where
// links lead is found out once: the file that is read is the one that is seen.
func (t *readTool) observed(ctx context.Context, call Call, a args.Read) (framing.Result, error) {
	if t.Guard == nil {
		return t.read(ctx, call.Dir, a, string(a.Path), nil)
	}
	target, err := t.Workspace.Target(ctx, call.Dir, string(a.Path))
	if err != nil { // it is no file, which the reading tells in its own words
		return t.read(ctx, call.Dir, a, string(a.Path), nil)
	}
	var sum workspace.Digest
	result, err := t.read(ctx, call.Dir, a, target.Key, &sum)
	if err != nil {
		t.Guard.Failed(call.Agent, target, err)
		return result, err
	}
	t.Guard.Observed(call.Agent, target, guard.Observation{Present: true, Version: sum.Version()})
	return result, nil
}

// readDisplay shows the path and the ranges as they were asked for.
func readDisplay(a args.Read) Display {
	path := escape.Path(string(a.Path))
	var ranges []string
	for _, r := range a.Ranges {
		ranges = append(ranges, fmt.Sprintf("%d..%d", r.StartLine, r.EndLine))
	}
	if a.Ranges == nil {
		start, end := "", ""
		if a.EndLine != nil {
			start, end = "1", strconv.FormatInt(*a.EndLine, 10)
		}
		if a.StartLine != nil {
			start = strconv.FormatInt(*a.StartLine, 10)
		}
		ranges = []string{start + ".." + end}
	}
	return Display{Args: path + " " + strings.Join(ranges, ",")}
}

// read reads the file at a path; sum, unless it is nil, is given all of it.
func (t *readTool) read(
	ctx context.Context, dir string, a args.Read, path string, sum *workspace.Digest,
) (framing.Result, error) {
	ranges := rangesOf(a)
	excerpt, err := t.scan(ctx, dir, a, path, sum)
	if err != nil {
		return framing.Result{}, err
	}
	for _, r := range ranges {
		if r.StartLine > int64(max(excerpt.lines, 1)) {
			return framing.Result{}, pastEOF(r.StartLine, excerpt.lines)
		}
	}
	if len(ranges) > 1 && excerpt.renderedSize(ranges) > maxRangesRendered {
		return framing.Result{}, &framing.Error{
			Code:    CodeReadTooLarge,
			Message: fmt.Sprintf("ranges select more than %d bytes of output; request fewer or smaller ranges", maxRangesRendered),
		}
	}
	return t.render(ctx, excerpt, ranges)
}

// rangesOf returns the ranges that a call asks for.
func rangesOf(a args.Read) []args.LineRange {
	if a.Ranges != nil {
		return a.Ranges
	}
	r := args.LineRange{StartLine: 1, EndLine: math.MaxInt64}
	if a.StartLine != nil {
		r.StartLine = *a.StartLine
	}
	if a.EndLine != nil {
		r.EndLine = *a.EndLine
	}
	return []args.LineRange{r}
}

func pastEOF(start int64, lines int) error {
	total := strconv.Itoa(lines)
	return &framing.Error{
		Code:    CodeReadPastEOF,
		Message: fmt.Sprintf("start_line %d is past end of file (total_lines: %s)", start, total),
		Fields:  []framing.Header{{Key: "total_lines", Value: total}},
	}
}

// scan opens and reads the file, with the errors of the tool.
func (t *readTool) scan(
	ctx context.Context, dir string, a args.Read, path string, sum *workspace.Digest,
) (*excerpt, error) {
	f, err := t.Workspace.Open(ctx, dir, path)
	if err != nil {
		return nil, t.hinted(ctx, dir, string(a.Path), err)
	}
	defer f.Close() //nolint:errcheck // nothing was written

	excerpt, err := scanExcerpt(f, rangesOf(a), MaxReadBytes, sum)
	if errors.Is(err, errTooLarge) {
		return nil, &framing.Error{
			Code:    framing.CodeTooLarge,
			Message: fmt.Sprintf("cannot read %s: file exceeds %d bytes", escape.QuotePath(string(a.Path)), MaxReadBytes),
		}
	}
	if err != nil {
		return nil, fileError(ctx, "read", string(a.Path), err)
	}
	return excerpt, nil
}

// hinted returns the error of a file that could not be opened, with what a
// caller can do about it if there is room for that.
func (t *readTool) hinted(ctx context.Context, dir, path string, err error) error {
	failure := fileError(ctx, "read", path, err)
	var e *framing.Error
	if !errors.As(failure, &e) {
		return failure
	}
	hint := ""
	switch e.Code {
	case framing.CodeIsDirectory:
		hint = "; use ls to list it"
	case framing.CodeNotFound:
		if near, ok := suggest(ctx, t.Workspace, dir, path); ok {
			hint = "; did you mean " + escape.QuotePath(near) + "?"
		}
	}
	if len(e.Message)+len(hint) <= framing.MaxMessageBytes {
		e.Message += hint
	}
	return e
}

// render renders the ranges within the native budget.
func (t *readTool) render(ctx context.Context, x *excerpt, ranges []args.LineRange) (framing.Result, error) {
	var result framing.Result
	if !x.valid {
		result.Add("valid_utf8", "false")
	}
	if x.lines == 0 {
		result.AddInt("total_lines", 0)
		result.AddInt("total_bytes", 0)
		return result, nil
	}
	out := newRendering(t.Spool, truncate.Native)
	defer out.discard()
	var record, marker []byte
	n := 0
	for l := range x.chunks(ranges) {
		if n%recordsPerCheck == 0 && ctx.Err() != nil {
			return framing.Result{}, ctx.Err()
		}
		n++
		if l.Number == 0 {
			out.add(nil, nil)
			continue
		}
		record = lineio.AppendLine(record[:0], l)
		marker = lineio.AppendLineMarker(marker[:0], l)
		out.add(record, marker)
	}
	if err := ctx.Err(); err != nil {
		return framing.Result{}, err
	}
	shown, saved, err := out.finish()
	if shown.Truncated {
		addTruncation(&result, x.lines, x.bytes, saved, err)
	}
	result.Body = shown.Body
	return result, nil
}
