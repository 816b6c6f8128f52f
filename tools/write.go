package tools

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

const writeDescription = `Create a file, or replace the whole content of one. Missing parent directories are created.
Existing content is lost, so read an existing file first; for a partial change prefer edit or apply_patch. The bytes are written as given: no newline is added and no line ending converted.
The result has changed, created (for a new file), line_endings (if their style differs from that of the replaced file) and total_bytes.
Names shown with a backslash are escaped (\n, \u{1b}; \\ is one backslash).`

type writeTool struct{ Env }

// NewWrite returns the tool write, which creates files or replaces all of
// their content.
func NewWrite(env Env) Tool {
	t := &writeTool{env}
	return newEditor(env.Spool, Definition{
		Name:        "write",
		Description: writeDescription,
		Tags:        []string{"shell:write", "shell:mutates-files"},
		Destructive: true,
		Idempotent:  true,
	}, func(a args.Write) Display { return Display{Args: escape.Path(string(a.Path))} }, t.call)
}

func (t *writeTool) call(ctx context.Context, call Call, a args.Write, d Display) Outcome {
	path, content := string(a.Path), []byte(a.Content)
	if len(content) > workspace.MaxEditBytes {
		reason := fmt.Sprintf("content exceeds %d bytes", workspace.MaxEditBytes)
		return Fail(ctx, fileFailure(workspace.OpWrite, path, &workspace.Error{Code: framing.CodeTooLarge, Reason: reason}), d)
	}
	var before endings
	done, err := t.mutate(ctx, call, mutation{
		op:     workspace.OpWrite,
		path:   path,
		intent: (*guard.Policy).WriteIntent,
		apply: func(ctx context.Context, c *workspace.Change) (_ []byte, err error) {
			_, err = c.Version(ctx, &before)
			return content, err
		},
	})
	if err != nil {
		return Fail(ctx, err, d)
	}
	var after endings
	_, _ = after.Write(content)
	var result framing.Result
	result.Add("changed", strconv.FormatBool(done.Changed))
	result.AddTrue("created", done.Created)
	if before, after := before.style(), after.style(); before != "" && after != "" && before != after {
		result.Add("line_endings", before+" to "+after)
	}
	result.AddInt("total_bytes", int64(len(content)))
	return Succeed(result, done.display(d, path))
}

// endings finds out how the lines of a text end that is written to it.
type endings struct {
	lf, crlf, cr bool
	afterCR      bool // the last byte was a CR
}

// Write looks at more of the text. It never fails.
func (e *endings) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		if e.afterCR {
			e.afterCR = false
			if rest[0] == '\n' {
				e.crlf, rest = true, rest[1:]
				continue
			}
			e.cr = true
		}
		i := bytes.IndexAny(rest, "\r\n")
		if i < 0 {
			break
		}
		e.lf = e.lf || rest[i] == '\n'
		e.afterCR = rest[i] == '\r'
		rest = rest[i+1:]
	}
	return len(text), nil
}

// style returns the name of the only ending, "mixed", or "" if no line ends.
func (e endings) style() string {
	var styles []string
	for name, found := range map[string]bool{"lf": e.lf, "crlf": e.crlf, "cr": e.cr || e.afterCR} {
		if found {
			styles = append(styles, name)
		}
	}
	switch len(styles) {
	case 0:
		return ""
	case 1:
		return styles[0]
	default:
		return "mixed"
	}
}
