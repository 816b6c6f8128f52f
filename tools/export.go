package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/workspace"
)

// opExport words what is done to a file that is exported.
const opExport = "export"

const exportDescription = `Store the exact bytes of one file, at most 16 MiB, and get a reference to them: artifact, <tau-artifact:sha256:...>, and size. The bytes stay in the store, whatever becomes of the file and the conversation.
filename and mime_type come back as hints: pass them to import with the reference. A declared media type is not verified.`

type exportTool struct{ Env }

// NewExport returns the tool export, which stores a file as an artifact.
func NewExport(env Env) Tool {
	t := &exportTool{env}
	return newEditor(nil, Definition{
		Name:        "export",
		Description: exportDescription,
		Tags:        []string{"artifact:write"},
		ReadOnly:    true, // but for the store
		Idempotent:  true,
	}, func(a args.Export) Display { return Display{Args: escape.Path(string(a.Path))} }, t.call)
}

func (t *exportTool) call(ctx context.Context, call Call, a args.Export, d Display) Outcome {
	stored, err := t.export(ctx, call, string(a.Path))
	if err != nil {
		return Fail(ctx, exportFailure(ctx, string(a.Path), err), d)
	}
	var r framing.Result
	r.Add("artifact", stored.Key.Reference())
	r.AddInt("size", stored.Size)
	hints := artifact.HintsOf(string(a.Path), a.MIMEType)
	addHint(&r, "filename", hints.Filename)
	addHint(&r, "mime_type", hints.MediaType)
	d.Stats = &Stats{Bytes: int(stored.Size)}
	return Succeed(r, d)
}

func addHint(r *framing.Result, key, hint string) {
	if hint != "" {
		shown, _ := escape.Field(hint)
		r.Add(key, shown)
	}
}

func (t *exportTool) export(ctx context.Context, call Call, path string) (artifact.Descriptor, error) {
	if t.Store == nil {
		return artifact.Descriptor{}, artifact.ErrUnavailable
	}
	f, err := t.Workspace.Open(ctx, call.Dir, path)
	if err != nil {
		return artifact.Descriptor{}, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	file, ok := f.(fs.File)
	if !ok {
		return artifact.Descriptor{}, errors.ErrUnsupported
	}
	return artifact.PutFile(ctx, t.Store, file)
}

// exportFailure returns the error of a file that could not be exported: what is
// wrong with it, or with the store.
func exportFailure(ctx context.Context, path string, err error) error {
	var file *workspace.Error
	switch {
	case isEnd(ctx, err):
		return err
	case errors.Is(err, artifact.ErrTooLarge):
		file = &workspace.Error{Code: framing.CodeTooLarge, Reason: fmt.Sprintf("file exceeds %d bytes", artifact.MaxBytes), Err: err}
	case errors.Is(err, artifact.ErrStale), errors.Is(err, artifact.ErrSize):
		file = &workspace.Error{Code: framing.CodeStaleVersion, Reason: "file changed while it was read", Err: err}
	case errors.Is(err, artifact.ErrNotRegular):
		file = &workspace.Error{Code: framing.CodeNotRegular, Reason: "not a regular file", Err: err}
	case !errors.As(err, &file):
		return storeFailure(ctx, err)
	}
	return fileFailure(opExport, path, file)
}

// storeFailure returns the error of a store. Where it is, is no business of a
// model.
func storeFailure(ctx context.Context, err error) error {
	if isEnd(ctx, err) {
		return err
	}
	e := &framing.Error{Code: framing.CodeIO, Message: "artifact storage I/O failed", Cause: err}
	switch {
	case errors.Is(err, artifact.ErrUnavailable):
		e.Code, e.Message = framing.CodeArtifactUnavailable, "artifact storage is unavailable; a persistent store is required"
	case errors.Is(err, artifact.ErrNotFound):
		e.Code, e.Message = framing.CodeArtifactUnavailable, "artifact is unavailable"
	case errors.Is(err, artifact.ErrIntegrity):
		e.Code, e.Message = framing.CodeArtifactIntegrity, "artifact size or digest verification failed"
	case errors.Is(err, artifact.ErrBusy):
		e.Code, e.Message = framing.CodeBusy, "artifact storage is busy; retry this tool call"
	}
	return e
}

// ClipboardImage stores a PNG that a person pasted, as it is, and returns the text
// to put in its place. There is no file name to tell.
func ClipboardImage(ctx context.Context, store artifact.Store, png []byte) (string, error) {
	if store == nil {
		return "", storeFailure(ctx, artifact.ErrUnavailable)
	}
	stored, err := store.Put(ctx, int64(len(png)), bytes.NewReader(png))
	if err != nil {
		return "", storeFailure(ctx, err)
	}
	return artifact.Mention(stored.Key, "image/png"), nil
}
