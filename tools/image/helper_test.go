package image_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tiny WebP images of one pixel.
const (
	webpLossless = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="
	webpLossy    = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"
	webpAlpha    = "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA=="
	webpAnimated = "UklGRlIAAABXRUJQVlA4WAoAAAASAAAAAAAAAAAAQU5JTQYAAAD/////AABBTk1GJgAAAAAAAAAAAAAAAAAAAGQAAABWUDhMDQAAAC8AAAAQBxAREYiI/gcA"
	webpPixels   = "UklGRhYAAABXRUJQVlA4TAoAAAAvAMj/AQAAAAAA"
)

func unbase64(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	require.NoError(t, err)
	return b
}

func asPNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m))
	return b.Bytes()
}

func asJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 100}))
	return b.Bytes()
}

// chunk is one of a PNG.
func chunk(name string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, name...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

const afterIHDR = 8 + 12 + 13

// withChunk inserts a chunk behind the header of a PNG.
func withChunk(src []byte, name string, data []byte) []byte {
	return append(append(bytes.Clone(src[:afterIHDR]), chunk(name, data)...), src[afterIHDR:]...)
}

// headerPNG is a PNG of nothing but a header, and data that is not worth much.
func headerPNG(width, height uint32, depth, colorType byte) []byte {
	ihdr := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	src := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(ihdr, depth, colorType, 0, 0, 0))...)
	return append(append(src, chunk("IDAT", []byte{0, 1})...), chunk("IEND", nil)...)
}

// exif returns EXIF data with an orientation.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	b := []byte("MM\x00*")
	if order.String() == "LittleEndian" {
		b = []byte("II*\x00")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	for _, tag := range []uint16{0x010f, 0x0112} {
		b = order.AppendUint16(order.AppendUint16(b, tag), 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(order.AppendUint16(b, orientation), 0)
	}
	return order.AppendUint32(b, 0)
}

// withExif inserts EXIF data into an image.
func withExif(src, data []byte) []byte {
	switch {
	case bytes.HasPrefix(src, []byte("\x89PNG")):
		return withChunk(src, "eXIf", data)
	case bytes.HasPrefix(src, []byte("\xff\xd8")):
		data = append([]byte("Exif\x00\x00"), data...)
		segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(data)+2)), data...)
		return append(append([]byte{0xff, 0xd8}, segment...), src[2:]...)
	default:
		return withWebPChunk(src, "EXIF", data)
	}
}

func withWebPChunk(src []byte, name string, data []byte) []byte {
	src = append(bytes.Clone(src), name...)
	src = append(binary.LittleEndian.AppendUint32(src, uint32(len(data))), data...)
	if len(data)%2 == 1 {
		src = append(src, 0)
	}
	binary.LittleEndian.PutUint32(src[4:], uint32(len(src)-8))
	return src
}

// marked is an image of 3x2 pixels, all of them different.
func marked() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for y := range 2 {
		for x := range 3 {
			m.SetNRGBA(x, y, color.NRGBA{uint8(40 * x), uint8(80 * y), 200, 255})
		}
	}
	return m
}

func gradient(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), uint8(x ^ y), 255})
		}
	}
	return m
}
