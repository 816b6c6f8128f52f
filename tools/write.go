package tools

import (
	"bytes"
	"context"
	"errors"
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
	return t.underLock(ctx, call, d, call.writeDir(path), func(ctx context.Context, call Call) Outcome {
		return t.write(ctx, call, path, content, d)
	})
}

func (t *writeTool) write(ctx context.Context, call Call, path string, content []byte, d Display) Outcome {
	var before, after endings
	done, err := t.mutate(ctx, call, mutation{
		op:     workspace.OpWrite,
		path:   path,
		intent: (*guard.Policy).WriteIntent,
		apply: func(ctx context.Context, c *workspace.Change) (_ []byte, err error) {
			if c.Exists() {
				before, err = endingsBefore(ctx, c)
			}
			return content, err
		},
	})
	if err != nil {
		return Fail(ctx, err, d)
	}
	after.add(content)
	var result framing.Result
	result.Add("changed", strconv.FormatBool(done.Changed))
	result.AddTrue("created", done.Created)
	if before, after := before.style(), after.style(); before != "" && after != "" && before != after {
		result.Add("line_endings", before+" to "+after)
	}
	result.AddInt("total_bytes", int64(len(content)))
	return Succeed(result, done.display(ctx, d, path))
}

// endingsBefore returns how the lines of the file end. Nobody waits until a huge
// file has been read for that.
func endingsBefore(ctx context.Context, c *workspace.Change) (e endings, err error) {
	old, err := c.Read(ctx)
	if errors.Is(err, workspace.ErrTooLarge) {
		return e, nil
	}
	e.add(old)
	return e, err
}

// endings is the styles in which lines of a text end.
type endings struct{ lf, crlf, cr bool }

func (e *endings) add(text []byte) {
	for len(text) > 0 {
		i := bytes.IndexAny(text, "\r\n")
		switch {
		case i < 0:
			return
		case text[i] == '\n':
			e.lf = true
		case bytes.HasPrefix(text[i+1:], []byte{'\n'}):
			e.crlf = true
			i++
		default:
			e.cr = true
		}
		text = text[i+1:]
	}
}

// style returns the name of the only style, "mixed", or "" if no line ends.
func (e endings) style() string {
	switch e {
	case endings{}:
		return ""
	case endings{lf: true}:
		return "lf"
	case endings{crlf: true}:
		return "crlf"
	case endings{cr: true}:
		return "cr"
	default:
		return "mixed"
	}
}
