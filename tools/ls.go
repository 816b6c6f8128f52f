package tools

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

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
At most limit entries are returned; limit_reached means that there are more entries, and total_entries says how many there are. incomplete_scan means that only the first 100000 were looked at. Output is capped at 2000 lines and 10 KiB; a truncated result carries total_lines and total_bytes and normally full_output_path, a file that is kept for a short time and holds all selected lines in this form: read it with narrow ranges or grep it.`

type lsTool struct{ Env }

// NewLs returns the tool ls, which lists a directory.
func NewLs(env Env) Tool {
	t := &lsTool{env}
	return newSpooled(env.Spool, Definition{
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
	return Display{Args: escape.Path(lsPath(a))}
}

func lsPath(a args.Ls) string {
	if a.Path == "" {
		return "."
	}
	return string(a.Path)
}

func (t *lsTool) list(ctx context.Context, dir string, a args.Ls) (framing.Result, error) {
	d, err := t.Workspace.OpenDir(ctx, dir, lsPath(a))
	if err != nil {
		return framing.Result{}, err
	}
	defer d.Close() //nolint:errcheck // nothing was written

	entries, err := readEntries(d, maxLsNames+1)
	if err != nil {
		return framing.Result{}, err
	}
	var result framing.Result
	if len(entries) == 0 {
		result.AddInt("entries", 0)
		return result, nil
	}
	complete := len(entries) <= maxLsNames
	entries = sorted(entries[:min(len(entries), maxLsNames)])

	limit := defaultLsLimit
	if a.Limit != nil {
		limit = int(*a.Limit)
	}
	if len(entries) > limit {
		result.AddTrue("limit_reached", true)
		if complete {
			result.AddInt("total_entries", int64(len(entries)))
		}
		entries = entries[:limit]
	}
	result.AddTrue("incomplete_scan", !complete)

	out := newRendering(t.Spool, truncate.Native)
	defer out.discard()
	var record, marker []byte
	for i, e := range entries {
		if i%recordsPerCheck == 0 && ctx.Err() != nil {
			return framing.Result{}, ctx.Err()
		}
		label := strconv.Itoa(i + 1)
		shown, flags := showEntry(e)
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

// Reading a directory goes on in batches, with a look at the context before
// each of them.
const (
	entriesPerBatch = 1024
	maxEmptyBatches = 100 // in a row, before a directory counts as broken
)

// readEntries returns the entries of a directory, at most limit of them.
func readEntries(d workspace.Dir, limit int) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	for empty := 0; len(entries) < limit; {
		batch, err := d.ReadDir(min(entriesPerBatch, limit-len(entries)))
		entries = append(entries, batch...)
		if errors.Is(err, io.EOF) {
			break
		}
		if empty++; len(batch) > 0 {
			empty = 0
		}
		if err == nil && empty == maxEmptyBatches {
			err = io.ErrNoProgress
		}
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// sorted sorts entries by name without regard to case, as names are shown, and
// those that are the same that way by their bytes.
func sorted(entries []fs.DirEntry) []fs.DirEntry {
	type keyed struct {
		key   string
		entry fs.DirEntry
	}
	list := make([]keyed, len(entries))
	for i, e := range entries {
		valid, _ := lineio.AppendValid(nil, []byte(e.Name()))
		list[i] = keyed{strings.ToLower(string(valid)), e}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.entry.Name(), b.entry.Name()))
	})
	for i, k := range list {
		entries[i] = k.entry
	}
	return entries
}

// showEntry returns how a directory entry is shown, and its flags. One whose
// type is not known keeps its plain name.
func showEntry(e fs.DirEntry) (string, lineio.Flags) {
	shown, escaped := escape.Field(e.Name())
	var flags lineio.Flags
	for _, f := range escaped.List() {
		flags = flags.Add(f)
	}
	switch mode := e.Type(); {
	case mode.IsDir():
		shown += "/"
	case mode&fs.ModeSymlink != 0:
		flags = flags.Add("symlink")
	case mode&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0:
		flags = flags.Add("special")
	}
	return shown, flags
}
