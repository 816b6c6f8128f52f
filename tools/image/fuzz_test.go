package image_test

import (
	"encoding/binary"
	stdimage "image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/tools/image"
)

func FuzzPrepare(f *testing.F) {
	paletted := stdimage.NewPaletted(stdimage.Rect(0, 0, 40, 33), color.Palette{color.Transparent, color.White})
	seeds := [][]byte{
		asPNG(f, marked()), asPNG(f, paletted), asPNG(f, stdimage.NewGray16(stdimage.Rect(0, 0, 3, 3))), asJPEG(f, gradient(17, 9)),
		withExif(asPNG(f, marked()), exif(binary.BigEndian, 6)), withExif(asJPEG(f, marked()), exif(binary.LittleEndian, 7)),
		withChunk(asPNG(f, marked()), "acTL", nil), headerPNG(9000, 1, 8, 6), headerPNG(4000, 1, 1, 3), nil,
	}
	for _, s := range []string{webpLossless, webpLossy, webpAlpha, webpAnimated, webpPixels} {
		seeds = append(seeds, unbase64(f, s))
	}
	for i, s := range seeds {
		f.Add(s, i%2 == 0, uint32(0), uint32(0), uint32(i), uint32(i))
	}
	f.Fuzz(func(t *testing.T, src []byte, overview bool, x, y, width, height uint32) {
		var opts image.Options
		if overview {
			opts.Mode = image.ModeOverview
		}
		if width != 0 {
			opts.Region = &image.Rect{X: x, Y: y, Width: width, Height: height}
		}
		m, info, err := image.Prepare(t.Context(), src, opts)
		if err == nil {
			requireSound(t, m, info)
			return
		}
		require.Zero(t, m)
		var e *image.Error
		require.ErrorAs(t, err, &e)
		require.NotEqual(t, e.Code, e.Error())
		require.NotContains(t, e.Error(), "\n")
		require.Less(t, len(e.Error()), 300)
	})
}
