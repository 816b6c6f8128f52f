package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools"
)

func TestMoveToAnotherFileSystem(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"a": "text\n", "b": "\x00binary", "big": strings.Repeat("x", 100_000), "m/x": ""})
	at := func(name string) string { return filepath.Join(ws.Dir(), name) }
	if err := unix.Mount("tmpfs", at("m"), "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(at("m"), unix.MNT_DETACH)) })
	require.NoError(t, os.Chmod(at("b"), 0o751))
	tool := tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic)

	out := call(t, tool, inPatch("*** Update File: a", "*** Move to: m/d/a", "@@", "-text", "+new", "*** Update File: b", "*** Move to: m/b"))
	require.Equal(t, "Success. Updated the following files:\nM m/d/a\nM m/b", out.Text)
	requireContent(t, at("m/d/a"), "new\n")
	requireContent(t, at("m/b"), "\x00binary")
	info, err := os.Stat(at("m/b"))
	require.NoError(t, err)
	require.EqualValues(t, 0o751, info.Mode())
	require.NoFileExists(t, at("b"))

	out = call(t, tool, inPatch("*** Update File: big", "*** Move to: m/big"))
	require.Contains(t, out.Text, "no space left on device\nchanged: false")
	require.FileExists(t, at("big"))
	require.NoFileExists(t, at("m/big"))
}
