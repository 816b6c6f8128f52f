//go:build unix

package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/tools/workspace"
)

func stat(t *testing.T, path string) (st unix.Stat_t) {
	t.Helper()
	require.NoError(t, unix.Lstat(path, &st))
	return st
}

func TestSymbolicLinksStay(t *testing.T) {
	ws := tree(t, "d/target", "e/x")
	link := func(target, name string) { require.NoError(t, os.Symlink(target, filepath.Join(ws.Dir(), name))) }
	link("d/target", "near")
	link("../near", "e/far")
	link(filepath.Join(ws.Dir(), "e", "far"), "absolute")
	link("e", "dir")
	for _, path := range []string{"near", "e/far", "absolute", "dir/far", "dir/../absolute"} {
		write(t, ws, path, path)
		requireContent(t, filepath.Join(ws.Dir(), "d", "target"), path)
		require.NotZero(t, stat(t, filepath.Join(ws.Dir(), path)).Mode&unix.S_IFLNK)
		target, err := ws.Target(t.Context(), "", path)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(ws.Dir(), "d", "target"), target.Key)
	}
	require.Equal(t, []string{"target"}, names(t, filepath.Join(ws.Dir(), "d")))
}

func TestDotDotIsWhatTheSystemTakesItFor(t *testing.T) {
	ws := tree(t, "f", "a/b/x", "a/f")
	require.NoError(t, os.Symlink("a/b", filepath.Join(ws.Dir(), "link")))
	write(t, ws, "link/../f", "new")
	requireContent(t, filepath.Join(ws.Dir(), "a", "f"), "new")
	requireContent(t, filepath.Join(ws.Dir(), "f"), "f")
}

func TestLinkThatLeadsNowhereIsTheFileThatItNames(t *testing.T) {
	for _, target := range []string{"new", "d/new", "not/there/new"} {
		ws := tree(t, "d/x")
		require.NoError(t, os.Symlink(target, filepath.Join(ws.Dir(), "link")))
		require.NoError(t, os.Symlink("link", filepath.Join(ws.Dir(), "again")))
		require.True(t, write(t, ws, "again", "content").Created)
		requireContent(t, filepath.Join(ws.Dir(), target), "content")
		require.False(t, write(t, ws, "link", "more").Created)
	}
	ws := tree(t)
	require.NoError(t, os.Symlink("not/there", filepath.Join(ws.Dir(), "dir")))
	require.True(t, write(t, ws, "dir/new", "content").Created)
	requireContent(t, filepath.Join(ws.Dir(), "not", "there", "new"), "content")
}

func TestLinksHaveALimit(t *testing.T) {
	for target, made := range map[string]string{"f": "f", "missing": "missing"} {
		ws := tree(t, "f")
		for i := range 41 {
			require.NoError(t, os.Symlink(target, filepath.Join(ws.Dir(), strconv.Itoa(i))))
			target = strconv.Itoa(i)
		}
		write(t, ws, "39", "forty links")
		requireContent(t, filepath.Join(ws.Dir(), made), "forty links")
		require.NoError(t, os.Symlink("loop", filepath.Join(ws.Dir(), "loop")))
		for _, path := range []string{"40", "loop", "loop/x"} {
			_, err := ws.Change(t.Context(), workspace.OpEdit, "", path)
			require.ErrorIs(t, err, workspace.ErrLoop)
		}
	}
}

func TestHardLinksStay(t *testing.T) {
	for _, content := range []string{"x", "of the same siz", "longer than it was before"} {
		ws := tree(t, "as it was before")
		one, two := filepath.Join(ws.Dir(), "as it was before"), filepath.Join(ws.Dir(), "two")
		require.NoError(t, os.Link(one, two))
		inode := stat(t, one).Ino
		write(t, ws, "two", content)
		requireContent(t, one, content)
		requireContent(t, two, content)
		require.Equal(t, inode, stat(t, one).Ino)
		require.Equal(t, inode, stat(t, two).Ino)
		require.Len(t, names(t, ws.Dir()), 2)
	}
}

func TestModeIsKept(t *testing.T) {
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	for _, links := range []int{1, 2} {
		for mode, want := range map[uint32]uint32{
			0o644: 0o644, 0o600: 0o600, 0o777: 0o777, 0o755: 0o755,
			0o1755: 0o1755, 0o4755: 0o755, 0o2755: 0o755, 0o6711: 0o711,
		} {
			ws := tree(t, "f")
			path := filepath.Join(ws.Dir(), "f")
			if links > 1 {
				require.NoError(t, os.Link(path, path+"2"))
			}
			require.NoError(t, unix.Chmod(path, mode))
			write(t, ws, "f", "new")
			require.Equal(t, want, uint32(stat(t, path).Mode)&0o7777, "%o, %d links", mode, links)
		}
	}
}

func TestModeIsThatOfTheLastMoment(t *testing.T) {
	ws := tree(t, "f")
	path := filepath.Join(ws.Dir(), "f")
	c := change(t, ws, workspace.OpEdit, "f")
	_, err := c.Read(t.Context())
	require.NoError(t, err)
	_, err = c.Commit(t.Context(), []byte("new"), func(context.Context) error { return os.Chmod(path, 0o751) })
	require.NoError(t, err)
	require.EqualValues(t, 0o751, stat(t, path).Mode&0o7777)
}

func TestLinkOfTheLastMomentStays(t *testing.T) {
	ws := tree(t, "f")
	path := filepath.Join(ws.Dir(), "f")
	c := change(t, ws, workspace.OpEdit, "f")
	_, err := c.Read(t.Context())
	require.NoError(t, err)
	_, err = c.Commit(t.Context(), []byte("new"), func(context.Context) error { return os.Link(path, path+"2") })
	require.NoError(t, err)
	requireContent(t, path, "new")
	requireContent(t, path+"2", "new")
}

func TestNewFilesObeyTheUmask(t *testing.T) {
	for umask, want := range map[int][2]uint32{0o022: {0o644, 0o755}, 0o077: {0o600, 0o700}, 0: {0o666, 0o777}} {
		ws := tree(t)
		old := unix.Umask(umask)
		write(t, ws, "d/f", "new")
		unix.Umask(old)
		require.Equal(t, want[0], uint32(stat(t, filepath.Join(ws.Dir(), "d", "f")).Mode)&0o7777)
		require.Equal(t, want[1], uint32(stat(t, filepath.Join(ws.Dir(), "d")).Mode)&0o7777)
	}
}

func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give files away")
	}
	for _, owner := range [][2]int{{65534, 12345}, {65534, os.Getegid()}, {os.Geteuid(), 12345}} {
		ws := tree(t, "f")
		path := filepath.Join(ws.Dir(), "f")
		require.NoError(t, os.Chown(path, owner[0], owner[1]))
		inode := stat(t, path).Ino
		write(t, ws, "f", "new")
		got := stat(t, path)
		require.Equal(t, owner, [2]int{int(got.Uid), int(got.Gid)})
		require.NotEqual(t, inode, got.Ino)
	}
}

func TestLinkThatMovesWhileItsTurnComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := tree(t, "one", "two")
		link := filepath.Join(ws.Dir(), "link")
		require.NoError(t, os.Symlink("one", link))
		first := change(t, ws, workspace.OpEdit, "one")
		second := make(chan *workspace.Change)
		go func() {
			c, err := ws.Change(t.Context(), workspace.OpEdit, "", "link")
			if err != nil {
				t.Error(err)
			}
			second <- c
		}()
		synctest.Wait() // until it waits for its turn
		require.NoError(t, os.Remove(link))
		require.NoError(t, os.Symlink("two", link))
		first.Close()
		c := <-second
		defer c.Close()
		require.Equal(t, filepath.Join(ws.Dir(), "two"), c.Target().Key)
		other, err := ws.Change(t.Context(), workspace.OpEdit, "", "one")
		require.NoError(t, err, "the turn of the first one is free")
		other.Close()
	})
}

func TestLongNames(t *testing.T) {
	for _, n := range []int{230, 250, 255} {
		name := strings.Repeat("n", n)
		ws := tree(t)
		write(t, ws, name, "content")
		inode := stat(t, filepath.Join(ws.Dir(), name)).Ino
		write(t, ws, name, "new")
		require.NotEqual(t, inode, stat(t, filepath.Join(ws.Dir(), name)).Ino)
		requireContent(t, filepath.Join(ws.Dir(), name), "new")
		require.Equal(t, []string{name}, names(t, ws.Dir()))
	}
}

func TestSpecialFilesAreNeverOpened(t *testing.T) {
	ws := zoo(t)
	for _, path := range []string{"fifo", "socket", "null", "to-fifo", "to-socket", "to-null"} {
		_, err := ws.Change(t.Context(), workspace.OpWrite, "", path)
		require.ErrorIs(t, err, workspace.ErrNotRegular, path)
		require.EqualError(t, err, `cannot write "`+path+`": not a regular file`)
	}
	for _, path := range []string{"fifo/x", "fifo/"} {
		_, err := ws.Change(t.Context(), workspace.OpWrite, "", path)
		require.ErrorIs(t, err, workspace.ErrNotDirectory, path)
	}
}

// TestDirectoryBecomesALink puts a link to another directory in the place of
// the one that the file was found in.
func TestDirectoryBecomesALink(t *testing.T) {
	for _, path := range []string{"d/f", "d/new", "d/sub/new"} {
		ws := tree(t, "d/f", "elsewhere/f")
		at := func(name string) string { return filepath.Join(ws.Dir(), name) }
		c := change(t, ws, workspace.OpEdit, path)
		if c.Exists() {
			_, err := c.Read(t.Context())
			require.NoError(t, err)
		}
		swap := func() {
			require.NoError(t, os.Rename(at("d"), at("moved")))
			require.NoError(t, os.Symlink("elsewhere", at("d")))
		}
		swap()
		_, err := c.Commit(t.Context(), []byte("new"), nil)
		require.ErrorIs(t, err, workspace.ErrStaleVersion)
		for _, dir := range []string{"elsewhere", "moved"} {
			require.Equal(t, []string{"f"}, names(t, at(dir)))
		}
		requireContent(t, at("elsewhere/f"), "elsewhere/f")
		requireContent(t, at("moved/f"), "d/f")
	}
}

func TestDirectoryIsRemoved(t *testing.T) {
	for _, path := range []string{"d/f", "d/new", "d/sub/new"} {
		ws := tree(t, "d/f")
		c := change(t, ws, workspace.OpEdit, path)
		require.NoError(t, os.RemoveAll(filepath.Join(ws.Dir(), "d")))
		_, err := c.Commit(t.Context(), []byte("new"), nil)
		require.Error(t, err)
		require.Empty(t, names(t, ws.Dir()))
	}
}

// TestVanishedDirectoryIsNotTheOneAbove looks for names in a directory that was
// removed: nothing with these names in the directory above is touched.
func TestVanishedDirectoryIsNotTheOneAbove(t *testing.T) {
	for name, do := range map[string]func(e, to workspace.Entry) error{
		"remove": func(e, _ workspace.Entry) error { return e.Remove(t.Context(), nil) },
		"rename": func(e, to workspace.Entry) error { return e.Rename(t.Context(), to, nil) },
		"rename to": func(e, to workspace.Entry) error {
			info, _ := to.Found()
			to.Recall(info, []byte("f"), time.Time{})
			return to.Rename(t.Context(), e, nil)
		},
		"mkdir":  func(e, _ workspace.Entry) error { return e.Mkdir(t.Context()) },
		"rmdir":  func(e, _ workspace.Entry) error { return e.Rmdir(t.Context()) },
		"read":   func(e, _ workspace.Entry) error { _, err := e.Read(t.Context(), 9); return err },
		"verify": func(e, _ workspace.Entry) error { return e.Verify(t.Context()) },
	} {
		ws := tree(t, "d/f", "f", "other")
		at := func(name string) string { return filepath.Join(ws.Dir(), name) }
		require.NoError(t, os.WriteFile(at("d/f"), []byte("f"), 0o666))
		was, err := ws.Lookup(t.Context(), "", "d/f", false)
		require.NoError(t, err)
		info, _ := was.Found()
		require.NoError(t, was.Close())
		require.NoError(t, os.RemoveAll(at("d")))
		e, err := ws.Lookup(t.Context(), "", "d/f", false)
		require.NoError(t, err)
		require.Equal(t, at("d/f"), e.Key())
		to, err := ws.Lookup(t.Context(), "", "f", false)
		require.NoError(t, err)
		if name != "mkdir" && name != "rename to" {
			e.Recall(info, []byte("f"), time.Time{})
		}
		require.Error(t, do(e, to), name)
		require.NoError(t, e.Close())
		require.NoError(t, to.Close())
		require.Equal(t, []string{"f", "other"}, names(t, ws.Dir()), name)
	}
}

// TestLinkToAFileThatIsReplaced looks through a link while its target is
// replaced, again and again: it is always there.
func TestLinkToAFileThatIsReplaced(t *testing.T) {
	ws := tree(t, "f")
	require.NoError(t, os.Symlink("f", filepath.Join(ws.Dir(), "link")))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := replaceWith("f")(filepath.Join(ws.Dir(), "f")); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	found := 0
	for range 2000 {
		if _, err := ws.Target(t.Context(), "", "link"); err == nil {
			found++
		}
	}
	close(stop)
	<-stopped
	require.Greater(t, found, 1990, "but for a run of bad luck")
}

func TestLeftoversOfOthersStay(t *testing.T) {
	ws := tree(t, "f")
	at := func(name string) string { return filepath.Join(ws.Dir(), name) }
	kept := []string{".f", ".f1234567890123456", ".taukit-", ".taukit-12x", ".taukit-12.bak", ".f.taukit-1234567890123456", "taukit-1234567890123456"}
	for _, name := range kept {
		require.NoError(t, os.WriteFile(at(name), nil, 0o600))
	}
	require.NoError(t, os.Mkdir(at(".taukit-1"), 0o700))
	require.NoError(t, unix.Mkfifo(at(".taukit-2"), 0o600))
	require.NoError(t, os.Symlink("f", at(".taukit-3")))
	require.NoError(t, os.Link(at(".f"), at(".taukit-4")))
	if os.Geteuid() == 0 {
		require.NoError(t, os.WriteFile(at(".taukit-5"), nil, 0o600))
		require.NoError(t, os.Chown(at(".taukit-5"), 1, 1))
	}
	locked, err := os.Create(at(".taukit-6"))
	require.NoError(t, err)
	defer locked.Close()
	require.NoError(t, unix.Flock(int(locked.Fd()), unix.LOCK_EX))
	before := names(t, ws.Dir())

	dead := at(".taukit-7")
	require.NoError(t, os.WriteFile(dead, nil, 0o600))
	write(t, ws, "f", "new")
	require.Equal(t, before, names(t, ws.Dir()))
	require.NoFileExists(t, dead)

	// One that was linked to its name just before its process died.
	require.NoError(t, os.Link(at("f"), dead))
	write(t, ws, "f", "newer")
	require.Equal(t, before, names(t, ws.Dir()))
	require.EqualValues(t, 1, stat(t, at("f")).Nlink)
}
