//go:build linux || darwin

package proc

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// isRead reports whether somebody reads the other end of w, of whose output there
// may be more than a pipe takes.
func isRead(t *testing.T, w *os.File) bool {
	t.Helper()
	_, err := w.Write(make([]byte, 200_000))
	require.True(t, err == nil || errors.Is(err, syscall.EPIPE), err)
	return err == nil
}

func TestDrainsAreBounded(t *testing.T) {
	var d Drains
	var writers []*os.File
	for range maxDrains + 2 {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer w.Close()
		d.add([]*os.File{r})
		writers = append(writers, w)
	}
	require.False(t, isRead(t, writers[0]), "the oldest is closed")
	require.False(t, isRead(t, writers[1]))
	for _, w := range writers[2:] {
		require.True(t, isRead(t, w))
	}
	require.NoError(t, d.Close())
	for _, w := range writers {
		require.False(t, isRead(t, w))
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	d.add([]*os.File{r})
	require.False(t, isRead(t, w), "late")
	require.NoError(t, d.Close())
}

func TestDrainsForgetWhatHasEnded(t *testing.T) {
	var d Drains
	for range 3 * maxDrains {
		r1, w1, err := os.Pipe()
		require.NoError(t, err)
		r2, w2, err := os.Pipe()
		require.NoError(t, err)
		d.add([]*os.File{r1, r2})
		w1.Close()
		w2.Close()
	}
	d.work.Wait()
	require.Empty(t, d.open)
	require.NoError(t, d.Close())
}

func TestNoDrains(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	(*Drains)(nil).add([]*os.File{r})
	require.False(t, isRead(t, w))
}
