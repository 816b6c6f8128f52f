package image_test

import (
	"bytes"
	stdimage "image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/draw"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/tools/image"
)

// BenchmarkPrepare prepares a PNG of 8192x2048 pixels, relative to decoding,
// scaling and encoding it by hand ("x-base").
func BenchmarkPrepare(b *testing.B) {
	src := asPNG(b, gradient(8192, 2048))
	ratio.Run(b, func() {
		m, err := png.Decode(bytes.NewReader(src))
		require.NoError(b, err)
		small := stdimage.NewRGBA(stdimage.Rect(0, 0, 2048, 512))
		draw.CatmullRom.Scale(small, small.Bounds(), m, m.Bounds(), draw.Src, nil)
		var out bytes.Buffer
		require.NoError(b, png.Encode(&out, small))
	}, func() {
		m, _, err := image.Prepare(b.Context(), src, image.Options{})
		require.NoError(b, err)
		require.Equal(b, 2048, m.Width)
	})
}
