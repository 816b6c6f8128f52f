package workspace_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/tools/workspace"
)

func TestUnprivileged(t *testing.T) {
	if os.Geteuid() == 0 { // a file of root's that everybody may write to, for the last part
		foreign, err := os.MkdirTemp("", "") // one of the test's own would be closed to others
		require.NoError(t, err)
		defer os.RemoveAll(foreign)
		require.NoError(t, os.WriteFile(filepath.Join(foreign, "f"), nil, 0o666))
		require.NoError(t, os.Chmod(filepath.Join(foreign, "f"), 0o666))
		require.NoError(t, os.Chmod(foreign, 0o777))
		t.Setenv("TAUKIT_FOREIGN", foreign)
	}
	if !asNobody(t) {
		return
	}
	t.Run("read-only file", func(t *testing.T) {
		ws := tree(t, "f")
		path := filepath.Join(ws.Dir(), "f")
		require.NoError(t, os.Chmod(path, 0o444))
		before := stat(t, path)
		c := change(t, ws, workspace.OpWrite, "f")
		_, err := c.Commit(t.Context(), []byte("new"), nil)
		require.EqualError(t, err, `cannot write "f": permission denied`)
		require.ErrorIs(t, err, workspace.ErrPermission)
		require.ErrorIs(t, err, os.ErrPermission)
		after := stat(t, path)
		after.Atim = before.Atim
		require.Equal(t, before, after)
		require.Equal(t, []string{"f"}, names(t, ws.Dir()))
	})
	t.Run("directory that takes no file", func(t *testing.T) {
		ws := tree(t, "d/f")
		dir := filepath.Join(ws.Dir(), "d")
		require.NoError(t, os.Chmod(dir, 0o555))
		t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
		inode := stat(t, dir+"/f").Ino
		write(t, ws, "d/f", "new")
		requireContent(t, dir+"/f", "new")
		require.Equal(t, inode, stat(t, dir+"/f").Ino, "in place")

		c := change(t, ws, workspace.OpWrite, "d/new/f")
		_, err := c.Commit(t.Context(), []byte("new"), nil)
		require.ErrorIs(t, err, workspace.ErrPermission)
		require.Equal(t, []string{"f"}, names(t, dir))
	})
	t.Run("directory that cannot be listed", func(t *testing.T) {
		ws := tree(t, "d/f")
		dir := filepath.Join(ws.Dir(), "d")
		require.NoError(t, os.Chmod(dir, 0o311))
		t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
		write(t, ws, "d/f", "new")
		requireContent(t, dir+"/f", "new")
		target, err := ws.Target(t.Context(), "", "d/f")
		require.NoError(t, err)
		require.Equal(t, dir+"/f", target.Key)
	})
	t.Run("model that is read-only", func(t *testing.T) {
		ws := tree(t, "f")
		require.NoError(t, os.Chmod(filepath.Join(ws.Dir(), "f"), 0o444))
		like, err := ws.Lookup(t.Context(), "", "f", true)
		require.NoError(t, err)
		defer like.Close()
		to, err := ws.Lookup(t.Context(), "", "new", true)
		require.NoError(t, err)
		defer to.Close()
		_, err = to.Stage(t.Context(), []byte("new"), workspace.StageOptions{Like: like, Writable: true})
		require.ErrorIs(t, err, os.ErrPermission)
		staged, err := to.Stage(t.Context(), []byte("new"), workspace.StageOptions{Like: like})
		require.NoError(t, err)
		staged.Discard()
		require.Equal(t, []string{"f"}, names(t, ws.Dir()))
	})
	t.Run("unreadable file", func(t *testing.T) {
		ws := tree(t, "f")
		require.NoError(t, os.Chmod(filepath.Join(ws.Dir(), "f"), 0o200))
		c := change(t, ws, workspace.OpWrite, "f")
		_, err := c.Commit(t.Context(), []byte("new"), nil)
		require.ErrorIs(t, err, workspace.ErrPermission)
	})
	t.Run("file of another owner", func(t *testing.T) {
		foreign := os.Getenv("TAUKIT_FOREIGN")
		if foreign == "" {
			t.Skip("root has to make it")
		}
		ws, err := workspace.New(foreign)
		require.NoError(t, err)
		path := filepath.Join(ws.Dir(), "f")
		before := stat(t, path)
		require.Zero(t, before.Uid, "root's")
		write(t, ws, "f", "new")
		after := stat(t, path)
		require.Equal(t, []any{before.Ino, before.Uid, before.Gid, before.Mode}, []any{after.Ino, after.Uid, after.Gid, after.Mode})
		requireContent(t, path, "new")
		require.Equal(t, []string{"f"}, names(t, ws.Dir()))
	})
}

func TestExtendedAttributesAreKept(t *testing.T) {
	ws := tree(t, "f")
	path := filepath.Join(ws.Dir(), "f")
	if err := unix.Setxattr(path, "user.note", []byte("kept"), 0); errors.Is(err, unix.ENOTSUP) {
		t.Skip("no extended attributes here")
	}
	require.NoError(t, unix.Setxattr(path, "user.empty", nil, 0))
	inode := stat(t, path).Ino
	write(t, ws, "f", "new")
	require.NotEqual(t, inode, stat(t, path).Ino)
	value := make([]byte, 64)
	n, err := unix.Getxattr(path, "user.note", value)
	require.NoError(t, err)
	require.Equal(t, "kept", string(value[:n]))
	n, err = unix.Getxattr(path, "user.empty", value)
	require.NoError(t, err)
	require.Zero(t, n)
}

// acl gives user 12345 the right to read and write, in the form of the
// extended attribute: version 2, then tag, permissions and id of each entry.
var acl = []byte{
	2, 0, 0, 0,
	1, 0, 6, 0, 255, 255, 255, 255, // owner rw-
	2, 0, 6, 0, 0x39, 0x30, 0, 0, // user 12345 rw-
	4, 0, 4, 0, 255, 255, 255, 255, // group r--
	16, 0, 6, 0, 255, 255, 255, 255, // mask rw-
	32, 0, 0, 0, 255, 255, 255, 255, // other ---
}

const aclAttribute, defaultACL = "system.posix_acl_access", "system.posix_acl_default"

func TestAccessControlListsAreKept(t *testing.T) {
	ws := tree(t, "f", "d/f")
	path := filepath.Join(ws.Dir(), "f")
	if err := unix.Setxattr(path, aclAttribute, acl, 0); errors.Is(err, unix.ENOTSUP) {
		t.Skip("no access control lists here")
	}
	mode := stat(t, path).Mode
	write(t, ws, "f", "new")
	value := make([]byte, 64)
	n, err := unix.Getxattr(path, aclAttribute, value)
	require.NoError(t, err)
	require.Equal(t, acl, value[:n])
	require.Equal(t, mode, stat(t, path).Mode)

	// The list that a directory gives to new files is not one for old files.
	require.NoError(t, unix.Setxattr(filepath.Join(ws.Dir(), "d"), defaultACL, acl, 0))
	path = filepath.Join(ws.Dir(), "d", "f")
	mode = stat(t, path).Mode
	write(t, ws, "d/f", "new")
	_, err = unix.Getxattr(path, aclAttribute, value)
	require.ErrorIs(t, err, unix.ENODATA)
	require.Equal(t, mode, stat(t, path).Mode)

	write(t, ws, "d/new", "new")
	n, err = unix.Getxattr(filepath.Join(ws.Dir(), "d", "new"), aclAttribute, value)
	require.NoError(t, err)
	require.Equal(t, acl, value[:n])
}

func TestAppendOnlyAndImmutableFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for _, flag := range []string{"+i", "+a"} {
		ws := tree(t, "f")
		path := filepath.Join(ws.Dir(), "f")
		if exec.CommandContext(t.Context(), "chattr", flag, path).Run() != nil {
			t.Skip("no such flags here")
		}
		t.Cleanup(func() { _ = exec.Command("chattr", "-i", "-a", path).Run() }) //nolint:noctx // the context of the test has ended
		c := change(t, ws, workspace.OpEdit, "f")
		_, err := c.Commit(t.Context(), []byte("new"), nil)
		require.ErrorIs(t, err, workspace.ErrPermission, flag)
		requireContent(t, path, "f")
		require.Equal(t, []string{"f"}, names(t, ws.Dir()))
	}
}

// mount mounts a file system on a directory for the time of the test.
func mount(t *testing.T, source, dir, kind string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount(source, dir, kind, flags, options); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
}

func TestFullDisk(t *testing.T) {
	for _, options := range []string{"size=64k", "nr_inodes=2"} { // the root and the file
		ws := tree(t)
		mount(t, "tmpfs", ws.Dir(), "tmpfs", 0, options)
		path := filepath.Join(ws.Dir(), "f")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
		before := stat(t, path)
		for _, name := range []string{"f", "new", "d/new"} {
			c := change(t, ws, workspace.OpWrite, name)
			_, err := c.Commit(t.Context(), make([]byte, 1<<20), nil)
			require.EqualError(t, err, `cannot write "`+name+`": no space left on device`)
			require.ErrorIs(t, err, unix.ENOSPC)
			require.Equal(t, []string{"f"}, names(t, ws.Dir()))
			c.Close()
		}
		requireContent(t, path, "old")
		after := stat(t, path)
		after.Atim = before.Atim
		require.Equal(t, before, after)
	}
}

func TestFullDiskInPlace(t *testing.T) {
	ws := tree(t)
	mount(t, "tmpfs", ws.Dir(), "tmpfs", 0, "size=64k")
	path := filepath.Join(ws.Dir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
	require.NoError(t, os.Link(path, path+"2"))
	c := change(t, ws, workspace.OpWrite, "f")
	_, err := c.Commit(t.Context(), make([]byte, 1<<20), nil)
	require.EqualError(t, err, `cannot write "f": no space left on device`)
	requireContent(t, path, "old")
	requireContent(t, path+"2", "old")
}

func TestFullDiskInPlaceOfAFileWithHoles(t *testing.T) {
	ws := tree(t)
	mount(t, "tmpfs", ws.Dir(), "tmpfs", 0, "size=64k")
	path := filepath.Join(ws.Dir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
	require.NoError(t, os.Truncate(path, 1<<20))
	require.NoError(t, os.Link(path, path+"2"))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	c := change(t, ws, workspace.OpWrite, "f")
	_, err = c.Commit(t.Context(), bytes.Repeat([]byte("x"), 1<<20), nil)
	require.EqualError(t, err, `cannot write "f": no space left on device`)
	requireContent(t, path, string(before))
}

func TestReadOnlyFileSystem(t *testing.T) {
	ws := tree(t, "f")
	mount(t, ws.Dir(), ws.Dir(), "", unix.MS_BIND, "")
	require.NoError(t, unix.Mount("", ws.Dir(), "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	for _, name := range []string{"f", "new", "d/new"} {
		c := change(t, ws, workspace.OpWrite, name)
		_, err := c.Commit(t.Context(), []byte("new"), nil)
		require.EqualError(t, err, `cannot write "`+name+`": read-only file system`)
		require.ErrorIs(t, err, unix.EROFS)
		c.Close()
	}
	require.Equal(t, []string{"f"}, names(t, ws.Dir()))
}

func TestMountedFileIsRewrittenInPlace(t *testing.T) {
	for _, readOnly := range []bool{false, true} { // the directory
		ws := tree(t, "d/f", "other")
		dir, other := filepath.Join(ws.Dir(), "d"), filepath.Join(ws.Dir(), "other")
		mount(t, dir, dir, "", unix.MS_BIND, "")
		if readOnly {
			require.NoError(t, unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		}
		mount(t, other, filepath.Join(dir, "f"), "", unix.MS_BIND, "")
		write(t, ws, "d/f", "new")
		requireContent(t, other, "new")
		require.Equal(t, []string{"f"}, names(t, dir))
	}
}

func TestChangesLeakNoDescriptors(t *testing.T) {
	ws := zoo(t)
	visit := func() {
		for _, path := range []string{"regular", "to-regular", "new", "a/b/c", "dir", "to-fifo", "loop", "missing/../x", "regular/x", "dangling/"} {
			c, err := ws.Change(t.Context(), workspace.OpWrite, "", path)
			if err != nil {
				continue
			}
			_, err = c.Commit(t.Context(), []byte(path), nil)
			require.NoError(t, err)
			c.Close()
			_, err = ws.Target(t.Context(), "", path)
			require.NoError(t, err)
		}
	}
	visit()
	before := descriptors(t)
	for range 5 {
		require.NoError(t, os.RemoveAll(filepath.Join(ws.Dir(), "a")))
		require.NoError(t, os.Remove(filepath.Join(ws.Dir(), "new")))
		visit()
	}
	require.Equal(t, before, descriptors(t))
}
