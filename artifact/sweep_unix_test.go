//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/artifact"
)

var staleName = fmt.Sprintf("tool-output-%d-0123456789abcdef0123456789abcdef", os.Geteuid())

// plot is a place where somebody plants entries for a sweep to fall over: an
// entry with the name of a dead artifact, and a canary outside.
type plot struct {
	dir, entry, outside, canary string
}

func newPlot(t *testing.T) plot {
	t.Helper()
	dir, outside := t.TempDir(), t.TempDir()
	p := plot{dir, filepath.Join(dir, staleName), outside, filepath.Join(outside, "output")}
	for _, name := range []string{"output", "owner.lock"} {
		require.NoError(t, os.WriteFile(filepath.Join(outside, name), []byte("canary"), 0o600))
	}
	return p
}

// remains makes what a killed process leaves: the given files in the entry.
func (p plot) remains(t *testing.T, names ...string) {
	t.Helper()
	require.NoError(t, os.Mkdir(p.entry, 0o700))
	for _, name := range names {
		require.NoError(t, os.WriteFile(p.in(name), []byte("dead"), 0o600))
	}
}

func (p plot) in(name string) string { return filepath.Join(p.entry, name) }

func TestSweepOfPlantedEntries(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(*testing.T, plot)
		swept bool
		left  []string // entries that must be there afterwards
	}{
		"a dead artifact": {swept: true, plant: func(t *testing.T, p plot) {
			p.remains(t, "output", "owner.lock")
			require.NoError(t, os.Chmod(p.entry, 0o300))
		}},
		"killed before it was closed to listing": {swept: true, plant: func(t *testing.T, p plot) {
			p.remains(t, "output", "owner.lock")
		}},
		"without a lock file": {swept: true, plant: func(t *testing.T, p plot) { p.remains(t, "output") }},
		"without output":      {swept: true, plant: func(t *testing.T, p plot) { p.remains(t, "owner.lock") }},
		"empty":               {swept: true, plant: func(t *testing.T, p plot) { p.remains(t) }},
		"output is a symbolic link": {swept: true, plant: func(t *testing.T, p plot) {
			p.remains(t, "owner.lock")
			require.NoError(t, os.Symlink(p.canary, p.in("output")))
		}},
		"output is a hard link": {swept: true, plant: func(t *testing.T, p plot) {
			p.remains(t, "owner.lock")
			require.NoError(t, os.Link(p.canary, p.in("output")))
		}},
		"output is a FIFO": {swept: true, plant: func(t *testing.T, p plot) {
			p.remains(t, "owner.lock")
			require.NoError(t, unix.Mkfifo(p.in("output"), 0o600))
		}},

		"a symbolic link to a directory": {plant: func(t *testing.T, p plot) {
			require.NoError(t, os.Symlink(p.outside, p.entry))
		}},
		"a symbolic link to a file": {plant: func(t *testing.T, p plot) {
			require.NoError(t, os.Symlink(p.canary, p.entry))
		}},
		"a dangling symbolic link": {plant: func(t *testing.T, p plot) {
			require.NoError(t, os.Symlink(p.outside+"/missing", p.entry))
		}},
		"a file": {plant: func(t *testing.T, p plot) {
			require.NoError(t, os.WriteFile(p.entry, nil, 0o600))
		}},
		"a FIFO": {plant: func(t *testing.T, p plot) {
			require.NoError(t, unix.Mkfifo(p.entry, 0o600))
		}},
		"open to others": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output", "owner.lock")
			require.NoError(t, os.Chmod(p.entry, 0o701))
		}},
		"open to the group": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output", "owner.lock")
			require.NoError(t, os.Chmod(p.entry, 0o710))
		}},
		"another user's": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			needRoot(t)
			p.remains(t, "output", "owner.lock")
			require.NoError(t, os.Chown(p.entry, nobody, nobody))
		}},
		"lock file of another user": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			needRoot(t)
			p.remains(t, "output", "owner.lock")
			require.NoError(t, os.Chown(p.in("owner.lock"), nobody, nobody))
		}},
		"lock file is a symbolic link": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output")
			require.NoError(t, os.Symlink(p.canary, p.in("owner.lock")))
		}},
		"lock file is a dangling link": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output")
			require.NoError(t, os.Symlink(p.outside+"/missing", p.in("owner.lock")))
		}},
		"lock file is a hard link": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output")
			require.NoError(t, os.Link(p.canary, p.in("owner.lock")))
		}},
		"lock file is a FIFO": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output")
			require.NoError(t, unix.Mkfifo(p.in("owner.lock"), 0o600))
		}},
		"lock file is a directory": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output")
			require.NoError(t, os.Mkdir(p.in("owner.lock"), 0o700))
		}},
		"lock file is a socket": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output")
			listen(t, p.in("owner.lock"))
		}},
		"lock file is locked": {left: []string{"output"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output", "owner.lock")
			lock, err := os.Open(p.in("owner.lock"))
			require.NoError(t, err)
			t.Cleanup(func() { lock.Close() })
			require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_SH))
		}},
		"output is a directory": {left: []string{"output", "owner.lock"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "owner.lock")
			require.NoError(t, os.Mkdir(p.in("output"), 0o700))
		}},
		"something else in it": {left: []string{"notes"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output", "owner.lock", "notes")
		}},
		"a directory in it": {left: []string{"sub"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output", "owner.lock")
			require.NoError(t, os.Mkdir(p.in("sub"), 0o700))
		}},
		"a link to a directory in it": {left: []string{"sub"}, plant: func(t *testing.T, p plot) {
			p.remains(t, "output", "owner.lock")
			require.NoError(t, os.Symlink(p.outside, p.in("sub")))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlot(t)
			test.plant(t, p)
			if info, err := os.Lstat(p.entry); err == nil && info.IsDir() {
				makeOld(t, p.entry)
			}
			before := fingerprint(t, p.outside)
			if test.swept {
				requireSwept(t, p.dir, 1)
				requireEmpty(t, p.dir)
			} else {
				requireSwept(t, p.dir, 0)
				_, err := os.Lstat(p.entry)
				require.NoError(t, err)
			}
			for _, name := range test.left {
				_, err := os.Lstat(p.in(name))
				require.NoError(t, err)
			}
			require.Equal(t, before, fingerprint(t, p.outside))
		})
	}
}

func listen(t *testing.T, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "") // the path of a socket must be short
	require.NoError(t, err)
	defer os.Remove(dir)
	listener, err := net.Listen("unix", dir+"/s")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	require.NoError(t, os.Rename(dir+"/s", path))
}

// fingerprint tells all that a sweep could change about the files in dir.
func fingerprint(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all = append(all, fmt.Sprintln(path, info.Mode(), info.ModTime(), string(content)))
		return nil
	}))
	return all
}

func TestSweepOfOtherNames(t *testing.T) {
	dir := t.TempDir()
	uid := os.Geteuid()
	for _, name := range []string{
		"tool-output",
		fmt.Sprintf("tool-output-%d", uid),
		fmt.Sprintf("tool-output-%d-", uid),
		fmt.Sprintf("tool-output-%d-x", uid+1),
		fmt.Sprintf("other-%d-x", uid),
		fmt.Sprintf("x-tool-output-%d-x", uid),
	} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		makeOld(t, filepath.Join(dir, name))
	}
	requireSwept(t, dir, 0)
	removed, err := artifact.Sweep(dir, "other", artifact.StaleAge)
	require.NoError(t, err)
	require.Equal(t, 1, removed)
}

func TestSweepNeedsTheAge(t *testing.T) {
	p := newPlot(t)
	p.remains(t, "output", "owner.lock")
	for age, swept := range map[time.Duration]int{-time.Hour: 0, 0: 0, artifact.StaleAge - time.Minute: 0} {
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(p.entry, then, then))
		requireSwept(t, p.dir, swept)
	}
	makeOld(t, p.entry)
	requireSwept(t, p.dir, 1)
}

func TestSweepOfAnUnsafeDirectory(t *testing.T) {
	p := newPlot(t)
	p.remains(t)
	makeOld(t, p.entry)
	require.NoError(t, os.Chmod(p.dir, 0o777))
	removed, err := artifact.Sweep(p.dir, "", artifact.StaleAge)
	require.ErrorIs(t, err, artifact.ErrUnsafeDir)
	require.Zero(t, removed)
	require.DirExists(t, p.entry)

	_, err = artifact.Sweep(p.dir+"/missing", "", 0)
	require.ErrorIs(t, err, fs.ErrNotExist)
	removed, err = artifact.Sweep(t.TempDir(), "", 0)
	require.NoError(t, err)
	require.Zero(t, removed)
}

func TestSweepExaminesABoundedNumber(t *testing.T) {
	dir := t.TempDir()
	for i := range artifact.MaxSwept + 100 {
		path := filepath.Join(dir, fmt.Sprintf("tool-output-%d-%d", os.Geteuid(), i))
		require.NoError(t, os.Mkdir(path, 0o700))
		makeOld(t, path)
	}
	requireSwept(t, dir, artifact.MaxSwept)
	requireSwept(t, dir, 100)
}

// Sweepers that ignore the age are the worst that can happen to a Spool: it may
// fail, but what it reports as saved must be there all the same.
func TestSweepersAndCreatorsAtOnce(t *testing.T) {
	const creators = 3
	s, dir := newSpool(t, artifact.Options{})
	var busy atomic.Int32
	busy.Store(creators)
	together(t, 2*creators, func(i int) error {
		if i >= creators {
			for busy.Load() > 0 {
				if _, err := artifact.Sweep(dir, "", 0); err != nil {
					return err
				}
			}
			return nil
		}
		defer busy.Add(-1)
		for range 200 {
			saved, err := s.Save([]byte("content"))
			if err != nil {
				continue
			}
			if _, err := os.Stat(saved.Path); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, s.Close())
	requireEmpty(t, dir)
}

func TestSweepersAtOnceRemoveEachEntryOnce(t *testing.T) {
	dir := t.TempDir()
	const entries = 200
	for i := range entries {
		path := filepath.Join(dir, fmt.Sprintf("tool-output-%d-%d", os.Geteuid(), i))
		require.NoError(t, os.Mkdir(path, 0o700))
		for _, name := range []string{"output", "owner.lock"} {
			require.NoError(t, os.WriteFile(filepath.Join(path, name), nil, 0o600))
		}
		makeOld(t, path)
	}
	var removed atomic.Int64
	together(t, 4, func(int) error {
		n, err := artifact.Sweep(dir, "", artifact.StaleAge)
		removed.Add(int64(n))
		return err
	})
	require.EqualValues(t, entries, removed.Load())
	requireEmpty(t, dir)
}
