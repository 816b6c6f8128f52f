package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/lineio"
	"github.com/taukit/taukit/search"
	"github.com/taukit/taukit/tools/workspace"
	"github.com/taukit/taukit/truncate"
)

// Limits of the tools grep and find.
const (
	maxSearchLimit   = 2000 // matching lines, or paths
	maxUnsearched    = 200  // bytes of a path that a notice quotes, before escaping
	opSearch         = "search"
	codeSearchGlob   = "SEARCH_GLOB"
	truncationMarker = "(truncated)"
)

// Codes of errors that only grep and find have.
const (
	CodeSearchPattern = "SEARCH_PATTERN" // no regular expression
	CodeSearchGlob    = codeSearchGlob   // no glob
)

// A hunt is one call of grep or find.
type hunt struct {
	Env
	ctx  context.Context
	path string // as the call gave it, or "."
	root string // absolute

	unsearched int
	first      string // what could not be searched first, and why
}

// newHunt returns the hunt below a path; none is the working directory. Only
// the file system of the host can be searched: others have no seam for it.
func (e Env) newHunt(ctx context.Context, call Call, given string) (*hunt, error) {
	h := &hunt{Env: e, ctx: ctx, path: given}
	if given == "" {
		h.path = "."
	}
	if !e.Workspace.OnHost() {
		return nil, h.failure(&workspace.Error{Code: framing.CodeIO, Reason: "this file system cannot be searched", Err: errors.ErrUnsupported})
	}
	h.root = e.Workspace.Resolve(call.Dir, h.path)
	return h, nil
}

// base returns the directory that globs may be relative to.
func (h *hunt) base(call Call) string { return h.Workspace.Resolve(call.Dir, ".") }

// failure returns the error of a path that cannot be searched at all.
func (h *hunt) failure(err error) error {
	switch {
	case errors.Is(err, search.ErrNotRegular):
		err = &workspace.Error{Code: framing.CodeNotRegular, Reason: search.ErrNotRegular.Error(), Err: err}
	case errors.Is(err, search.ErrNotDirectory):
		err = &workspace.Error{Code: framing.CodeNotDirectory, Reason: search.ErrNotDirectory.Error(), Err: err}
	}
	return workspace.Failed(h.ctx, opSearch, h.path, err)
}

// skipped notes a path below the root that could not be searched.
func (h *hunt) skipped(name string, err error) {
	if h.unsearched++; h.unsearched > 1 {
		return
	}
	shown := h.display(name)
	cut := string(lineio.RunePrefix([]byte(shown), maxUnsearched))
	if cut != shown {
		cut += "…"
	}
	reason, _ := escape.Field(err.Error())
	h.first = escape.Quote(cut) + ": " + reason
}

// display returns the path of a file, so that other tools can be given it as it
// is: what the call gave and what is below that.
func (h *hunt) display(name string) string {
	given := h.path
	for strings.Contains(given, "//") {
		given = strings.ReplaceAll(given, "//", "/")
	}
	for strings.HasPrefix(given, "./") {
		given = given[len("./"):]
	}
	if given != "/" {
		given = strings.TrimSuffix(given, "/")
	}
	switch {
	case path.IsAbs(name): // an ignore file above the root
		return name
	case given == "" || given == ".":
		return name
	case name == "":
		return given
	default:
		return strings.TrimSuffix(given, "/") + "/" + name
	}
}

// unsearchedNotice says that paths could not be searched, "" if all could.
func (h *hunt) unsearchedNotice() string {
	switch h.unsearched {
	case 0:
		return ""
	case 1:
		return "1 path could not be read (" + h.first + ")."
	default:
		return fmt.Sprintf("%d paths could not be read (first: %s).", h.unsearched, h.first)
	}
}

// limitNotice says that there is more than was asked for.
func limitNotice(limit int, what, refine string) string {
	if limit >= maxSearchLimit {
		return fmt.Sprintf("%d %s limit reached. Maximum limit reached; refine %s.", limit, what, refine)
	}
	return fmt.Sprintf("%d %s limit reached. Use limit=%d for more, or refine pattern.", limit, what, min(2*limit, maxSearchLimit))
}

// A searchBody is the body of a result in the making.
type searchBody struct {
	records []string
	limit   string   // notice that a limit was reached, or ""
	budget  string   // notice for a body that has to be cut
	others  []string // notices behind these two
	cut     func(records []string, bytes int) string
	lines   int // the most records that are shown, 0 for any
}

// body returns what to show of the records and their notices. What is cut off is
// saved, and the headers of the result say so.
func (h *hunt) body(r *framing.Result, b searchBody) error {
	native := strings.Join(b.records, "\n")
	suffix := bracket(b.limit, b.others)
	if len(native)+len(suffix) <= truncate.Native.Bytes && (b.lines == 0 || len(b.records) <= b.lines) {
		r.Body = native + suffix
		return nil
	}
	if err := h.ctx.Err(); err != nil {
		return err
	}
	saved, err := h.save(native)
	addTruncation(r, len(b.records), int64(len(native)), saved, err)
	suffix = bracket(b.limit, append([]string{b.budget}, b.others...))
	r.Body = b.cut(b.records, truncate.Native.Bytes-len(suffix)) + suffix
	return nil
}

func (h *hunt) save(native string) (artifact.Saved, error) { return h.Spool.Save([]byte(native)) }

// bracket joins notices as they stand behind the records.
func bracket(first string, others []string) string {
	var list []string
	for _, n := range append([]string{first}, others...) {
		if n != "" {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "\n\n[" + strings.Join(list, " ") + "]"
}

// counted returns what was found for a display, such as ", 3 matches".
func counted(n int, limited bool, one, many string) string {
	switch {
	case limited:
		return fmt.Sprintf(", %d+ %s", n, many)
	case n == 1:
		return ", 1 " + one
	default:
		return fmt.Sprintf(", %d %s", n, many)
	}
}

// shownPath is the path of a call in a display.
func shownPath(given string) string {
	if given == "" {
		return "."
	}
	return escape.Path(given)
}

// globError returns the error of a malformed glob.
func globError(err error) error {
	var e *search.GlobError
	if !errors.As(err, &e) {
		return err
	}
	return &framing.Error{
		Code:    CodeSearchGlob,
		Message: "invalid glob " + escape.QuotePath(e.Glob) + ": " + e.Reason,
		Cause:   err,
	}
}

// escapedPath returns a path as a record: marked if it is not exact.
func escapedPath(name string) string {
	shown, flags := escape.Field(name)
	if flags&escape.InvalidUTF8 != 0 {
		return "(invalid-utf8) " + shown
	}
	return shown
}
