//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

func TestQuotaOfFiles(t *testing.T) {
	clock := newClock()
	s, dir := newSpool(t, artifact.Options{MaxFiles: 3, MinCalls: 1, MinAge: time.Minute, Now: clock.Now})
	save(t, s, "kept")
	aborted, writing := create(t, s), create(t, s)
	_, err := s.Save([]byte("one too many"))
	require.ErrorIs(t, err, artifact.ErrQuota)

	require.NoError(t, aborted.Abort())
	save(t, s, "in its place")
	_, err = s.Create()
	require.ErrorIs(t, err, artifact.ErrQuota)

	clock.Advance(time.Minute)
	s.Call() // removes the two that are kept
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	save(t, s, "a")
	save(t, s, "b")
	_, err = s.Create()
	require.ErrorIs(t, err, artifact.ErrQuota)
	require.NoError(t, writing.Abort())
}

func TestQuotaOfBytes(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{Quota: 100, MaxBytes: 80})
	w := create(t, s)
	_, err := w.Write(make([]byte, 60))
	require.NoError(t, err)
	path := save(t, s, string(make([]byte, 40))) // exactly full
	requireFile(t, save(t, s, ""), "")

	_, err = s.Save([]byte("x"))
	require.ErrorIs(t, err, artifact.ErrQuota)
	_, err = w.Write([]byte("x"))
	require.ErrorIs(t, err, artifact.ErrQuota)
	_, again := w.Commit()
	require.Equal(t, err, again)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left of the failed ones, nothing is evicted")
	require.FileExists(t, path)

	// The 60 bytes are free again, and bytes beyond the cap cost nothing.
	saved, err := s.Save(make([]byte, 60))
	require.NoError(t, err)
	require.True(t, saved.Complete)
}

func TestQuotaCountsTheKeptBytesOnly(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{Quota: 10, MaxBytes: 5})
	for range 2 {
		saved, err := s.Save([]byte("1234é and much more"))
		require.NoError(t, err)
		require.EqualValues(t, 4, saved.Bytes)
	}
	save(t, s, "12")
	_, err := s.Save([]byte("x"))
	require.ErrorIs(t, err, artifact.ErrQuota)
}

func TestQuotaGivesBackWhatWasCutLater(t *testing.T) {
	s, _ := newSpool(t, artifact.Options{Quota: 6, MaxBytes: 5})
	w := create(t, s)
	for _, part := range []string{"123", "\xf0\x9f", "\x98", "\x80"} { // 5 bytes stored, then 2 taken back
		_, err := w.Write([]byte(part))
		require.NoError(t, err)
	}
	saved, err := w.Commit()
	require.NoError(t, err)
	require.EqualValues(t, 3, saved.Bytes)
	save(t, s, "456")
	_, err = s.Save([]byte("7"))
	require.ErrorIs(t, err, artifact.ErrQuota)
}

func TestQuotaHoldsForConcurrentWriters(t *testing.T) {
	const quota = 1000
	s, dir := newSpool(t, artifact.Options{Quota: quota})
	together(t, 8, func(int) error {
		for range 20 {
			w, err := s.Create()
			for err == nil {
				_, err = w.Write(bytes.Repeat([]byte("x"), 7))
			}
			if err := unless(err, artifact.ErrQuota); err != nil {
				return err
			}
			_, _ = s.Save(bytes.Repeat([]byte("x"), 31))
		}
		return nil
	})
	var total int64
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(dir, entry.Name(), "output"))
		require.NoError(t, err)
		total += info.Size()
	}
	require.LessOrEqual(t, total, int64(quota))
	saved, err := s.Save(make([]byte, quota-total))
	require.NoError(t, err)
	require.FileExists(t, saved.Path)
	_, err = s.Save([]byte("x"))
	require.ErrorIs(t, err, artifact.ErrQuota)
}
