//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

func TestCapAtItsExactSize(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{})
	data := bytes.Repeat([]byte("0123456789abcde\n"), artifact.DefaultMaxBytes/16+1)
	for _, size := range []int{0, 1, artifact.DefaultMaxBytes - 1, artifact.DefaultMaxBytes, artifact.DefaultMaxBytes + 1} {
		saved, err := s.Save(data[:size])
		require.NoError(t, err)
		bytesKept := min(size, artifact.DefaultMaxBytes)
		require.Equal(t, artifact.Saved{
			Path: saved.Path, Bytes: int64(bytesKept), Total: int64(size), Complete: size <= artifact.DefaultMaxBytes,
		}, saved)
		got, err := os.ReadFile(saved.Path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data[:bytesKept], got), "size %d", size)
	}
}

func TestCapFallsOnARuneBoundary(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{})
	for _, r := range []string{"é", "雪", "😀"} {
		for inside := 1; inside <= len(r); inside++ { // bytes of r below the cap
			data := strings.Repeat("x", artifact.DefaultMaxBytes-inside) + r + "tail"
			want := artifact.DefaultMaxBytes - inside
			if inside == len(r) {
				want += len(r)
			}
			saved, err := s.Save([]byte(data))
			require.NoError(t, err)
			require.False(t, saved.Complete)
			require.EqualValues(t, want, saved.Bytes)
			got, err := os.ReadFile(saved.Path)
			require.NoError(t, err)
			require.True(t, data[:want] == string(got), "%s, %d", r, inside)
		}
	}
}

func TestCapOfRunesSplitOverWrites(t *testing.T) {
	const limit = 8
	s, _ := newSpool(t, artifact.Options{MaxBytes: limit})
	for _, tail := range []string{"", "t", "tail"} {
		for _, r := range []string{"é", "雪", "😀", "\xf0\x9f", "\xff", "\x80\x80\x80\x80"} {
			for before := limit - 5; before <= limit+1; before++ {
				data := []byte(strings.Repeat("x", before) + r + tail)
				for cut := before - 1; cut <= len(data); cut++ {
					requireCapped(t, s, limit, data, data[:cut], data[cut:])
				}
				requireCapped(t, s, limit, data, bytes.SplitAfter(data, nil)...)
			}
		}
	}
}

func TestCapLeavesOutAllThatFollows(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{MaxBytes: 4})
	// After the cut there is room for three bytes, which stays empty.
	requireCapped(t, s, 4, []byte("x😀abc"), []byte("x😀"), []byte("a"), []byte("bc"))
	// The same when the sequence was on disk already, even for its end.
	requireCapped(t, s, 4, []byte("x😀abc"), []byte("x\xf0\x9f\x98"), []byte("\x80"), []byte("abc"))
}

func TestCapSmallerThanARune(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{MaxBytes: 1})
	requireCapped(t, s, 1, []byte("😀"), []byte("😀"))
	requireCapped(t, s, 1, []byte("😀"), bytes.SplitAfter([]byte("😀"), nil)...)
}

func TestIncompleteContentBelowTheCapIsKeptWhole(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{MaxBytes: 3})
	requireFile(t, save(t, s, "\xf0\x9f\x98"), "\xf0\x9f\x98")
	requireFile(t, save(t, s, "\xff\x00"), "\xff\x00")
}

func FuzzWriterCap(f *testing.F) {
	f.Add([]byte("plain text"), []byte{3, 0, 2}, uint8(5))
	f.Add([]byte("xx😀tail"), []byte{3, 1, 1}, uint8(4))
	f.Add([]byte("é雪😀é雪😀"), []byte{1}, uint8(7))
	f.Add([]byte("\xf0\x9f\xf0\x9f\x98\xff\x80"), []byte{2, 2}, uint8(3))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data, sizes []byte, limit uint8) {
		if limit == 0 {
			limit = 1
		}
		s, err := artifact.NewSpool(artifact.Options{Dir: dir, MaxBytes: int64(limit)})
		require.NoError(t, err)
		defer s.Close()
		var chunks [][]byte
		rest := data
		for _, size := range sizes {
			size := min(int(size), len(rest))
			chunks = append(chunks, rest[:size])
			rest = rest[size:]
		}
		requireCapped(t, s, int(limit), data, append(chunks, rest)...)
	})
}

// requireCapped writes data in chunks to a Spool with this cap and compares the
// file to what it must be.
func requireCapped(t testing.TB, s *artifact.Spool, limit int, data []byte, chunks ...[]byte) {
	t.Helper()
	require.Equal(t, string(data), string(bytes.Join(chunks, nil)))
	w := create(t, s)
	for _, chunk := range chunks {
		n, err := w.Write(chunk)
		require.NoError(t, err)
		require.Equal(t, len(chunk), n)
	}
	saved, err := w.Commit()
	require.NoError(t, err)
	want := capped(data, limit)
	requireFile(t, saved.Path, string(want))
	require.Equal(t, artifact.Saved{
		Path: saved.Path, Bytes: int64(len(want)), Total: int64(len(data)), Complete: len(data) <= limit,
	}, saved)
}

// capped is the rule, seen from the front: whole sequences and single invalid
// bytes for as long as they fit.
func capped(data []byte, limit int) []byte {
	if len(data) <= limit {
		return data
	}
	end := 0
	for end < limit && utf8.FullRune(data[end:limit]) {
		_, size := utf8.DecodeRune(data[end:limit])
		end += size
	}
	return data[:end]
}

func TestWriterIsFinishedAfterCommit(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{})
	w := create(t, s)
	_, err := w.Write([]byte("content"))
	require.NoError(t, err)
	saved, err := w.Commit()
	require.NoError(t, err)

	require.NoError(t, w.Abort())
	requireFile(t, saved.Path, "content")
	_, err = w.Write([]byte("more"))
	require.ErrorIs(t, err, artifact.ErrClosed)
	_, err = w.Commit()
	require.ErrorIs(t, err, artifact.ErrClosed)
	requireFile(t, saved.Path, "content")
}

func TestWriterLeavesNothingAfterAbort(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{})
	w := create(t, s)
	_, err := w.Write([]byte("content"))
	require.NoError(t, err)
	require.NoError(t, w.Abort())
	requireEmpty(t, dir)
	require.NoError(t, w.Abort())
	_, err = w.Write(nil)
	require.ErrorIs(t, err, artifact.ErrClosed)
	_, err = w.Commit()
	require.ErrorIs(t, err, artifact.ErrClosed)
}

func TestWriterDoesNotKeepTheCallersBytes(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{MaxBytes: 4})
	w := create(t, s)
	buffer := []byte("x\xf0\x9f\x98")
	_, err := w.Write(buffer)
	require.NoError(t, err)
	copy(buffer, "aaaa")
	_, err = w.Write([]byte{0x80})
	require.NoError(t, err)
	saved, err := w.Commit()
	require.NoError(t, err)
	requireFile(t, saved.Path, "x")
}

// BenchmarkSave includes the removal.
func BenchmarkSave(b *testing.B) {
	s, _ := newSpool(b, artifact.Options{MinCalls: 1, MinAge: 1})
	data := make([]byte, 64<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := s.Save(data); err != nil {
			b.Fatal(err)
		}
		s.Call()
	}
}

// BenchmarkBare is the least that has to be done for a private file.
func BenchmarkBare(b *testing.B) {
	dir := b.TempDir() + "/x"
	data := make([]byte, 64<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := os.Mkdir(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(dir+"/output", data, 0o600); err != nil {
			b.Fatal(err)
		}
		if err := os.Chmod(dir, 0o300); err != nil {
			b.Fatal(err)
		}
		if err := os.Remove(dir + "/output"); err != nil {
			b.Fatal(err)
		}
		if err := os.Remove(dir); err != nil {
			b.Fatal(err)
		}
	}
}
