//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/artifact"
)

func TestDirStore(t *testing.T) {
	testStore(t, func(t *testing.T) artifact.Store {
		s, root := dirStore(t)
		t.Cleanup(func() { requireTidy(t, root) })
		return s
	})
}

func dirStore(t testing.TB) (*artifact.DirStore, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "above", "root")
	s, err := artifact.NewDirStore(root)
	require.NoError(t, err)
	return s, root
}

// requireTidy fails if a store has anything but originals with private modes.
func requireTidy(t *testing.T, root string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		switch name, _ := filepath.Rel(root, path); name {
		case ".", "sha256":
			require.Equal(t, fs.ModeDir|0o700, info.Mode(), path)
		default:
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, objectPath(root, artifact.KeyOf(data)), path)
			require.Equal(t, fs.FileMode(0o600), info.Mode(), path)
		}
		return nil
	}))
}

func objectPath(root string, key artifact.Key) string {
	return filepath.Join(root, "sha256", strings.TrimPrefix(string(key), "sha256:"))
}

func TestS1ModesWhateverTheUmask(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	old := unix.Umask(0o777)
	defer unix.Umask(old)
	s, err := artifact.NewDirStore(root)
	require.NoError(t, err)
	_, err = s.Put(t.Context(), 1, strings.NewReader("x"))
	require.NoError(t, err)
	requireTidy(t, root)
}

func TestS1ExistingObjectIsLeftAlone(t *testing.T) {
	s, root := dirStore(t)
	path := objectPath(root, put(t, s, "content").Key)
	before, err := os.Stat(path)
	require.NoError(t, err)
	put(t, s, "content")
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	require.Equal(t, before.ModTime(), after.ModTime())
}

func TestS2DamageIsNoticedAtTheEndAndHealedByAPut(t *testing.T) {
	content := strings.Repeat("0123456789", 100_000)
	key := artifact.KeyOf([]byte(content))
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte(content), 0o600))
	for name, damage := range map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 999_999) },
		"extended":  func(path string) error { return os.Truncate(path, 1_000_001) },
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"altered": func(path string) error {
			return os.WriteFile(path, []byte(strings.Replace(content, "5", "6", 1)), 0o600)
		},
		"symlink, to the right content": func(path string) error { return os.Symlink(outside, path) },
		"dangling symlink":              func(path string) error { return os.Symlink("nowhere", path) },
		"FIFO":                          func(path string) error { return unix.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			s, root := dirStore(t)
			path := objectPath(root, key)
			if strings.Contains(name, "symlink") || name == "FIFO" { // planted first
				require.NoError(t, damage(path))
			} else {
				put(t, s, content)
				require.NoError(t, damage(path))
			}
			data, err := artifact.ReadAll(t.Context(), s, key, 1<<21)
			require.ErrorIs(t, err, artifact.ErrIntegrity)
			require.Nil(t, data)

			put(t, s, content)
			data, err = artifact.ReadAll(t.Context(), s, key, 1<<21)
			require.NoError(t, err)
			require.Equal(t, content, string(data))
			requireTidy(t, root)
		})
	}
	data, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, content, string(data), "nothing is done to what a link leads to")
}

func TestADirectoryInPlaceOfAnObject(t *testing.T) {
	s, root := dirStore(t)
	key := artifact.KeyOf([]byte("x"))
	require.NoError(t, os.Mkdir(objectPath(root, key), 0o700))
	_, _, err := s.Open(t.Context(), key)
	require.ErrorIs(t, err, artifact.ErrIntegrity)
	_, err = s.Put(t.Context(), 1, strings.NewReader("x"))
	require.Error(t, err)
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
}

func TestFileChangedUnderAReader(t *testing.T) {
	s, root := dirStore(t)
	content := strings.Repeat("x", 1<<20)
	d := put(t, s, content)
	r, _, err := s.Open(t.Context(), d.Key)
	require.NoError(t, err)
	defer r.Close()
	_, err = io.CopyN(io.Discard, r, 1000)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(objectPath(root, d.Key), []byte(strings.Repeat("y", 1<<20)), 0o600))
	_, err = io.Copy(io.Discard, r)
	require.ErrorIs(t, err, artifact.ErrIntegrity)
	_, err = r.Read(make([]byte, 1))
	require.ErrorIs(t, err, artifact.ErrIntegrity, "it stays so")
}

func TestUnsafeRoots(t *testing.T) {
	for name, plant := range map[string]func(root string) error{
		"others can write":           func(root string) error { return mkdirMode(root, 0o777) },
		"sticky":                     func(root string) error { return mkdirMode(root, 0o777|fs.ModeSticky) },
		"group can write":            func(root string) error { return mkdirMode(root, 0o770) },
		"objects others can list":    func(root string) error { _ = os.Mkdir(root, 0o700); return mkdirMode(root+"/sha256", 0o755) },
		"objects are a symlink":      func(root string) error { _ = os.Mkdir(root, 0o700); return os.Symlink("/tmp", root+"/sha256") },
		"objects are a file":         func(root string) error { _ = os.Mkdir(root, 0o700); return os.WriteFile(root+"/sha256", nil, 0o600) },
		"a file":                     func(root string) error { return os.WriteFile(root, nil, 0o600) },
		"a directory of nobody else": func(root string) error { return unix.Mkfifo(root, 0o600) },
	} {
		root := filepath.Join(t.TempDir(), "root")
		require.NoError(t, plant(root), name)
		s, err := artifact.NewDirStore(root)
		require.Error(t, err, name)
		require.Nil(t, s)
	}
	root := filepath.Join(t.TempDir(), "root")
	require.NoError(t, mkdirMode(root, 0o755)) // others may look; what matters is below
	s, err := artifact.NewDirStore(root)
	require.NoError(t, err)
	d := put(t, s, "x")
	require.NoError(t, os.Chmod(root, 0o777))
	_, _, err = s.Open(t.Context(), d.Key)
	require.ErrorIs(t, err, artifact.ErrUnsafeDir, "it is looked at each time")
	_, err = s.Put(t.Context(), 1, strings.NewReader("y"))
	require.ErrorIs(t, err, artifact.ErrUnsafeDir)
}

func mkdirMode(path string, mode fs.FileMode) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

func TestVanishedRootIsNoMissingArtifact(t *testing.T) {
	s, root := dirStore(t)
	d := put(t, s, "x")
	require.NoError(t, os.RemoveAll(root))
	_, _, err := s.Open(t.Context(), d.Key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, artifact.ErrNotFound)
}

func TestRemainsOfCrashesAreRemoved(t *testing.T) {
	_, root := dirStore(t)
	at := func(name string) string { return filepath.Join(root, name) }
	long := time.Now().Add(-artifact.StaleAge - time.Minute)
	for _, name := range []string{"put-dead", "put-young", "put-locked", "other"} {
		require.NoError(t, os.WriteFile(at(name), nil, 0o600))
		if name != "put-young" {
			require.NoError(t, os.Chtimes(at(name), long, long))
		}
	}
	require.NoError(t, os.Mkdir(at("put-dir"), 0o700))
	require.NoError(t, os.Symlink("/etc/passwd", at("put-link")))
	require.NoError(t, unix.Mkfifo(at("put-fifo"), 0o600))
	locked, err := os.Open(at("put-locked"))
	require.NoError(t, err)
	defer locked.Close()
	require.NoError(t, unix.Flock(int(locked.Fd()), unix.LOCK_EX))

	_, err = artifact.NewDirStore(root)
	require.NoError(t, err)
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	require.Equal(t, []string{"other", "put-dir", "put-fifo", "put-link", "put-locked", "put-young", "sha256"}, left)
}

// TestProcessesShareARoot has writers and readers of several processes at the
// same originals.
func TestProcessesShareARoot(t *testing.T) {
	s, root := dirStore(t)
	var all sync.WaitGroup
	for range 3 {
		p := start(t, "store", -1, "DIR="+root)
		all.Go(func() {
			if !p.stdout.Scan() || p.stdout.Text() != "done" {
				t.Error(p.stdout.Text())
			}
		})
	}
	for i := range storeOriginals {
		content := storeContent(i)
		d, err := s.Put(t.Context(), -1, bytes.NewReader(content))
		require.NoError(t, err)
		data, err := artifact.ReadAll(t.Context(), s, d.Key, artifact.MaxBytes)
		require.NoError(t, err)
		require.Equal(t, content, data)
	}
	all.Wait()
	requireTidy(t, root)
}

const storeOriginals = 30

func storeContent(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i*10_000) }

var _ = addHelper("store", storeHelper)

func addHelper(name string, helper func() error) struct{} {
	helpers[name] = helper
	return struct{}{}
}

// storeHelper puts and reads the originals that the test has too.
func storeHelper() error {
	ctx := context.Background()
	s, err := artifact.NewDirStore(os.Getenv("DIR"))
	if err != nil {
		return err
	}
	for i := range storeOriginals {
		d, err := s.Put(ctx, -1, bytes.NewReader(storeContent(i)))
		if err != nil {
			return err
		}
		if _, err := artifact.ReadAll(ctx, s, d.Key, artifact.MaxBytes); err != nil {
			return err
		}
	}
	fmt.Println("done")
	return nil
}
