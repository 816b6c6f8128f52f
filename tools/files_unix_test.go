//go:build unix

package tools_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/workspace"
)

// zoo returns a workspace with one entry of each kind.
func zoo(t *testing.T) *workspace.Workspace {
	t.Helper()
	ws := newWorkspace(t, map[string]string{"file": "content\n", "dir/inner": "inner\n"})
	require.NoError(t, unix.Mkfifo(ws.Dir()+"/fifo", 0o666))
	for name, target := range map[string]string{
		"null": "/dev/null", "dangling": "nowhere", "loop": "loop", "to-file": "file", "to-dir": "dir",
	} {
		require.NoError(t, os.Symlink(target, ws.Dir()+"/"+name))
	}
	return ws
}

func TestReadAndLsFileErrors(t *testing.T) {
	ws := zoo(t)
	tool := map[string]tools.Tool{"read": tools.NewRead(tools.Env{Workspace: ws}), "list": tools.NewLs(tools.Env{Workspace: ws})}
	long := strings.Repeat("n", 256)
	for _, tt := range []struct{ verb, path, code, reason string }{
		{"read", "dir", framing.CodeIsDirectory, "is a directory; use ls to list it"},
		{"read", "to-dir", framing.CodeIsDirectory, "is a directory; use ls to list it"},
		{"read", ".", framing.CodeIsDirectory, "is a directory; use ls to list it"},
		{"read", "file/x", framing.CodeNotDirectory, "not a directory"},
		{"read", "file/", framing.CodeNotDirectory, "not a directory"},
		{"read", "fifo", framing.CodeNotRegular, "not a regular file"},
		{"read", "null", framing.CodeNotRegular, "not a regular file"},
		{"read", "/dev/zero", framing.CodeNotRegular, "not a regular file"},
		{"read", "dangling", framing.CodeNotFound, "no such file or directory"},
		{"read", "no/such/thing", framing.CodeNotFound, "no such file or directory"},
		{"read", "loop", framing.CodeLoop, "too many levels of symbolic links"},
		{"read", long, framing.CodeIO, "file name too long"},
		{"list", "file", framing.CodeNotDirectory, "not a directory"},
		{"list", "to-file", framing.CodeNotDirectory, "not a directory"},
		{"list", "file/x", framing.CodeNotDirectory, "not a directory"},
		{"list", "fifo", framing.CodeNotDirectory, "not a directory"},
		{"list", "null", framing.CodeNotDirectory, "not a directory"},
		{"list", "fil", framing.CodeNotFound, "no such file or directory"},
		{"list", "dangling", framing.CodeNotFound, "no such file or directory"},
		{"list", "loop", framing.CodeLoop, "too many levels of symbolic links"},
		{"list", long, framing.CodeIO, "file name too long"},
	} {
		t.Run(fmt.Sprintf("%s %.20s", tt.verb, tt.path), func(t *testing.T) {
			out := call(t, tool[tt.verb], readArgs{Path: tt.path})
			requireFailure(t, out, tt.code, fmt.Sprintf("cannot %s %q: %s", tt.verb, tt.path, tt.reason))
			require.Len(t, out.Result.Headers, 1)
			require.ErrorAs(t, out.Error, new(*workspace.Error))
			require.True(t, strings.HasPrefix(out.Display.Header(), tt.path))
		})
	}
}

func TestReadFollowsLinks(t *testing.T) {
	ws := zoo(t)
	for path, want := range map[string]string{
		"to-file": "1 content", "to-dir/inner": "1 inner", "to-dir/../file": "1 content", ws.Dir() + "/file": "1 content",
	} {
		require.Equal(t, want, call(t, tools.NewRead(tools.Env{Workspace: ws}), readArgs{Path: path}).Text)
	}
	require.Equal(t, "1 inner", call(t, tools.NewLs(tools.Env{Workspace: ws}), readArgs{Path: "to-dir/"}).Text)
}

func TestReadStartsAtTheDirectoryOfTheCall(t *testing.T) {
	ws := zoo(t)
	out := tools.NewRead(tools.Env{Workspace: ws}).Call(t.Context(), tools.Call{Dir: ws.Dir() + "/dir", Arguments: []byte(`{"path":"inner"}`)})
	require.Equal(t, "1 inner", out.Text)
	out = tools.NewLs(tools.Env{Workspace: ws}).Call(t.Context(), tools.Call{Dir: ws.Dir() + "/dir", Arguments: []byte(`{}`)})
	require.Equal(t, "1 inner", out.Text)
}

func TestReadProc(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc")
	}
	out := call(t, tools.NewRead(tools.Env{Workspace: newWorkspace(t, nil)}), readArgs{Path: "/proc/self/status"})
	require.True(t, strings.HasPrefix(out.Text, "1 Name:"), out.Text)
}

func TestReadAndLsLeakNoDescriptors(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/dev/fd")
		require.NoError(t, err)
		return len(entries)
	}
	ws := zoo(t)
	require.NoError(t, os.WriteFile(ws.Dir()+"/many", []byte(strings.Repeat("\n", 3000)), 0o666))
	require.NoError(t, os.Truncate(ws.Dir()+"/file", 17<<20))
	spool := newSpool(t, artifact.Options{})
	visit := func() {
		for _, path := range []string{"file", "many", "dir", "fifo", "null", "dangling", "loop", "dir/inne", "file/x", "."} {
			for _, tool := range []tools.Tool{tools.NewRead(tools.Env{Workspace: ws, Spool: spool}), tools.NewLs(tools.Env{Workspace: ws, Spool: spool})} {
				call(t, tool, readArgs{Path: path})
			}
			call(t, tools.NewRead(tools.Env{Workspace: ws, Spool: spool}), readArgs{Path: path, Start: 9000})
		}
	}
	visit()
	one := count()
	visit()
	two := count()
	visit()
	require.Equal(t, two-one, count()-two, "a saved output holds its lock; each visit saves as many")
	require.Equal(t, 1, two-one, "for the one file that is cut")
}

func TestLsOfDirectoryThatVanishes(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"gone/a": ""})
	d, err := ws.OpenDir(t.Context(), "", "gone")
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(ws.Dir()+"/gone"))
	out := call(t, tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: d})}), `{}`)
	requireFailure(t, out, framing.CodeNotFound, `cannot list ".": no such file or directory`)
	out = call(t, tools.NewLs(tools.Env{Workspace: ws}), `{"path":"gone"}`)
	requireFailure(t, out, framing.CodeNotFound, `cannot list "gone": no such file or directory`)
}

func TestLsOfRealNames(t *testing.T) {
	ws := zoo(t)
	hostile := []string{"we\nird", "esc\x1b[31m", "\xff\xfe", "  ", "error: x", "-"}
	for _, name := range hostile {
		if err := os.WriteFile(ws.Dir()+"/"+name, nil, 0o666); err != nil {
			t.Skipf("this file system refuses %q: %v", name, err)
		}
	}
	require.NoError(t, os.Mkdir(ws.Dir()+"/Dir\n2 ", 0o777))
	out := call(t, tools.NewLs(tools.Env{Workspace: ws}), `{}`)
	require.Equal(t, strings.Join([]string{
		`1(escaped) \u{20}\u{20}`, `2 -`, `3(symlink) dangling`, `4 dir/`, `5(escaped) Dir\n2\u{20}/`, `6 error: x`,
		`7(escaped) esc\u{1b}[31m`, `8(special) fifo`, `9 file`, `10(symlink) loop`, `11(symlink) null`, `12(symlink) to-dir`,
		`13(symlink) to-file`, `14(escaped) we\nird`, "15(invalid-utf8) \ufffd\ufffd",
	}, "\n"), out.Text)
}
