//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

func TestCloseRemovesEverythingAndCanBeRepeated(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{})
	save(t, s, "young")
	w := create(t, s)
	_, err := w.Write([]byte("in progress"))
	require.NoError(t, err)

	require.NoError(t, s.Close())
	requireEmpty(t, dir)
	require.NoError(t, s.Close())

	_, err = w.Write([]byte("more"))
	require.ErrorIs(t, err, artifact.ErrClosed)
	_, err = w.Commit()
	require.ErrorIs(t, err, artifact.ErrClosed)
	require.NoError(t, w.Abort())
	_, err = s.Create()
	require.ErrorIs(t, err, artifact.ErrClosed)
	_, err = s.Save(nil)
	require.ErrorIs(t, err, artifact.ErrClosed)
	s.Call()
	requireEmpty(t, dir)
}

func TestCloseReportsFailedRemovalsAndTriesAgain(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{})
	first, second := obstruct(t, save(t, s, "1")), obstruct(t, save(t, s, "2"))
	save(t, s, "3")

	err := s.Close()
	require.ErrorContains(t, err, filepath.Dir(first))
	require.ErrorContains(t, err, filepath.Dir(second))
	entries, readErr := os.ReadDir(dir)
	require.NoError(t, readErr)
	require.Len(t, entries, 2)

	require.NoError(t, os.Remove(first))
	require.Error(t, s.Close())
	require.NoError(t, os.Remove(second))
	require.NoError(t, s.Close())
	requireEmpty(t, dir)
}

// obstruct makes the removal of an artifact fail, until the file that it
// returns is removed.
func obstruct(t testing.TB, output string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(output), "in the way")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	return path
}

// together runs work n times at once and requires that none fails. A test may
// not end in another goroutine, so work returns its errors.
func together(t testing.TB, n int, work func(i int) error) {
	t.Helper()
	var group sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		group.Go(func() { errs[i] = work(i) })
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
}

// saveAndRead saves content and compares the file to it.
func saveAndRead(s *artifact.Spool, content string) error {
	saved, err := s.Save([]byte(content))
	if err != nil {
		return err
	}
	got, err := os.ReadFile(saved.Path)
	if err == nil && string(got) != content {
		err = fmt.Errorf("%q instead of %q", got, content)
	}
	return err
}

func TestCloseDuringUse(t *testing.T) {
	const workers = 8
	s, dir := newSpool(t, artifact.Options{})
	started := make(chan struct{}, workers)
	together(t, 2*workers+1, func(i int) error {
		var err error
		switch {
		case i == 0:
			for range workers {
				<-started
			}
			if err := s.Close(); err != nil {
				return err
			}
			entries, err := os.ReadDir(dir)
			if len(entries) > 0 {
				err = fmt.Errorf("left: %v", entries)
			}
			return err
		case i <= workers:
			w, err := s.Create()
			started <- struct{}{}
			for err == nil {
				_, err = w.Write([]byte("more and more"))
			}
			return unless(err, artifact.ErrClosed)
		}
		for err == nil {
			s.Call()
			_, err = s.Save([]byte("again"))
		}
		return unless(err, artifact.ErrClosed, artifact.ErrQuota)
	})
	requireEmpty(t, dir)
}

// unless returns err if it is none of those that are expected.
func unless(err error, expected ...error) error {
	for _, target := range expected {
		if errors.Is(err, target) {
			return nil
		}
	}
	return err
}

func TestManySpoolsShareADirectory(t *testing.T) {
	dir := t.TempDir()
	together(t, 100, func(i int) error {
		s, err := artifact.NewSpool(artifact.Options{Dir: dir})
		if err != nil {
			return err
		}
		for j := range 3 {
			s.Call()
			if err := saveAndRead(s, fmt.Sprint(i, j)); err != nil {
				return err
			}
		}
		_, err = artifact.Sweep(dir, "", artifact.StaleAge)
		return errors.Join(err, s.Close())
	})
	requireEmpty(t, dir)
}

func TestCloseTouchesNothingThatIsNotOurs(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{})
	replaced, linked := filepath.Dir(save(t, s, "1")), filepath.Dir(save(t, s, "2"))
	outside := t.TempDir()
	for i, path := range []string{replaced, linked} {
		require.NoError(t, os.Chmod(path, 0o700)) // so that the test can clean up
		require.NoError(t, os.Rename(path, filepath.Join(outside, fmt.Sprint(i))))
	}
	require.NoError(t, os.Mkdir(replaced, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(replaced, "output"), []byte("foreign"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(outside, "1"), linked))

	require.NoError(t, s.Close())
	requireFile(t, filepath.Join(replaced, "output"), "foreign")
	requireFile(t, filepath.Join(outside, "0", "output"), "1")
	requireFile(t, filepath.Join(outside, "1", "output"), "2")
	require.FileExists(t, filepath.Join(outside, "1", "owner.lock"))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

func TestCloseDoesNotWorkInADirectoryThatBecameUnsafe(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{})
	path := save(t, s, "x")
	require.NoError(t, os.Chmod(dir, 0o777))
	require.ErrorIs(t, s.Close(), artifact.ErrUnsafeDir)
	requireFile(t, path, "x")
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, s.Close())
	requireEmpty(t, dir)
}

func TestCloseAfterSomebodyElseRemovedEverything(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{})
	first, second := filepath.Dir(save(t, s, "1")), filepath.Dir(save(t, s, "2"))
	require.NoError(t, os.Chmod(first, 0o700)) // so that they can be listed
	require.NoError(t, os.Chmod(second, 0o700))
	require.NoError(t, os.RemoveAll(first))
	require.NoError(t, os.RemoveAll(filepath.Join(second, "output")))
	require.NoError(t, s.Close())
	requireEmpty(t, dir)

	s, _ = newSpool(t, artifact.Options{Dir: dir})
	require.NoError(t, os.Chmod(filepath.Dir(save(t, s, "3")), 0o700))
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, s.Close())
}
