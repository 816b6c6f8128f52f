//go:build !race

package image_test

import (
	stdimage "image"
	"image/color"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/image"
)

// These tests have one goroutine and many pixels: with the race detector they
// take minutes.

func TestR9LargeResult(t *testing.T) {
	// Noise of few colors, whose shades are many once it is shrunk.
	random := rand.New(rand.NewPCG(1, 2))
	paletted := stdimage.NewPaletted(stdimage.Rect(0, 0, 2700, 2700), nil)
	for range 256 {
		paletted.Palette = append(paletted.Palette, color.NRGBA{uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32())})
	}
	_, _ = rand.NewChaCha8([32]byte{}).Read(paletted.Pix)
	e := failure(t, asPNG(t, paletted), image.Options{Region: &image.Rect{Width: 2700, Height: 2700}})
	require.EqualError(t, e, "normalized image exceeds 8388608 byte limit")
	require.Equal(t, framing.CodeImageTooLarge, e.Code)
}

// TestMemory prepares images that need the most of it.
func TestMemory(t *testing.T) {
	for name, src := range map[string][]byte{
		"square":   asPNG(t, stdimage.NewNRGBA(stdimage.Rect(0, 0, 4096, 4096))),
		"wide":     asPNG(t, stdimage.NewNRGBA(stdimage.Rect(0, 0, 8192, 2048))),
		"paletted": asPNG(t, stdimage.NewPaletted(stdimage.Rect(0, 0, 4096, 4096), color.Palette{color.Transparent, color.White})),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		prepare(t, src, image.Options{})
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(400<<20), name)
	}
}
