package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/tools/image"
)

const readImageDescription = `See an image that is stored as an artifact: PNG, JPEG or WebP. Export a local file first and pass the whole reference, <tau-artifact:sha256:...>; import is not needed.
The image is turned upright, and shrunk if it is large. region cuts a part out first, at its full detail; its numbers are pixels of the upright image, of which source or oriented tell the size. mode: overview is for coarse layout only.`

// images prepares the images of all sessions: one decoded image is what a process
// should have in memory at a time.
var images image.Preparer

type readImageTool struct{ Env }

// NewReadImage returns the tool read_image, which shows an image to a model that
// can see.
func NewReadImage(env Env) Tool {
	t := &readImageTool{env}
	return NewTool(Definition{
		Name:        "read_image",
		Description: readImageDescription,
		Tags:        []string{"provider-content:image", "artifact:read"},
		ReadOnly:    true,
		Idempotent:  true,
		Images:      true,
		Foreground:  true,
	}, func(a args.ReadImage) Display { return keyDisplay(a.Key) }, t.call)
}

func (t *readImageTool) call(ctx context.Context, _ Call, a args.ReadImage, d Display) Outcome {
	shown, info, err := t.prepare(ctx, a)
	if err != nil {
		return Fail(ctx, err, d)
	}
	var r framing.Result
	r.Add("media_type", shown.MediaType)
	r.AddInt("width", int64(shown.Width))
	r.AddInt("height", int64(shown.Height))
	r.AddInt("bytes", int64(len(shown.Data)))
	r.AddInt("patches", int64(info.Patches))
	stored := dimensions(info.SourceWidth, info.SourceHeight)
	upright := dimensions(info.UprightWidth, info.UprightHeight)
	output := dimensions(shown.Width, shown.Height)
	if stored != output {
		r.Add("source", stored)
	}
	if upright != stored && upright != output {
		r.Add("oriented", upright)
	}
	d.Stats = &Stats{Bytes: len(shown.Data)}
	out := Succeed(r, d)
	out.Content = []Content{{MIMEType: shown.MediaType, Data: shown.Data}}
	return out
}

func dimensions(width, height int) string { return fmt.Sprintf("%dx%d", width, height) }

func (t *readImageTool) prepare(ctx context.Context, a args.ReadImage) (image.Image, image.Info, error) {
	key, err := artifact.ParseReference(a.Key)
	if err != nil {
		return image.Image{}, image.Info{}, err
	}
	if t.Store == nil {
		return image.Image{}, image.Info{}, storeFailure(ctx, artifact.ErrUnavailable)
	}
	opts := image.Options{Mode: a.Mode}
	if r := a.Region; r != nil {
		opts.Region = &image.Rect{X: uint32(r.X), Y: uint32(r.Y), Width: uint32(r.Width), Height: uint32(r.Height)}
	}
	read := func(ctx context.Context) ([]byte, error) { return t.read(ctx, key) }
	shown, info, err := images.PrepareFrom(ctx, read, opts)
	return shown, info, imageFailure(err)
}

// read returns an original, unless it is too large.
func (t *readImageTool) read(ctx context.Context, key artifact.Key) ([]byte, error) {
	source, err := artifact.ReadAll(ctx, t.Store, key, image.MaxSourceBytes)
	if errors.Is(err, artifact.ErrTooLarge) {
		return nil, imageFailure(&image.Error{
			Code: framing.CodeImageTooLarge, Kind: image.KindSource, Limit: image.MaxSourceBytes, Err: err,
		})
	}
	if err != nil {
		return nil, storeFailure(ctx, err)
	}
	return source, nil
}

// imageFailure returns the error of an image that cannot be shown.
func imageFailure(err error) error {
	var e *image.Error
	if !errors.As(err, &e) {
		return err
	}
	message, _ := escape.Field(e.Error())
	return &framing.Error{Code: e.Code, Message: message, Cause: err}
}
