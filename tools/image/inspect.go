package image

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/webp"

	"github.com/taukit/taukit/framing"
)

// Limits of what is decoded.
const (
	MaxSourceBytes      = 8 << 20  // of the encoded source
	MaxSide             = 8192     // pixels
	MaxPixels           = 16 << 20 // in all
	MaxWebPPixels       = 4 << 20
	MaxDecodedBytes     = 64 << 20
	MaxWebPDecodedBytes = 32 << 20
)

// DecodeTimeout is how long a decoder may take. The largest images take a second
// or two.
const DecodeTimeout = 20 * time.Second

// format is a kind of files and its decoder. The decoders are called by what
// the bytes are, and never found by registration.
type format struct {
	name         string
	decode       func(io.Reader) (image.Image, error)
	decodeConfig func(io.Reader) (image.Config, error)
	scan         func(src []byte) traits
}

// traits are what a format says of an image apart from its pixels.
type traits struct {
	animated      bool
	orientation   int    // 0 if nothing is said
	width, height uint32 // as the header states them, if sized
	sized         bool
	transparent   bool // of a PNG: a color stands for transparency
}

func sniff(src []byte) (format, bool) {
	switch {
	case bytes.HasPrefix(src, []byte("\x89PNG\r\n\x1a\n")):
		return format{"png", png.Decode, png.DecodeConfig, scanPNG}, true
	case bytes.HasPrefix(src, []byte("\xff\xd8\xff")):
		return format{"jpeg", jpeg.Decode, jpeg.DecodeConfig, scanJPEG}, true
	case len(src) >= 12 && string(src[:4]) == "RIFF" && string(src[8:12]) == "WEBP":
		return format{"webp", webp.Decode, webp.DecodeConfig, scanWebP}, true
	}
	return format{}, false
}

// header is what is known of an image before it is decoded.
type header struct {
	format        format
	width, height int
	orientation   int // from 1 to 8
}

// inspect judges an image from its header.
func inspect(src []byte) (header, error) {
	if len(src) > MaxSourceBytes {
		return header{}, tooLarge(KindSource, int64(len(src)), MaxSourceBytes)
	}
	f, ok := sniff(src)
	if !ok {
		return header{}, &Error{Code: framing.CodeImageUnsupported, Kind: KindFormat}
	}
	t := f.scan(src)
	if t.animated {
		return header{}, &Error{Code: framing.CodeImageUnsupported, Kind: KindAnimated}
	}
	// What the header states is judged before the decoder sees it, for it has
	// limits and words of its own.
	if t.sized {
		if err := checkSize(f.name, int64(t.width), int64(t.height)); err != nil {
			return header{}, err
		}
	}
	config, err := decodeConfig(f, src)
	if err != nil {
		return header{}, err
	}
	if err := checkConfig(f.name, config, t.transparent); err != nil {
		return header{}, err
	}
	return header{f, config.Width, config.Height, max(t.orientation, 1)}, nil
}

func checkSize(name string, width, height int64) error {
	side, pixels := max(width, height), width*height
	switch {
	case width == 0 || height == 0:
		return &Error{Code: framing.CodeImageInvalid, Kind: KindZero}
	case side > MaxSide:
		return tooLarge(KindSide, side, MaxSide)
	case pixels > MaxPixels:
		return tooLarge(KindPixels, pixels, MaxPixels)
	case name == "webp" && pixels > MaxWebPPixels:
		return tooLarge(KindWebP, pixels, MaxWebPPixels)
	}
	return nil
}

func checkConfig(name string, c image.Config, transparent bool) error {
	if err := checkSize(name, int64(c.Width), int64(c.Height)); err != nil {
		return err
	}
	limit := int64(MaxDecodedBytes)
	if name == "webp" {
		limit = MaxWebPDecodedBytes
	}
	if size := int64(c.Width) * int64(c.Height) * pixelBytes(c.ColorModel, transparent); size > limit {
		return tooLarge(KindDecoded, size, limit)
	}
	return nil
}

// pixelBytes returns how many bytes a decoded pixel has. A gray PNG with a
// transparent shade is decoded to one with an alpha channel.
func pixelBytes(m color.Model, transparent bool) int64 {
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	switch m {
	case color.GrayModel:
		if transparent {
			return 4
		}
		return 1
	case color.Gray16Model:
		if transparent {
			return 8
		}
		return 2
	case color.YCbCrModel:
		return 3
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	return 4
}

// decodeConfig decodes the header. Decoders may panic on hostile input.
func decodeConfig(f format, src []byte) (c image.Config, err error) {
	defer func() {
		if recover() != nil {
			err = undecodable(KindHeader, errMalformed)
		}
	}()
	if c, err = f.decodeConfig(bytes.NewReader(src)); err != nil {
		return c, undecodable(KindHeader, err)
	}
	return c, nil
}

// decode decodes the image, which must be what its header says. A small file may
// make a decoder work for minutes, as a JPEG with very many scans does.
func (h header) decode(ctx context.Context, src []byte) (m image.Image, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, DecodeTimeout, errSlow)
	defer cancel()
	defer func() {
		if recover() != nil {
			m, err = nil, undecodable(KindDecode, errMalformed)
		}
	}()
	if m, err = h.format.decode(reader{ctx, bytes.NewReader(src)}); err != nil {
		return nil, undecodable(KindDecode, err)
	}
	if m.Bounds() != image.Rect(0, 0, h.width, h.height) {
		return nil, undecodable(KindDecode, errMalformed)
	}
	return m, nil
}

// A reader reads until its context ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// scanPNG looks at the chunks of a PNG, as far as they are whole.
func scanPNG(src []byte) (t traits) {
	seenData := false
	for at := 8; at+12 <= len(src); {
		size := int64(binary.BigEndian.Uint32(src[at:]))
		if size > int64(len(src)-at-12) {
			return t
		}
		data := src[at+8:][:size]
		switch name := string(src[at+4 : at+8]); {
		case name == "IHDR" && at == 8 && size == 13:
			t.width, t.height, t.sized = binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:]), true
		case name == "acTL" && !seenData:
			t.animated = true
		case name == "tRNS":
			t.transparent = true
		case name == "IDAT":
			seenData = true
		case name == "eXIf" && t.orientation == 0:
			t.orientation = orientation(data)
		}
		at += 12 + int(size)
	}
	return t
}

// scanJPEG looks at the segments of a JPEG before its first scan.
func scanJPEG(src []byte) (t traits) {
	for at := 2; at+4 <= len(src); {
		marker := src[at+1]
		switch {
		case src[at] != 0xff: // decoders skip what is between segments
			at++
			continue
		case marker == 0xff: // a fill byte
			at++
			continue
		case marker == 0 || marker == 1 || 0xd0 <= marker && marker <= 0xd8: // has no length
			at += 2
			continue
		case marker == 0xd9 || marker == 0xda: // the end, or the first scan
			return t
		}
		size := int(binary.BigEndian.Uint16(src[at+2:]))
		if size < 2 || size > len(src)-at-2 {
			return t
		}
		if data, ok := bytes.CutPrefix(src[at+4:at+2+size], exifHeader); ok && marker == 0xe1 && t.orientation == 0 {
			t.orientation = orientation(data)
		}
		at += 2 + size
	}
	return t
}

// scanWebP looks at the chunks of a WebP, as far as they are whole.
func scanWebP(src []byte) (t traits) {
	for at := 12; at+8 <= len(src); {
		name, size := string(src[at:at+4]), int64(binary.LittleEndian.Uint32(src[at+4:]))
		data := src[at+8:][:min(size, int64(len(src)-at-8))]
		switch {
		case name == "ANIM" || name == "ANMF":
			t.animated = true
		case name == "VP8X" && len(data) >= 10 && !t.sized:
			t.animated = t.animated || data[0]&2 != 0
			t.width, t.height, t.sized = uint24(data[4:])+1, uint24(data[7:])+1, true
		case name == "EXIF" && t.orientation == 0:
			t.orientation = orientation(bytes.TrimPrefix(data, exifHeader)) // some writers have it here too
		}
		if size > int64(len(src)-at-8) {
			return t
		}
		at += 8 + int(size+size&1)
	}
	return t
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

// exifHeader begins EXIF data in a JPEG.
var exifHeader = []byte("Exif\x00\x00")

// orientation returns the orientation that EXIF data states in its first
// directory, or 0. Whatever is wrong with the data is no reason to fail.
func orientation(exif []byte) int {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(exif, []byte("II*\x00")):
		order = binary.LittleEndian
	case bytes.HasPrefix(exif, []byte("MM\x00*")):
		order = binary.BigEndian
	default:
		return 0
	}
	if len(exif) < 8 {
		return 0
	}
	at := int64(order.Uint32(exif[4:]))
	if at+2 > int64(len(exif)) {
		return 0
	}
	const tag, short, entrySize = 0x0112, 3, 12
	entries := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(entries) < entrySize {
			return 0
		}
		e := entries[:entrySize]
		if order.Uint16(e) == tag {
			value := order.Uint16(e[8:])
			if order.Uint16(e[2:]) != short || order.Uint32(e[4:]) != 1 || value < 1 || value > 8 {
				return 0
			}
			return int(value)
		}
		entries = entries[entrySize:]
	}
	return 0
}
