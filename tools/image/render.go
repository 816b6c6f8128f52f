package image

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

const (
	// MaxOutputBytes is the size of the largest result.
	MaxOutputBytes = 8 << 20

	jpegQuality = 90
)

// do decodes, crops, shrinks, turns and encodes. Turning comes last, when there
// is least to turn.
func (w work) do(ctx context.Context, src []byte) (Image, error) {
	m, err := w.decode(ctx, src)
	if ctx.Err() != nil {
		return Image{}, ctx.Err()
	}
	if err != nil {
		return Image{}, err
	}
	m = subImage(m, w.crop)
	mediaType := w.mediaType(m)
	m = w.shrink(m)
	if w.orientation != 1 {
		m = turn(m, w.orientation)
	}
	if err := ctx.Err(); err != nil {
		return Image{}, err
	}
	data, err := encode(m, mediaType)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Image{}, err
	}
	return Image{MediaType: mediaType, Data: data, Width: w.width, Height: w.height}, nil
}

const (
	typePNG  = "image/png"
	typeJPEG = "image/jpeg"
)

// mediaType returns what the result is encoded as. There is no encoder for WebP:
// a photograph becomes a JPEG, and what has transparency or is lossless a PNG.
func (w work) mediaType(m image.Image) string {
	switch w.format.name {
	case "jpeg":
		return typeJPEG
	case "webp":
		switch m.(type) {
		case *image.YCbCr, *image.NYCbCrA:
			if opaque(m) {
				return typeJPEG
			}
		}
	}
	return typePNG
}

func opaque(m image.Image) bool {
	o, ok := m.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

// subImage returns a part of a decoded image, without a copy. All types that
// decoders return have such parts.
func subImage(m image.Image, r image.Rectangle) image.Image {
	if r == m.Bounds() {
		return m
	}
	return m.(interface {
		SubImage(r image.Rectangle) image.Image
	}).SubImage(r)
}

// shrink returns an image of the planned size, not yet turned, that can be
// encoded as it is: of at most 8 bits a channel, and in no color space but RGB,
// gray or that of a JPEG.
func (w work) shrink(m image.Image) image.Image {
	width, height := w.width, w.height
	if w.sideways() {
		width, height = height, width
	}
	if m.Bounds().Dx() == width && m.Bounds().Dy() == height {
		return reduce(m)
	}
	m = forScaling(m)
	small := canvas(m, width, height)
	draw.CatmullRom.Scale(small, small.Bounds(), m, m.Bounds(), draw.Src, nil)
	return small
}

// canvas returns an image for the content of another.
func canvas(m image.Image, width, height int) draw.Image {
	r := image.Rect(0, 0, width, height)
	switch m.(type) {
	case *image.Gray, *image.Gray16:
		return image.NewGray(r)
	}
	if opaque(m) {
		return image.NewRGBA(r)
	}
	return image.NewNRGBA(r)
}

// reduce copies images of types that are not to be encoded.
func reduce(m image.Image) image.Image {
	switch m.(type) {
	case *image.Gray, *image.Paletted, *image.RGBA, *image.NRGBA, *image.YCbCr:
		return m
	}
	return convert(m)
}

func convert(m image.Image) image.Image {
	r := m.Bounds()
	copied := canvas(m, r.Dx(), r.Dy())
	draw.Draw(copied, copied.Bounds(), m, r.Min, draw.Src)
	return copied
}

// forScaling converts images that scaling would read slowly, pixel by pixel and
// each several times.
func forScaling(m image.Image) image.Image {
	switch m := m.(type) {
	case *image.Paletted:
		return expand(m)
	case *image.CMYK, *image.NYCbCrA:
		return convert(m)
	}
	return m
}

// expand replaces the indices of a palette with its colors.
func expand(m *image.Paletted) image.Image {
	r := m.Bounds()
	full := image.NewNRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	var colors [256][4]byte // an index beyond the palette is transparent
	for i, c := range m.Palette {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		colors[i] = [4]byte{n.R, n.G, n.B, n.A}
	}
	for y := range r.Dy() {
		from, to := m.Pix[y*m.Stride:][:r.Dx()], full.Pix[y*full.Stride:]
		for x, index := range from {
			copy(to[4*x:4*x+4], colors[index][:])
		}
	}
	return full
}

// turn returns the upright image.
func turn(m image.Image, orientation int) image.Image {
	switch m := m.(type) {
	case *image.Gray:
		t := image.NewGray(turnedBounds(m.Bounds(), orientation))
		turnPixels(t.Pix, t.Stride, m.Pix, m.Stride, m.Bounds().Size(), 1, orientation)
		return t
	case *image.Paletted:
		t := image.NewPaletted(turnedBounds(m.Bounds(), orientation), m.Palette)
		turnPixels(t.Pix, t.Stride, m.Pix, m.Stride, m.Bounds().Size(), 1, orientation)
		return t
	case *image.RGBA:
		t := image.NewRGBA(turnedBounds(m.Bounds(), orientation))
		turnPixels(t.Pix, t.Stride, m.Pix, m.Stride, m.Bounds().Size(), 4, orientation)
		return t
	case *image.NRGBA:
		t := image.NewNRGBA(turnedBounds(m.Bounds(), orientation))
		turnPixels(t.Pix, t.Stride, m.Pix, m.Stride, m.Bounds().Size(), 4, orientation)
		return t
	}
	return turn(convert(m), orientation) // to one of the last two
}

func turnedBounds(r image.Rectangle, orientation int) image.Rectangle {
	if orientation >= 5 {
		return image.Rect(0, 0, r.Dy(), r.Dx())
	}
	return image.Rect(0, 0, r.Dx(), r.Dy())
}

// turnPixels copies pixels of so many bytes to where they belong. The size is
// that of the source.
func turnPixels(to []byte, toStride int, from []byte, fromStride int, size image.Point, pixel, orientation int) {
	upright := turnedBounds(image.Rectangle{Max: size}, orientation)
	for y := range upright.Dy() {
		// Pixels of a row are at equal distances in the source.
		first := source(orientation, size.X, size.Y, 0, y)
		next := source(orientation, size.X, size.Y, 1, y).Sub(first)
		at, step := first.Y*fromStride+first.X*pixel, next.Y*fromStride+next.X*pixel
		row := to[y*toStride:][:upright.Dx()*pixel]
		for x := 0; x < len(row); x += pixel {
			copy(row[x:x+pixel], from[at:at+pixel])
			at += step
		}
	}
}

// encode encodes an image without any metadata.
func encode(m image.Image, mediaType string) ([]byte, error) {
	out := limited{limit: MaxOutputBytes}
	var err error
	if mediaType == typeJPEG {
		err = jpeg.Encode(&out, m, &jpeg.Options{Quality: jpegQuality})
	} else {
		err = png.Encode(&out, m)
	}
	if errors.Is(err, errFull) {
		return nil, tooLarge(KindOutput, MaxOutputBytes+1, MaxOutputBytes) // or more: it was given up there
	}
	if err != nil {
		return nil, undecodable(KindDecode, err)
	}
	return out.buf.Bytes(), nil
}

var errFull = errors.New("image: too many bytes")

// limited collects so many bytes and no more.
type limited struct {
	buf   bytes.Buffer
	limit int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.limit-l.buf.Len() {
		return 0, errFull
	}
	return l.buf.Write(p)
}
