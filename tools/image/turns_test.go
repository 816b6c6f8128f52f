package image

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"
	"testing"
	"testing/synctest"
	"time"

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
	_, err = header{format: f}.decode(t.Context(), nil)
	require.EqualError(t, err, "cannot decode image: malformed data")
	require.ErrorIs(t, err, ErrInvalid)

	lying := format{decode: func(io.Reader) (image.Image, error) { return image.NewGray(image.Rect(0, 0, 2, 2)), nil }}
	_, err = header{format: lying, width: 1, height: 1}.decode(t.Context(), nil)
	require.EqualError(t, err, "cannot decode image: malformed data")
}

func TestDecodingTakesItsTimeAndNoMore(t *testing.T) {
	endless := format{name: "jpeg", decode: func(r io.Reader) (image.Image, error) {
		for {
			time.Sleep(3 * time.Second) // the work on one scan of very many
			if _, err := r.Read(make([]byte, 1)); err != nil {
				return nil, err
			}
		}
	}}
	w := work{header: header{format: endless}}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := w.do(t.Context(), make([]byte, 1000))
		require.EqualError(t, err, "cannot decode image: it takes too long")
		require.ErrorIs(t, err, ErrInvalid)
		require.Equal(t, DecodeTimeout+time.Second, time.Since(began), "at the next read")

		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began = time.Now()
		_, err = w.do(ctx, make([]byte, 1000))
		require.Equal(t, context.DeadlineExceeded, err, "no fault of the image")
		require.Equal(t, 6*time.Second, time.Since(began))
	})
}

func TestWaitingTakesNoMemory(t *testing.T) {
	var p Preparer
	require.NoError(t, p.turns.take(t.Context()))
	read := make(chan struct{})
	done := make(chan error)
	go func() {
		_, _, err := p.PrepareFrom(t.Context(), func(context.Context) ([]byte, error) {
			close(read)
			return nil, io.ErrUnexpectedEOF
		}, Options{})
		done <- err
	}()
	for waits := false; !waits; {
		p.turns.mu.Lock()
		waits = len(p.turns.waiting) == 1
		p.turns.mu.Unlock()
	}
	select {
	case <-read:
		t.Fatal("the source is read only when the call has its turn")
	default:
	}
	p.turns.pass()
	require.Equal(t, io.ErrUnexpectedEOF, <-done)
}
