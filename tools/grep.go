package tools

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/search"
	"github.com/taukit/taukit/tools/args"
)

const defaultGrepLimit = 100 // matching lines

const grepDescription = `Search files for lines that match a pattern: a regular expression in RE2 syntax (no look-around or back-references), or with literal: true the text as it is. A match lies within one line.
Ignore files are respected (a file named in path is always searched), hidden files are searched, directories of version control and binary files are not. glob limits the files.
Results are grouped under a heading with the path, which read and edit take as it is: LINE:CONTENT for a match, LINE-CONTENT for context. Content is literal; paths are escaped (\n, \u{1b}; \\ is one backslash) and marked "(invalid-utf8) " when they are not exact.
At most limit matches and 10 KiB are shown; the whole result is normally saved under full_output_path. Long lines are shortened to 500 characters around the match. status is 0 for matches, 1 for none, 2 if something could not be read.`

type grepTool struct{ Env }

// NewGrep returns the tool grep, which searches files of the host for lines
// that match a pattern.
func NewGrep(env Env) Tool {
	t := &grepTool{env}
	return newSpooled(env.Spool, Definition{
		Name:        "grep",
		Description: grepDescription,
		Tags:        []string{"shell:read", "shell:search"},
		ReadOnly:    true,
		Idempotent:  true,
	}, grepDisplay, t.call)
}

// grepDisplay shows the pattern, the path and the glob.
func grepDisplay(a args.Grep) Display {
	d := Display{Args: escape.QuotePath(a.Pattern) + " in " + shownPath(a.Path)}
	if a.Glob != "" {
		d.Args += " [" + escape.Path(a.Glob) + "]"
	}
	return d
}

func (t *grepTool) call(ctx context.Context, call Call, a args.Grep, d Display) Outcome {
	g := &grep{limit: defaultGrepLimit}
	if a.Limit != nil {
		g.limit = int(*a.Limit)
	}
	result, err := t.grep(ctx, call, a, g)
	if err != nil {
		return Fail(ctx, err, d)
	}
	d.Stats = statsOf(result.Body)
	d.Stats.Matches = g.matches
	d.Figures = counted(g.matches, g.limited, "match", "matches")
	return Succeed(result, d)
}

// A grep is a search and what it has found.
type grep struct {
	*hunt
	options search.GrepOptions
	limit   int

	records []string
	matches int
	limited bool // there are more
	changes search.Changes
}

func (t *grepTool) grep(ctx context.Context, call Call, a args.Grep, g *grep) (framing.Result, error) {
	pattern, err := search.Compile(a.Pattern, search.PatternOptions{Literal: a.Literal, IgnoreCase: a.IgnoreCase})
	if err != nil {
		return framing.Result{}, patternError(err)
	}
	var filter *search.Filter
	if a.Glob != "" {
		if filter, err = search.CompileFilter(a.Glob); err != nil {
			return framing.Result{}, globError(err)
		}
	}
	if g.hunt, err = t.newHunt(ctx, call, a.Path); err != nil {
		return framing.Result{}, err
	}
	g.options = search.GrepOptions{
		WalkOptions: search.WalkOptions{Root: g.root, Base: g.base(call), Filter: filter, Errors: g.skipped},
		Pattern:     pattern,
		Limit:       g.limit,
		ForRecords:  true,
	}
	if a.Context != nil {
		g.options.Context = int(*a.Context)
	}
	if err := g.run(); err != nil {
		return framing.Result{}, err
	}
	return g.result(a)
}

// patternError returns the error of a pattern that cannot be compiled.
func patternError(err error) error {
	var e *search.PatternError
	if !errors.As(err, &e) {
		return err
	}
	message := e.Error() // it quotes the pattern as it is
	if e.Fault == search.FaultSyntax {
		message += "; use literal: true to search for the text as it is"
	}
	return &framing.Error{Code: CodeSearchPattern, Message: message, Cause: err}
}

// run searches and renders what it finds.
func (g *grep) run() error {
	var record []byte
	for file, err := range search.Grep(g.ctx, g.options) {
		switch {
		case errors.Is(err, search.ErrLimit):
			g.limited = true
		case err != nil:
			return g.failure(err)
		}
		if len(file.Lines) == 0 {
			continue
		}
		if !file.Continued {
			g.add(search.AppendHeading(record[:0], escapedPath(g.display(file.Path))))
		}
		for _, l := range file.Lines {
			g.add(search.AppendLine(record[:0], l))
			if l.Match {
				g.matches++
			}
		}
	}
	return g.ctx.Err()
}

func (g *grep) add(record []byte, c search.Changes) {
	g.records = append(g.records, string(record))
	g.changes.Shortened = g.changes.Shortened || c.Shortened
	g.changes.Replaced = g.changes.Replaced || c.Replaced
}

// Exit statuses of grep.
const (
	grepFound    = "0"
	grepNone     = "1"
	grepUnread   = "2"
	noMatches    = "no matches found"
	notLiteral   = "The pattern is a regular expression; the same text occurs literally. Use literal: true."
	metacharList = "\\.+*?()|[]{}^$"
)

func (g *grep) result(a args.Grep) (framing.Result, error) {
	var r framing.Result
	status := grepFound
	if g.matches == 0 {
		status = grepNone
		g.records = []string{noMatches}
	}
	if g.unsearched > 0 {
		status = grepUnread
	}
	r.Add("status", status)
	r.AddInt("matches", int64(g.matches))
	r.AddTrue("limit_reached", g.limited)
	if g.unsearched > 0 {
		r.AddInt("unsearched", int64(g.unsearched))
	}
	b := searchBody{
		records: g.records,
		budget:  "10 KiB visible output limit reached.",
		others:  []string{g.shortenedNotice(), g.replacedNotice(), g.unsearchedNotice()},
		cut:     cutGrep,
	}
	if g.limited {
		b.limit = limitNotice(g.limit, "matches", "pattern")
	}
	if g.matches == 0 {
		literally, err := g.occursLiterally(a)
		if err != nil {
			return r, err
		}
		if literally {
			b.others = append(b.others, notLiteral)
		}
	}
	return r, g.body(&r, b)
}

func (g *grep) shortenedNotice() string {
	if !g.changes.Shortened {
		return ""
	}
	return "Some lines truncated to " + strconv.Itoa(search.RecordChars) + " chars. Use read tool to see full lines."
}

func (g *grep) replacedNotice() string {
	if !g.changes.Replaced {
		return ""
	}
	return "Some lines contain invalid UTF-8, shown as U+FFFD."
}

// occursLiterally reports whether a regular expression that matches nothing is
// there as a text.
func (g *grep) occursLiterally(a args.Grep) (bool, error) {
	if a.Literal || !strings.ContainsAny(a.Pattern, metacharList) {
		return false, nil
	}
	pattern, err := search.Compile(a.Pattern, search.PatternOptions{Literal: true, IgnoreCase: a.IgnoreCase})
	if err != nil {
		return false, nil //nolint:nilerr // then it cannot be told
	}
	o := g.options
	o.Pattern, o.Context, o.Limit, o.Errors = pattern, 0, 1, nil
	for file, err := range search.Grep(g.ctx, o) {
		if len(file.Lines) > 0 || errors.Is(err, search.ErrLimit) {
			return true, g.ctx.Err()
		}
		if err != nil {
			return false, g.failure(err)
		}
	}
	return false, g.ctx.Err()
}

// cutGrep returns the longest prefix of whole records that fits with a marker
// behind it. A heading does not come last: nothing would stand under it.
func cutGrep(records []string, bytes int) string {
	size, n := len(truncationMarker), 0
	for n < len(records) && size+len(records[n])+1 <= bytes {
		size += len(records[n]) + 1
		n++
	}
	if n > 0 && isHeading(records, n-1) {
		n--
	}
	return strings.Join(append(records[:n:n], truncationMarker), "\n")
}

// isHeading reports whether a record is the path of a file: it does not begin
// with the number of a line.
func isHeading(records []string, i int) bool {
	rest := strings.TrimLeft(records[i], "0123456789")
	return rest == records[i] || !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "-")
}
