package image

import (
	"context"

	"github.com/taukit/taukit/framing"
)

// Modes of [Options].
const (
	ModeHigh     = "high"     // at most 2,048 pixels a side and 2,500 patches
	ModeOverview = "overview" // at most 1,024 pixels a side and 600 patches
)

// Options say what is wanted of an image.
type Options struct {
	// Mode is the profile; "" means ModeHigh.
	Mode string
	// Region is the part of the upright image that is wanted, nil for all of
	// it. It is cut out before the rest is shrunk.
	Region *Rect
}

// Rect is a part of an image, in pixels: from X and Y at the upper left, up to
// but without X+Width and Y+Height.
type Rect struct{ X, Y, Width, Height uint32 }

// Image is what a model is to see.
type Image struct {
	MediaType     string // image/png or image/jpeg
	Data          []byte
	Width, Height int
}

// Info says how an [Image] came to be.
type Info struct {
	// Format is that of the source: "png", "jpeg" or "webp".
	Format string
	// SourceWidth and SourceHeight are the size as it is stored.
	SourceWidth, SourceHeight int
	// UprightWidth and UprightHeight are the size with the orientation
	// applied, before cropping and shrinking.
	UprightWidth, UprightHeight int
	// Orientation is the one that was applied, from 1 to 8 as EXIF has it.
	Orientation int
	// Patches is how many squares of 32 pixels cover the image.
	Patches int
}

// A Preparer prepares images, one at a time; [MaxWaiting] further calls wait for
// their turn. It is safe for concurrent use, and the zero value is ready. The
// memory that an image takes is that of a process, so there should be only one
// in a process. It must not be copied.
type Preparer struct{ turns turns }

// Prepare returns what a model is to see of an image, as a PNG or JPEG without
// metadata. The same source and options give the same bytes. It does not change
// src.
//
// The error is an [*Error] or that of ctx. Waiting for the turn ends with ctx, and
// so does decoding, where the decoder next wants to read; the other steps are given
// up when they are done. Decoding takes at most [DecodeTimeout].
func (p *Preparer) Prepare(ctx context.Context, src []byte, opts Options) (Image, Info, error) {
	return p.PrepareFrom(ctx, func(context.Context) ([]byte, error) { return src, nil }, opts)
}

// PrepareFrom is [Preparer.Prepare] for a source that is not in memory yet. It is
// read when the call has its turn, so that waiting takes no memory. An error of
// source is returned as it is.
func (p *Preparer) PrepareFrom(ctx context.Context, source func(context.Context) ([]byte, error), opts Options) (Image, Info, error) {
	profile, ok := profileOf(opts.Mode)
	if !ok {
		return Image{}, Info{}, &Error{Code: framing.CodeInvalidArguments, Kind: KindMode}
	}
	if err := p.turns.take(ctx); err != nil {
		return Image{}, Info{}, err
	}
	defer p.turns.pass()
	src, err := source(ctx)
	if err != nil {
		return Image{}, Info{}, err
	}
	h, err := inspect(src)
	if err != nil {
		return Image{}, Info{}, err
	}
	w, err := plan(h, opts.Region, profile)
	if err != nil {
		return Image{}, Info{}, err
	}
	img, err := w.do(ctx, src)
	if err != nil {
		return Image{}, Info{}, err
	}
	return img, w.info(), nil
}

// Prepare is [Preparer.Prepare] for a caller that sees to it that there are not
// too many calls at once.
func Prepare(ctx context.Context, src []byte, opts Options) (Image, Info, error) {
	return new(Preparer).Prepare(ctx, src, opts)
}
