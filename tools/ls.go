package tools

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/lineio"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/workspace"
	"github.com/taukit/taukit/truncate"
)

// Limits of the tool ls.
const (
	defaultLsLimit = 500     // entries shown
	maxLsNames     = 100_000 // names read
)

const lsDescription = `List a directory: all entries, dotfiles included, sorted by name without regard to case, with / after directories.
Each line of the output is NUMBER(flags) NAME. Flags: invalid-utf8 (bytes that are not UTF-8 are shown as U+FFFD), escaped (the name holds characters that are shown as \n, \u{1b} and the like; \\ is one backslash), symlink (never followed), special (FIFO, socket or device), truncated (name skipped). Without flags there are no parentheses.
At most limit entries are returned; limit_reached means that there are more, total_entries says how many there are. Output is capped at 2000 lines and 10 KiB; a truncated result carries total_lines and total_bytes and normally full_output_path, a temporary file with all selected lines.`

type lsTool struct {
	workspace *workspace.Workspace
	spool     *artifact.Spool
}

// NewLs returns the tool ls, which lists a directory. What is cut off is saved
// in the spool; a nil spool switches that off.
func NewLs(ws *workspace.Workspace, spool *artifact.Spool) Tool {
	t := &lsTool{ws, spool}
	return newSpooled(spool, Definition{
		Name:        "ls",
		Description: lsDescription,
		Tags:        []string{"shell:read", "shell:list"},
		ReadOnly:    true,
		Idempotent:  true,
	}, lsDisplay, t.call)
}

func (t *lsTool) call(ctx context.Context, call Call, a args.Ls, d Display) Outcome {
	result, err := t.list(ctx, call.Dir, a)
	if err != nil {
		return Fail(ctx, fileError(ctx, "list", lsPath(a), err), d)
	}
	d.Stats = statsOf(result.Body)
	return Succeed(result, d)
}

func lsDisplay(a args.Ls) Display {
	path, _ := escape.Field(lsPath(a))
	return Display{Args: path}
}

func lsPath(a args.Ls) string {
	if a.Path == "" {
		return "."
	}
	return string(a.Path)
}

func (t *lsTool) list(ctx context.Context, dir string, a args.Ls) (framing.Result, error) {
	d, err := t.workspace.OpenDir(ctx, dir, lsPath(a))
	if err != nil {
		return framing.Result{}, err
	}
	defer d.Close() //nolint:errcheck // nothing was written

	names, err := readNames(d, maxLsNames+1)
	if err != nil {
		return framing.Result{}, err
	}
	var result framing.Result
	if len(names) == 0 {
		result.AddInt("entries", 0)
		return result, nil
	}
	complete := len(names) <= maxLsNames
	names = sortedNames(names[:min(len(names), maxLsNames)])

	limit := defaultLsLimit
	if a.Limit != nil {
		limit = int(*a.Limit)
	}
	if len(names) > limit {
		result.AddTrue("limit_reached", true)
		if complete {
			result.AddInt("total_entries", int64(len(names)))
		}
		names = names[:limit]
	}
	result.AddTrue("incomplete_scan", !complete)

	out := newRendering(t.spool, truncate.Native)
	defer out.discard()
	var record, marker []byte
	for i, name := range names {
		if i%recordsPerCheck == 0 && ctx.Err() != nil {
			return framing.Result{}, ctx.Err()
		}
		label := strconv.Itoa(i + 1)
		shown, flags := entry(d, name)
		record = lineio.AppendRecord(record[:0], label, flags, []byte(shown))
		marker = lineio.AppendMarker(marker[:0], label, flags)
		out.add(record, marker)
	}
	if err := ctx.Err(); err != nil {
		return framing.Result{}, err
	}
	shown, saved, err := out.finish()
	if shown.Truncated {
		addTruncation(&result, shown.Lines, shown.Bytes, saved, err)
	}
	result.Body = shown.Body
	return result, nil
}

// sortedNames sorts names without regard to case, as they are shown, and those
// that are the same that way by their bytes.
func sortedNames(names []string) []string {
	type entry struct{ key, name string }
	entries := make([]entry, len(names))
	for i, name := range names {
		valid, _ := lineio.AppendValid(nil, []byte(name))
		entries[i] = entry{strings.ToLower(string(valid)), name}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.name, b.name))
	})
	for i, e := range entries {
		names[i] = e.name
	}
	return names
}

// entry returns how a directory entry is shown. One whose type cannot be had,
// because it is gone by now, keeps its plain name.
func entry(d workspace.Dir, name string) (string, lineio.Flags) {
	shown, escaped := escape.Field(name)
	var flags lineio.Flags
	for _, f := range escaped.List() {
		flags = flags.Add(f)
	}
	mode, err := d.Type(name)
	switch {
	case err != nil:
	case mode.IsDir():
		shown += "/"
	case mode&fs.ModeSymlink != 0:
		flags = flags.Add("symlink")
	case mode&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0:
		flags = flags.Add("special")
	}
	return shown, flags
}
