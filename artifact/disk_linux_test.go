package artifact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/artifact"
)

// mountTmpfs returns a new, small file system.
func mountTmpfs(t *testing.T, dir, options string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
}

func TestFullDiskLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	mountTmpfs(t, dir, "size=256k,mode=0700")
	s, _ := newSpool(t, artifact.Options{Dir: dir})
	for range 2 {
		_, err := s.Save(make([]byte, 1<<20))
		require.ErrorIs(t, err, unix.ENOSPC)
		requireEmpty(t, dir)
	}
	w := create(t, s)
	var err error
	for err == nil {
		_, err = w.Write(make([]byte, 10_000))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	requireEmpty(t, dir) // before Abort
	_, again := w.Commit()
	require.Equal(t, err, again)
	_, again = w.Write(nil)
	require.Equal(t, err, again)
	require.NoError(t, w.Abort())

	saved, err := s.Save(make([]byte, 100<<10))
	require.NoError(t, err)
	require.True(t, saved.Complete)
	require.NoError(t, s.Close())
}

func TestNoInodesLeaveNothing(t *testing.T) {
	for _, inodes := range []string{"1", "2", "3"} { // the root, the directory, the lock
		t.Run(inodes, func(t *testing.T) {
			dir := t.TempDir()
			mountTmpfs(t, dir, "mode=0700,nr_inodes="+inodes)
			s, _ := newSpool(t, artifact.Options{Dir: dir})
			_, err := s.Create()
			require.ErrorIs(t, err, unix.ENOSPC)
			requireEmpty(t, dir)
			require.NoError(t, s.Close())
		})
	}
}

func TestSweepStaysOnTheFileSystem(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, staleName)
	require.NoError(t, os.Mkdir(path, 0o700))
	mountTmpfs(t, path, "mode=0700")
	require.NoError(t, os.WriteFile(filepath.Join(path, "output"), []byte("mounted"), 0o600))
	makeOld(t, path)
	requireSwept(t, dir, 0)
	requireFile(t, filepath.Join(path, "output"), "mounted")
}

func TestSweepLeavesABindMountAlone(t *testing.T) {
	p := newPlot(t)
	require.NoError(t, os.Chmod(p.outside, 0o700))
	require.NoError(t, os.Mkdir(p.entry, 0o700))
	if err := unix.Mount(p.outside, p.entry, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(p.entry, unix.MNT_DETACH)) })
	removed, err := artifact.Sweep(p.dir, "", 0)
	require.NoError(t, err)
	require.Zero(t, removed)
	require.FileExists(t, p.canary)
}

func TestLiveArtifactsLeaveDescriptorsToTheProcess(t *testing.T) {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	low := unix.Rlimit{Cur: 256, Max: limit.Max}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	t.Cleanup(func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)) })

	s, _ := newSpool(t, artifact.Options{})
	saved := 0
	for ; saved < 256; saved++ {
		if _, err := s.Save([]byte("x")); err != nil {
			require.ErrorIs(t, err, artifact.ErrQuota)
			break
		}
	}
	require.Equal(t, 64, saved)
}

func TestSweepDoesNotOpenADevice(t *testing.T) {
	p := newPlot(t)
	p.remains(t, "output")
	const null = 1<<8 | 3
	if err := unix.Mknod(p.in("owner.lock"), unix.S_IFCHR|0o600, null); err != nil {
		t.Skipf("cannot make a device: %v", err)
	}
	makeOld(t, p.entry)
	requireSwept(t, p.dir, 0)
	requireFile(t, p.in("output"), "dead")
}

func TestSweepOpensNothingOutside(t *testing.T) {
	for name, plant := range map[string]func(p plot) error{
		"entry is a link":          func(p plot) error { return os.Symlink(p.outside, p.entry) },
		"lock file is a link":      func(p plot) error { return os.Symlink(p.canary, p.in("owner.lock")) },
		"lock file is a hard link": func(p plot) error { return os.Link(p.canary, p.in("owner.lock")) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlot(t)
			if name != "entry is a link" {
				p.remains(t, "output")
			}
			require.NoError(t, plant(p))
			makeOld(t, p.entry)

			events, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
			require.NoError(t, err)
			defer unix.Close(events)
			for _, path := range []string{p.outside, p.canary} {
				_, err = unix.InotifyAddWatch(events, path, unix.IN_ALL_EVENTS)
				require.NoError(t, err)
			}
			requireSwept(t, p.dir, 0)
			_, err = unix.Read(events, make([]byte, 4096))
			require.ErrorIs(t, err, unix.EAGAIN, "something happened to what lies outside")
		})
	}
}

func TestNoDescriptorIsLeaked(t *testing.T) {
	dir := t.TempDir()
	before := descriptors(t)
	s, _ := newSpool(t, artifact.Options{Dir: dir, Quota: 100, MaxFiles: 5})
	save(t, s, "kept")
	require.Len(t, descriptors(t), len(before)+1, "the lock")
	w := create(t, s)
	_, err := w.Write(make([]byte, 101))
	require.ErrorIs(t, err, artifact.ErrQuota)
	require.Len(t, descriptors(t), len(before)+1, "after a failed Write")
	require.NoError(t, create(t, s).Abort())
	obstacle := obstruct(t, save(t, s, "stuck"))
	create(t, s)
	requireSwept(t, dir, 0)
	s.Call()
	require.Error(t, s.Close())
	require.Equal(t, before, descriptors(t))
	require.NoError(t, os.Remove(obstacle))
}

func descriptors(t *testing.T) []string {
	t.Helper()
	dir, err := os.Open("/proc/self/fd")
	require.NoError(t, err)
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	require.NoError(t, err)
	var open []string
	for _, name := range names {
		target, _ := os.Readlink("/proc/self/fd/" + name)
		if !strings.HasPrefix(target, "/proc/") {
			open = append(open, target)
		}
	}
	return open
}
