package image

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"
	"math"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
)

func TestR10OneDecodesAndEightWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q turns
		require.NoError(t, q.take(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		var order []int
		done := make(chan int)
		for i := range MaxWaiting {
			go func() {
				if err := q.take(ctx); err != nil {
					done <- -1
					return
				}
				done <- i
			}()
			synctest.Wait() // they queue in this order
		}
		err := q.take(ctx)
		require.ErrorIs(t, err, ErrBusy)
		require.EqualError(t, err, "too many active image reads; retry this tool call")
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, framing.CodeBusy, e.Code)

		for range 3 {
			q.pass()
			order = append(order, <-done)
		}
		require.Equal(t, []int{0, 1, 2}, order, "first come, first served")
		cancel()
		for range MaxWaiting - 3 {
			require.Equal(t, -1, <-done)
		}
		q.pass()
		require.NoError(t, q.take(t.Context()), "nobody has it any more")
		q.pass()
		require.Zero(t, len(q.waiting))
	})
}

func TestTurnThatComesWithTheEndOfTheContext(t *testing.T) {
	for range 200 {
		var q turns
		require.NoError(t, q.take(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 1)
		go func() { got <- q.take(ctx) }()
		go cancel()
		q.pass()
		if err := <-got; err == nil {
			q.pass()
		}
		require.NoError(t, q.take(t.Context()), "the turn was not lost")
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 10, 10))))
	var p Preparer
	refused := 0
	done := make(chan error)
	const calls = 40
	for range calls {
		go func() {
			_, _, err := p.Prepare(t.Context(), b.Bytes(), Options{})
			done <- err
		}()
	}
	for range calls {
		if err := <-done; err != nil {
			require.ErrorIs(t, err, ErrBusy)
			refused++
		}
	}
	require.Less(t, refused, calls)
	require.False(t, p.turns.taken)
}

func TestPanicsOfDecodersAreRecovered(t *testing.T) {
	f := format{
		name:         "png",
		decode:       func(io.Reader) (image.Image, error) { panic("index out of range") },
		decodeConfig: func(io.Reader) (image.Config, error) { panic("index out of range") },
	}
	_, err := decodeConfig(f, nil)
	require.EqualError(t, err, "cannot decode image header: malformed data")
	_, err = header{format: f}.decode(nil)
	require.EqualError(t, err, "cannot decode image: malformed data")
	require.ErrorIs(t, err, ErrInvalid)

	lying := format{decode: func(io.Reader) (image.Image, error) { return image.NewGray(image.Rect(0, 0, 2, 2)), nil }}
	_, err = header{format: lying, width: 1, height: 1}.decode(nil)
	require.EqualError(t, err, "cannot decode image: malformed data")
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
