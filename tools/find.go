package tools

import (
	"context"
	"path/filepath"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/search"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/truncate"
)

const (
	defaultFindLimit = 1000 // paths
	noFiles          = "no files found matching pattern"
)

const findDescription = `Find files by name, never directories (use ls for these). Paths are relative to path, in the order of their names without regard to case.
A pattern without / matches the name at any depth, one with / the whole relative path. * matches any run of characters but /, ? one, [a-z] one of a class, {a,b} alternatives, and ** any number of directories, also none.
Ignore files are respected, hidden files are found, directories of version control are not entered.
One path a line, escaped (\n, \u{1b}; \\ is one backslash), with "(invalid-utf8) " in front when it is not exact, and (truncated) in place of one that did not fit. At most limit paths are found, and 2000 lines and 10 KiB shown; the whole result is normally saved under full_output_path.`

type findTool struct{ Env }

// NewFind returns the tool find, which finds files of the host by name.
func NewFind(env Env) Tool {
	t := &findTool{env}
	return newSpooled(env.Spool, Definition{
		Name:        "find",
		Description: findDescription,
		Tags:        []string{"shell:read", "shell:search"},
		ReadOnly:    true,
		Idempotent:  true,
	}, func(a args.Find) Display {
		return Display{Args: escape.Path(a.Pattern) + " in " + shownPath(a.Path)}
	}, t.call)
}

func (t *findTool) call(ctx context.Context, call Call, a args.Find, d Display) Outcome {
	limit := defaultFindLimit
	if a.Limit != nil {
		limit = int(*a.Limit)
	}
	paths, limited, h, err := t.find(ctx, call, a, limit)
	if err != nil {
		return Fail(ctx, err, d)
	}
	result, err := h.found(paths, limited)
	if err != nil {
		return Fail(ctx, err, d)
	}
	d.Stats = statsOf(result.Body)
	d.Stats.Matches = len(paths)
	d.Figures = counted(len(paths), limited, "file", "files")
	return Succeed(result, d)
}

// find returns the records of the first files that match, at most limit, and
// whether there are more.
func (t *findTool) find(ctx context.Context, call Call, a args.Find, limit int) (paths []string, limited bool, h *hunt, err error) {
	root := filepath.ToSlash(filepath.Clean(t.Workspace.Resolve(call.Dir, a.Path)))
	glob, err := search.CompileGlob(search.RelativeGlob(a.Pattern, root))
	if err != nil {
		return nil, false, nil, globError(err)
	}
	if h, err = t.newHunt(ctx, call, a.Path); err != nil {
		return nil, false, nil, err
	}
	for name, err := range search.Walk(ctx, search.WalkOptions{Root: h.root, Base: h.base(call), Glob: glob, Errors: h.skipped}) {
		if err != nil {
			return nil, false, nil, h.failure(err)
		}
		if limited = len(paths) == limit; limited {
			break
		}
		paths = append(paths, escapedPath(name))
	}
	return paths, limited, h, ctx.Err()
}

func (h *hunt) found(paths []string, limited bool) (framing.Result, error) {
	var r framing.Result
	r.AddInt("matches", int64(len(paths)))
	r.AddTrue("limit_reached", limited)
	if h.unsearched > 0 {
		r.AddInt("unsearched", int64(h.unsearched))
	}
	b := searchBody{
		records: paths,
		budget:  "10 KiB/2000 line visible output limit reached.",
		others:  []string{h.unsearchedNotice()},
		cut:     cutFind,
		lines:   truncate.Native.Lines,
	}
	if len(paths) == 0 {
		b.records = []string{noFiles}
	}
	if limited {
		b.limit = limitNotice(len(paths), "results", "pattern/path")
	}
	return r, h.body(&r, b)
}

// cutFind cuts paths as other listings are cut.
func cutFind(paths []string, bytes int) string {
	records := make([]truncate.Record, len(paths))
	for i, p := range paths {
		records[i] = truncate.Record{Text: p}
	}
	policy := truncate.Native
	policy.Bytes = bytes
	return policy.Apply(records).Body
}
