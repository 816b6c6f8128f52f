package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/diff"
	"github.com/taukit/taukit/tools/workspace"
)

// maxNotes is how many notes a result shows.
const maxNotes = 10

const patchDescription = `Change files with a patch. The argument is the patch itself:

*** Begin Patch
*** Add File: path/new.txt
+every line of a new file starts with +
*** Delete File: path/old.txt
*** Update File: path/file.go
*** Move to: path/renamed.go
@@ func main() {
 a line of context
-a line to remove
+a line to add
*** End Patch

*** Move to: is optional and stands directly under *** Update File:. Show three lines of context around a change; where they are not unique, put lines to look for above it, as in "@@ func main() {". Hunks follow the order of the file. Add File and Move to refuse a destination that exists.
Lines must match the file exactly; whitespace at their ends, or the indentation of context, may differ if only one place fits. Line endings are those of the file.
%s
The result lists the paths, one a line after A (added), M (modified or moved) or D (deleted), and notes about doubtful places. An error tells what was expected and what the file has there.
Names shown with a backslash are escaped (\n, \u{1b}; \\ is one backslash).`

// What the description says of the modes.
const (
	atomicPatches     = "The patch is checked as a whole first, and applied only if all of it fits."
	sequentialPatches = "Sections are applied one by one, up to the first that does not fit."
)

type patchTool struct {
	Env
	mode       patch.Mode
	definition Definition
}

// NewApplyPatch returns the tool apply_patch, which changes any number of files
// with one patch. By default nothing changes unless all of the patch fits;
// with [patch.Sequential] the sections before one that does not fit stay
// applied, and are reported.
func NewApplyPatch(env Env, mode patch.Mode) Tool {
	order := atomicPatches
	if mode == patch.Sequential {
		order = sequentialPatches
	}
	return &patchTool{env, mode, Definition{
		Name:        "apply_patch",
		Description: fmt.Sprintf(patchDescription, order),
		Schema:      json.RawMessage(args.PatchSchema()),
		Freeform:    true,
		Tags:        []string{"shell:edit", "shell:edit:apply_patch", "shell:mutates-files"},
		Destructive: true,
	}}
}

func (t *patchTool) Definition() Definition { return t.definition }

func (t *patchTool) Call(ctx context.Context, call Call) Outcome {
	t.Spool.Call()
	text, err := args.DecodePatch(call.Arguments)
	if err != nil {
		return Fail(ctx, err, Display{})
	}
	p, err := patch.Parse(text)
	if err != nil {
		return Fail(ctx, patchError(ctx, patch.Result{}, err), Display{})
	}
	resolve := func() ([]string, error) { return patchDirs(call.Dir, p.Targets()) }
	applied := false
	out := t.underLock(ctx, call, Display{}, resolve, func(ctx context.Context, call Call) Outcome {
		applied = true
		result, err := t.apply(ctx, call, p)
		d := patchDisplay(result.Changes)
		if err != nil {
			return Fail(ctx, patchError(ctx, result, err), d)
		}
		return Succeed(framing.Result{Body: patchBody(result)}, d)
	})
	if !applied {
		return Fail(ctx, unchanged(out.Error), out.Display)
	}
	return out
}

// unchanged returns an error that says that nothing was changed, behind what else
// it says. A cancellation says that already.
func unchanged(e *framing.Error) *framing.Error {
	if e.Code == framing.CodeCancelled {
		return e
	}
	told := *e
	told.Fields = append(slices.Clip(e.Fields), framing.Header{Key: "changed", Value: "false"})
	return &told
}

// patchDirs returns the directories to lock for a patch.
func patchDirs(base string, targets []patch.Target) (dirs []string, err error) {
	for _, t := range targets {
		resolve := dirlock.WriteDir
		if t.Role == patch.Source {
			resolve = dirlock.EntryDir
		}
		dir, err := resolve(base, t.Path)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	return dirlock.Normalize(dirs), nil
}

func (t *patchTool) apply(ctx context.Context, call Call, p *patch.Patch) (patch.Result, error) {
	files, err := t.openPatched(ctx, call, p.Targets())
	if err != nil {
		return patch.Result{}, err
	}
	defer files.close()
	result, err := patch.Apply(ctx, files, p, patch.Options{
		Mode:   t.mode,
		Escape: escapeField,
		Judge:  files.judge,
	})
	files.observe(result.Changes, err)
	return result, err
}

func escapeField(s string) string {
	escaped, _ := escape.Field(s)
	return escaped
}

// patchBody lists what was changed, and what is doubtful about it.
func patchBody(r patch.Result) string {
	lines := []string{"Success. No files were changed."}
	if len(r.Changes) > 0 {
		lines = append([]string{"Success. Updated the following files:"}, changeList(r.Changes)...)
	}
	for _, n := range r.Notes[:min(len(r.Notes), maxNotes)] {
		lines = append(lines, fmt.Sprintf("note: %s hunk %d %s", escapeField(n.Path), n.Hunk, noteText(n)))
	}
	if more := len(r.Notes) - maxNotes; more > 0 {
		lines = append(lines, fmt.Sprintf("note: %d more", more))
	}
	return strings.Join(lines, "\n")
}

// changeList returns a line for each change: additions, then modifications, then
// deletions.
func changeList(changes []patch.Change) []string {
	var lines []string
	for _, status := range []byte("AMD") {
		for _, c := range changes {
			if c.Status == status {
				lines = append(lines, string(status)+" "+escapeField(c.Path))
			}
		}
	}
	return lines
}

func noteText(n patch.Note) string {
	switch n.Kind {
	case patch.TrailingSpace:
		return fmt.Sprintf("matched ignoring trailing whitespace at line %d", n.Line)
	case patch.Indentation:
		return fmt.Sprintf("matched ignoring context indentation at line %d", n.Line)
	default:
		return fmt.Sprintf("matched %d places; used line %d", n.Places, n.Line)
	}
}

// patchDisplay shows what was changed; nothing if that is nothing.
func patchDisplay(changes []patch.Change) Display {
	if len(changes) == 0 {
		return Display{}
	}
	d := Display{Args: escape.Path(changes[0].Path), Figures: fmt.Sprintf(" %dF", len(changes))}
	if len(changes) > 1 {
		d.Args += ",…"
	}
	var sum diff.Summary
	room := diff.DefaultPayload // for all of them
	for _, c := range changes {
		path := escapeField(c.Path)
		d.Changes = append(d.Changes, Change{string(c.Status), path})
		if !c.Text {
			continue
		}
		s := diff.Within(c.Before, c.After, room)
		if s.Added+s.Removed == 0 {
			continue
		}
		if room -= (diff.Payload{Diff: &s}).EncodedLen(); s.Truncated {
			room = 0
		}
		d.Diffs.Files = append(d.Diffs.Files, diff.File{Path: path, Summary: s})
		sum.Added += s.Added
		sum.Removed += s.Removed
	}
	if len(d.Diffs.Files) > 0 {
		d.Figures += " " + sum.Chip()
	}
	return d
}

// patchError returns the error of a call that has made some changes, or none.
func patchError(ctx context.Context, r patch.Result, err error) error {
	e := knownPatchError(ctx, err)
	if len(r.Changes) == 0 {
		return unchanged(e)
	}
	failure := &framing.Error{Code: e.Code, Message: e.Message, Output: e.Output, Cause: e.Cause}
	failure.Fields = append(slices.Clone(e.Fields),
		framing.Header{Key: "partial", Value: "true"},
		framing.Header{Key: "files_changed", Value: strconv.Itoa(len(r.Changes))},
	)
	output := append([]string{"Partial changes applied before failure:"}, changeList(r.Changes)...)
	if e.Output != "" {
		output = append(output, "", e.Output)
	}
	failure.Output = strings.Join(output, "\n")
	return failure
}

// knownPatchError returns an error of the package patch, or of what it called,
// as a framing.Error.
func knownPatchError(ctx context.Context, err error) *framing.Error {
	var parse *patch.ParseError
	var e *patch.Error
	var lost *framing.Error
	switch {
	case errors.As(err, &lost) && lost.Code == dirlock.CodeLost:
		return lost
	case errors.As(err, &parse):
		return &framing.Error{Code: parse.Code, Message: parse.Message(escapeField), Cause: parse}
	case errors.As(err, &e):
		failure := &framing.Error{Code: e.Code, Message: e.Msg, Output: e.Excerpt, Cause: e}
		if e.Code == patch.CodeStaleVersion { // the guard knows only the errors of a workspace
			failure.Cause = errors.Join(e, workspace.ErrStaleVersion)
		}
		return failure
	default:
		return asError(ctx, err)
	}
}
