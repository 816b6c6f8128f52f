package image

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestR7Sizes(t *testing.T) {
	for _, tt := range []struct {
		mode         string
		w, h, nw, nh int
	}{
		{"", 1920, 1080, 1920, 1080},
		{"high", 2560, 1440, 2048, 1152},
		{"high", 3840, 2160, 2048, 1152},
		{"high", 2048, 2048, 1600, 1600},
		{"high", 1440, 6000, 491, 2048},
		{"overview", 1920, 1080, 1024, 576},
		{"overview", 2048, 2048, 768, 768},
		{"overview", 1440, 6000, 245, 1024},
		{"high", 8192, 1, 2048, 1},
		{"overview", 1, 8192, 1, 1024},
	} {
		p, ok := profileOf(tt.mode)
		require.True(t, ok)
		w, h := p.fit(tt.w, tt.h)
		require.Equal(t, []int{tt.nw, tt.nh}, []int{w, h}, "%dx%d %s", tt.w, tt.h, tt.mode)
	}
}

func TestPlannedSizes(t *testing.T) {
	for _, mode := range []string{ModeHigh, ModeOverview} {
		p, ok := profileOf(mode)
		require.True(t, ok)
		for w := 1; w <= MaxSide; w += 1 + w/7 {
			for h := 1; h <= MaxSide; h += 1 + h/9 {
				checkFit(t, p, w, h)
			}
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(uint16(2048), uint16(2048), true)
	f.Fuzz(func(t *testing.T, w, h uint16, overview bool) {
		p := profile{2048, 2500}
		if overview {
			p = profile{1024, 600}
		}
		checkFit(t, p, int(w)%MaxSide+1, int(h)%MaxSide+1)
	})
}

// checkFit checks that a planned size obeys both limits, never grows and keeps
// the aspect ratio within a pixel.
func checkFit(t *testing.T, p profile, w, h int) {
	nw, nh := p.fit(w, h)
	if nw < 1 || nh < 1 || nw > w || nh > h || max(nw, nh) > p.side || Patches(nw, nh) > p.patches {
		t.Fatalf("%dx%d becomes %dx%d", w, h, nw, nh)
	}
	if max(w, h) <= p.side && Patches(w, h) <= p.patches && (nw != w || nh != h) {
		t.Fatalf("%dx%d needs not become %dx%d", w, h, nw, nh)
	}
	// Both sides are scaled alike, and then give up the same few pixels.
	scale := min(1, float64(p.side)/float64(max(w, h)), math.Sqrt(float64(p.patches)/float64(Patches(w, h))))
	lost, also := float64(w)*scale-float64(nw), float64(h)*scale-float64(nh)
	if nw > 1 && nh > 1 && math.Abs(lost-also) > 1 {
		t.Fatalf("%dx%d becomes %dx%d", w, h, nw, nh)
	}
}
