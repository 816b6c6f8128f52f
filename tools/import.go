package tools

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/args"
)

const importDescription = `Bring the bytes of an artifact back as a local file, and get its path. The file is private, not executable, and at a path that cannot be guessed, outside the work tree; it lives until the session ends. Size and digest are verified.
filename and mime_type are the hints that export gave: they make the end of the file's name. With the key alone the name is generic.`

type importTool struct{ Env }

// NewImport returns the tool import, which makes a private file of an artifact.
func NewImport(env Env) Tool {
	t := &importTool{env}
	return NewTool(Definition{
		Name:        "import",
		Description: importDescription,
		Tags:        []string{"artifact:read"},
		ReadOnly:    true, // but for a file of its own
	}, func(a args.Import) Display { return keyDisplay(a.Key) }, t.call)
}

func keyDisplay(key string) Display {
	shown, _ := escape.Field(key)
	return Display{Args: shown}
}

func (t *importTool) call(ctx context.Context, _ Call, a args.Import, d Display) Outcome {
	key, err := artifact.ParseReference(a.Key)
	if err != nil {
		return Fail(ctx, err, d)
	}
	hints := artifact.Hints{Filename: a.Filename, MediaType: a.MIMEType}
	file, err := t.Imports.Import(ctx, t.Store, key, hints)
	if err != nil {
		return Fail(ctx, importFailure(ctx, err), d)
	}
	var r framing.Result
	r.Add("path", file.Path)
	r.AddInt("size", file.Size)
	d.Stats = &Stats{Bytes: int(file.Size)}
	return Succeed(r, d)
}

// importFailure returns the error of an artifact that could not be imported.
func importFailure(ctx context.Context, err error) error {
	var errno syscall.Errno
	switch {
	case isEnd(ctx, err):
		return err
	case errors.Is(err, artifact.ErrTooLarge):
		return &framing.Error{
			Code:    framing.CodeTooLarge,
			Message: fmt.Sprintf("cannot import: artifact exceeds %d bytes", artifact.MaxBytes),
			Cause:   err,
		}
	case !errors.Is(err, artifact.ErrDestination):
		return storeFailure(ctx, err)
	case errors.As(err, &errno):
		return &framing.Error{Code: framing.CodeIO, Message: "cannot import: " + errno.Error(), Cause: err}
	default:
		return &framing.Error{Code: framing.CodeIO, Message: "cannot import: no private directory", Cause: err}
	}
}
