//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestNameClashIsTriedTenTimes(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/taken", 0o700))
	parent, err := openParent(dir, openSearch)
	require.NoError(t, err)
	defer parent.Close()

	for _, clashes := range []int{0, 1, 9, 10} {
		attempts := 0
		name, err := mkdir(parent, func() string {
			if attempts++; attempts <= clashes {
				return "taken"
			}
			return "free"
		})
		if clashes == 10 {
			require.ErrorIs(t, err, fs.ErrExist)
			require.Equal(t, 10, attempts)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "free", name)
		require.Equal(t, clashes+1, attempts)
		require.NoError(t, os.Remove(dir+"/free"))
	}
}

func TestCallDoesNotWaitForASlowWrite(t *testing.T) {
	s, err := NewSpool(Options{Dir: t.TempDir()})
	require.NoError(t, err)
	w, err := s.Create()
	require.NoError(t, err)
	w.mu.Lock() // as during its disk work
	s.Call()
	saved, err := s.Save([]byte("x"))
	require.NoError(t, err)
	w.mu.Unlock()
	require.FileExists(t, saved.Path)
	require.NoError(t, s.Close())
}

func TestSweepAndCreationExcludeEachOther(t *testing.T) {
	dir := t.TempDir()
	parent, err := openParent(dir, openSearch)
	require.NoError(t, err)
	defer parent.Close()
	require.NoError(t, os.Mkdir(dir+"/young", modeFilling))
	self, err := os.Open(dir + "/young")
	require.NoError(t, err)
	defer self.Close()

	// A sweep that meets a directory without a lock file keeps its creator and
	// other sweeps out.
	swept, err := lockDead(parent, "young/"+lockName)
	require.NoError(t, err)
	_, err = createFile(self, lockName)
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = lockDead(parent, "young/"+lockName)
	require.ErrorIs(t, err, unix.EWOULDBLOCK)
	require.NoError(t, swept.Close())
	require.NoError(t, os.Remove(dir+"/young/"+lockName))

	// A creator that has locked its file keeps sweeps out.
	lock, err := createFile(self, lockName)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, flock(lock))
	_, err = lockDead(parent, "young/"+lockName)
	require.ErrorIs(t, err, unix.EWOULDBLOCK)
}

func TestFileSystemThatChangesOwnersIsUnsafe(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a file away")
	}
	file, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	defer file.Close()
	_, err = setMode(file, modeFile)
	require.NoError(t, err)
	require.NoError(t, file.Chown(1, 1))
	_, err = setMode(file, modeFile)
	require.ErrorIs(t, err, ErrUnsafeDir)
}
