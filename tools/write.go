package tools

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/lineio"
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
	return newSpooled(env.Spool, Definition{
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
	done, err := t.do(ctx, call, change{
		op:     workspace.OpWrite,
		path:   path,
		intent: (*guard.Policy).WriteIntent,
		apply: func(ctx context.Context, c *workspace.Change) (_ []byte, err error) {
			if c.Exists() {
				before, err = t.endingsOf(ctx, c, call.Dir)
			}
			return content, err
		},
	})
	if err != nil {
		return Fail(ctx, err, d)
	}
	var after endings
	after.add(content)
	var result framing.Result
	result.Add("changed", strconv.FormatBool(done.Changed))
	result.AddTrue("created", done.Created)
	if before != "" && after != "" && before != after {
		result.Add("line_endings", string(before+" to "+after))
	}
	result.AddInt("total_bytes", int64(len(content)))
	return Succeed(result, done.show(d, path))
}

// endingsOf returns how the lines of the file end, whatever its size.
func (t *writeTool) endingsOf(ctx context.Context, c *workspace.Change, dir string) (before endings, err error) {
	old, err := c.Read(ctx)
	if err == nil {
		before.add(old)
	}
	if !errors.Is(err, workspace.ErrTooLarge) {
		return before, err
	}
	f, err := t.Workspace.Open(ctx, dir, c.Target().Display)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	for block, err := range lineio.Blocks(f) {
		if err != nil {
			return "", err
		}
		before.add(block)
	}
	return before, nil
}

// endings is the style in which the lines of a text end: the name of the only
// ending, or "mixed"; empty if no line ends.
type endings string

const mixedEndings endings = "mixed"

// add looks at more lines of the text.
func (e *endings) add(text []byte) {
	if *e == mixedEndings {
		return
	}
	for l := range lineio.Lines(text) {
		switch style := endings(strings.ToLower(l.End.String())); {
		case l.End == lineio.None:
		case *e == "":
			*e = style
		case *e != style:
			*e = mixedEndings
			return
		}
	}
}
