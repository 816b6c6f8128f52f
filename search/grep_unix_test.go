//go:build unix

package search

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestSpecialFilesAreNeverOpened(t *testing.T) {
	noUser(t)
	root := tree(t, "a.txt", "needle\n", ".git/HEAD", "")
	require.NoError(t, unix.Mkfifo(root+"/p", 0o600))
	require.NoError(t, unix.Mkfifo(root+"/.gitignore", 0o600))
	require.NoError(t, os.MkdirAll(root+"/.git/info", 0o700))
	require.NoError(t, unix.Mkfifo(root+"/.git/info/exclude", 0o600))
	// The path of a socket must be short.
	t.Chdir(root)
	l, err := net.Listen("unix", "s")
	require.NoError(t, err)
	defer l.Close()

	o := GrepOptions{WalkOptions: WalkOptions{Root: root}, Pattern: mustCompile(t, "needle")}
	require.Equal(t, "a.txt\n1:needle\n", mustGrep(t, o)) // else it would wait for ever
	require.Equal(t, []string{"a.txt"}, walk(t, o.WalkOptions))
	for _, name := range []string{"p", "s"} {
		o.Root = filepath.Join(root, name)
		_, err := grep(t.Context(), o)
		require.ErrorIs(t, err, ErrNotRegular)
	}
}

func TestEntriesReplacedAfterListing(t *testing.T) {
	noUser(t)
	root := tree(t, "f1", "needle\n", "f2", "needle\n", "f3", "needle\n", "f4", "needle\n", "d/x", "needle\n", "z", "needle\n", "real", "needle\n")
	o := WalkOptions{Root: root}
	w, _, err := newWalker(t.Context(), &o)
	require.NoError(t, err)
	var items []item
	w.emit = func(i item) bool {
		if i.path() == "d/x" { // all of the root was listed
			for _, name := range []string{"f1", "f2", "f3", "f4"} {
				require.NoError(t, os.Remove(filepath.Join(root, name)))
			}
			require.NoError(t, unix.Mkfifo(root+"/f1", 0o600))
			require.NoError(t, os.Symlink("real", root+"/f2"))
			require.NoError(t, os.Mkdir(root+"/f3", 0o700))
		}
		items = append(items, i)
		return true
	}
	require.NoError(t, w.walk())
	require.Len(t, items, 7)

	var u unsearched
	g := GrepOptions{WalkOptions: o, Pattern: mustCompile(t, "needle"), Workers: 1, ahead: aheadBytes, sizes: sizes{BinaryBytes, chunkBytes, segmentBytes, MaxLineBytes, MaxUTF16Bytes}}
	g.Errors = u.add
	s := newSearch(t.Context(), &g, &walker{ctx: t.Context(), o: &g.WalkOptions, root: root + "/none"}, false)
	defer s.close()
	worker := newWorker(s, false)
	var found []string
	for _, i := range items {
		j := &job{items: []item{i}, results: make([]result, 1), ready: make(chan int, 1)}
		worker.job, worker.index, worker.of, worker.published = j, 0, &j.results[0], 0
		worker.do(i)
		require.NoError(t, s.result(i, &j.results[0], func(m FileMatches) bool {
			found = append(found, m.Path)
			return true
		}))
	}
	require.Equal(t, []string{"d/x", "real", "z"}, found)
	require.Empty(t, u, "what vanished is not reported")
}

// asNobody runs the calling test once more in a process that may not read
// everything, and reports whether this one is done with it.
func asNobody(t *testing.T) (done bool) {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("root may read everything")
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return true
}

// deny makes files unreadable for the test.
func deny(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, 0))
		t.Cleanup(func() { _ = os.Chmod(path, info.Mode()) })
	}
}

func TestUnreadablePathsAreReportedInOrder(t *testing.T) {
	if asNobody(t) {
		return
	}
	noUser(t)
	root := tree(t, "a/f", "needle\n", "b/f", "needle\n", "c", "needle\n", "d", "needle\n", "e/.gitignore", "f\n", "e/f", "needle\n")
	deny(t, root+"/b", root+"/c", root+"/e/.gitignore")
	for _, workers := range []int{1, 8} {
		var u unsearched
		o := GrepOptions{WalkOptions: WalkOptions{Root: root, Errors: u.add}, Pattern: mustCompile(t, "needle"), Workers: workers}
		require.Equal(t, "a/f\n1:needle\nd\n1:needle\ne/f\n1:needle\n", mustGrep(t, o))
		require.Equal(t, unsearched{"b: permission denied", "c: permission denied", "e/.gitignore: permission denied"}, u)

		u = nil
		o.Limit = 1
		_, err := grep(t.Context(), o)
		require.Equal(t, ErrLimit, err)
		require.Equal(t, unsearched{"b: permission denied", "c: permission denied"}, u, "nothing behind the sentinel")
	}

	for _, name := range []string{"b", "c"} {
		_, err := grep(t.Context(), GrepOptions{WalkOptions: WalkOptions{Root: filepath.Join(root, name)}, Pattern: mustCompile(t, "needle")})
		require.ErrorIs(t, err, os.ErrPermission, "the root cannot be left out")
	}
}

func TestGrepLeavesNoFileOpen(t *testing.T) {
	noUser(t)
	if _, err := os.ReadDir("/dev/fd"); err != nil {
		t.Skip("no list of open files")
	}
	var files []string
	for i := range 100 {
		files = append(files, "d"+strconv.Itoa(i%9)+"/"+strconv.Itoa(i), strings.Repeat("x\n", 2000))
	}
	root := tree(t, files...)
	before := openFiles(t)
	var most atomic.Int64
	for stop := range 20 {
		o := GrepOptions{WalkOptions: WalkOptions{Root: root}, Pattern: mustCompile(t, "x"), Workers: 4, sizes: sizes{16, 100, 512, MaxLineBytes, MaxUTF16Bytes}}
		seen := 0
		for range Grep(t.Context(), o) {
			most.Store(max(most.Load(), int64(openFiles(t)-before)))
			if seen++; seen == stop*10 {
				break
			}
		}
		require.Equal(t, before, openFiles(t))
	}
	require.LessOrEqual(t, most.Load(), int64(4+1), "a file for each worker, and a directory")
}

// openFiles returns the number of open files of the process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	require.NoError(t, err)
	return len(slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == "." }))
}

// A program that waits to write to a FIFO gets to do so when somebody opens it
// for reading, without waiting or not.
func TestNobodyOpensAFIFO(t *testing.T) {
	noUser(t)
	root := tree(t, "a", "needle\n", "d/b", "needle\n")
	fifos := []string{root + "/p", root + "/d/.gitignore", root + "/.git"}
	for _, path := range fifos {
		require.NoError(t, unix.Mkfifo(path, 0o600))
	}
	over := make(chan struct{})
	var opened atomic.Int64
	var polling sync.WaitGroup
	polling.Go(func() {
		for {
			for _, path := range fifos {
				if fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
					opened.Add(1)
					unix.Close(fd)
				}
			}
			select {
			case <-over:
				return
			default:
			}
		}
	})
	o := GrepOptions{WalkOptions: WalkOptions{Root: root}, Pattern: mustCompile(t, "needle")}
	for range 300 {
		require.Equal(t, "a\n1:needle\nd/b\n1:needle\n", mustGrep(t, o))
	}
	// That opening is seen at all.
	before := opened.Load()
	fd, err := unix.Open(fifos[0], unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return opened.Load() > before }, time.Minute, time.Millisecond)
	unix.Close(fd)
	close(over)
	polling.Wait()
	require.Zero(t, before)
}
