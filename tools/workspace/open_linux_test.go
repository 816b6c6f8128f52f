package workspace_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/tools/workspace"
)

// opens watches files for being opened, read or closed by anybody.
type opens int

func watchOpens(t *testing.T, paths ...string) opens {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	for _, path := range paths {
		_, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN|unix.IN_ACCESS|unix.IN_CLOSE)
		require.NoError(t, err, path)
	}
	return opens(fd)
}

// any reports whether anything has happened to the files so far.
func (o opens) any() bool {
	n, _ := unix.Read(int(o), make([]byte, 4096))
	return n > 0
}

func TestOpeningHasNoEffectOnWhatIsNotOpened(t *testing.T) {
	ws := zoo(t)
	watch := watchOpens(t, ws.Dir()+"/fifo", ws.Dir()+"/socket")
	for range 100 {
		for _, path := range []string{"fifo", "to-fifo", "socket", "to-socket"} {
			_, err := ws.Open(t.Context(), "", path)
			require.ErrorIs(t, err, workspace.ErrNotRegular)
			_, err = ws.OpenDir(t.Context(), "", path)
			require.ErrorIs(t, err, workspace.ErrNotDirectory)
		}
	}
	require.False(t, watch.any())

	fd, err := unix.Open(ws.Dir()+"/fifo", unix.O_RDONLY|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	require.NoError(t, unix.Close(fd))
	require.True(t, watch.any(), "the watch works")
}

func TestOpeningReleasesNoWriterOfFIFO(t *testing.T) {
	ws := zoo(t)
	watch := watchOpens(t, ws.Dir()+"/fifo")
	about, released := make(chan struct{}), make(chan error)
	go func() {
		close(about)
		f, err := os.OpenFile(ws.Dir()+"/fifo", os.O_WRONLY, 0)
		if err == nil {
			err = f.Close()
		}
		released <- err
	}()
	<-about
	for range 1000 {
		_, err := ws.Open(t.Context(), "", "fifo")
		require.ErrorIs(t, err, workspace.ErrNotRegular)
	}
	require.False(t, watch.any(), "a writer that is let in opens the file")

	f, err := os.OpenFile(ws.Dir()+"/fifo", os.O_RDONLY, 0) // waits for the writer
	require.NoError(t, err)
	require.NoError(t, <-released)
	require.NoError(t, f.Close())
}

func TestFilesOfProcHaveContentAndNoSize(t *testing.T) {
	ws := tree(t)
	require.Contains(t, contents(t, ws, "/proc/self/status"), "Pid:")
	f, err := ws.Open(t.Context(), "", "/proc/self/status")
	require.NoError(t, err)
	require.Zero(t, f.Size())
	require.NoError(t, f.Close())
}

// descriptors returns how many file descriptors the process has.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

func TestNothingLeaksDescriptors(t *testing.T) {
	ws := zoo(t)
	paths := []string{"missing", "regular/x", "regular/", strings.Repeat("n", 256), "/dev/null", "/dev/zero", "/"}
	entries, err := os.ReadDir(ws.Dir())
	require.NoError(t, err)
	for _, e := range entries {
		paths = append(paths, e.Name())
	}
	visit := func() {
		for _, path := range paths {
			if f, err := ws.Open(t.Context(), "", path); err == nil {
				require.NoError(t, f.Close())
			}
			if d, err := ws.OpenDir(t.Context(), "", path); err == nil {
				_, _ = d.ReadDir(1)
				require.NoError(t, d.Close())
			}
		}
	}
	visit() // the runtime opens some of its own at first
	before := descriptors(t)
	for range 20 {
		visit()
	}
	require.Equal(t, before, descriptors(t))
}

// TestOpenWhileTheNameChanges opens a link that leads now here, now there.
func TestOpenWhileTheNameChanges(t *testing.T) {
	ws := zoo(t)
	watch := watchOpens(t, ws.Dir()+"/fifo")
	stop, stopped := make(chan struct{}), make(chan error, 1)
	swap := func(target string) error {
		if err := os.Symlink(target, ws.Dir()+"/next"); err != nil {
			return err
		}
		return os.Rename(ws.Dir()+"/next", ws.Dir()+"/name")
	}
	require.NoError(t, swap("regular"))
	go func() {
		targets := []string{"dir", "regular", "fifo", "nowhere"}
		for i := 0; ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := swap(targets[i%len(targets)]); err != nil {
				stopped <- err
				return
			}
		}
	}()
	visitName(t, ws)
	before := descriptors(t)
	var opening sync.WaitGroup
	for range 2 {
		opening.Go(func() {
			for range 2000 {
				visitName(t, ws)
			}
		})
	}
	opening.Wait()
	close(stop)
	require.NoError(t, <-stopped)
	require.Equal(t, before, descriptors(t))
	require.False(t, watch.any(), "the FIFO is never opened")
}

func visitName(t *testing.T, ws *workspace.Workspace) {
	f, err := ws.Open(t.Context(), "", "name")
	if err != nil {
		var e *workspace.Error
		if !errors.As(err, &e) || e.Code != workspace.ErrIsDirectory.Code &&
			e.Code != workspace.ErrNotRegular.Code && e.Code != workspace.ErrNotFound.Code {
			t.Errorf("open: %v", err)
		}
		return
	}
	defer f.Close() //nolint:errcheck // read only
	if data, err := io.ReadAll(f); err != nil || string(data) != "regular" {
		t.Errorf("read %q: %v", data, err)
	}
}

// asNobody runs the calling test once more, in a process of another user.
func asNobody(t *testing.T) (isNobody bool) {
	t.Helper()
	const nobody = 65534
	if os.Geteuid() == nobody {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	c.Dir, c.Env = "/", append(os.Environ(), "TMPDIR=/tmp")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	return false
}

func TestPermissionDenied(t *testing.T) {
	if !asNobody(t) {
		return
	}
	ws := tree(t, "unreadable", "locked/file", "blind/file")
	require.NoError(t, os.Chmod(ws.Dir()+"/unreadable", 0))
	require.NoError(t, os.Chmod(ws.Dir()+"/locked", 0))
	require.NoError(t, os.Chmod(ws.Dir()+"/blind", 0o300))
	t.Cleanup(func() {
		_ = os.Chmod(ws.Dir()+"/locked", 0o700)
		_ = os.Chmod(ws.Dir()+"/blind", 0o700)
	})
	visit := func() {
		for _, path := range []string{"unreadable", "locked/file"} {
			_, err := ws.Open(t.Context(), "", path)
			require.ErrorIs(t, err, workspace.ErrPermission, path)
			require.ErrorIs(t, err, os.ErrPermission, path)
		}
		for _, path := range []string{"locked", "blind", "locked/x"} {
			_, err := ws.OpenDir(t.Context(), "", path)
			require.ErrorIs(t, err, workspace.ErrPermission, path)
		}
	}
	visit()
	before := descriptors(t)
	visit()
	require.Equal(t, before, descriptors(t))
	require.Equal(t, "blind/file", contents(t, ws, "blind/file"))
	_, err := workspace.New(ws.Dir() + "/locked/file")
	require.ErrorIs(t, err, workspace.ErrPermission)
}

// TestReadThatWaitsIsCancelled reads a regular file that never ends. It takes
// what is in the kernel's log from others who read it, so it is not for every
// day.
func TestReadThatWaitsIsCancelled(t *testing.T) {
	if os.Getenv("TAUKIT_KMSG") == "" {
		t.Skip("takes the kernel's log: set TAUKIT_KMSG as root to run")
	}
	ws := tree(t)
	f, err := ws.Open(t.Context(), "", "/proc/kmsg")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, f)
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Second):
		_ = f.Close()
		<-done
		t.Fatal("the read waits in the runtime, and would for ever")
	}
}
