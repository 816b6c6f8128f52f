package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/workspace"
)

// root is an absolute directory of a fake file system.
var root = map[bool]string{true: `C:\w`, false: "/w"}[runtime.GOOS == "windows"]

func TestErrorsAreClassified(t *testing.T) {
	denied := &workspace.Error{Code: framing.CodeSandboxDenied, Reason: "outside the project"}
	for _, tt := range []struct {
		name         string
		err          error
		code, reason string
		is           error
	}{
		{"fs.ErrNotExist", fs.ErrNotExist, framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"path error", &fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrNotExist}, framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{"fs.ErrPermission", fs.ErrPermission, framing.CodePermission, "permission denied", workspace.ErrPermission},
		{"fs.ErrExist", fmt.Errorf("own: %w", fs.ErrExist), framing.CodeExists, "file exists", workspace.ErrExists},
		{"sentinel", workspace.ErrNotRegular, framing.CodeNotRegular, "not a regular file", workspace.ErrNotRegular},
		{"wrapped sentinel", fmt.Errorf("own: %w", workspace.ErrIsDirectory), framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{"own error", denied, framing.CodeSandboxDenied, "outside the project", workspace.ErrSandboxDenied},
		{"unknown", fmt.Errorf("opening /secret: %w", io.ErrUnexpectedEOF), framing.CodeIO, "unexpected EOF", nil},
	} {
		t.Run(tt.name, func(t *testing.T) { checkClassified(t, tt.err, tt.code, tt.reason, tt.is) })
	}
}

func TestErrnosAreClassified(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other numbers")
	}
	for _, tt := range []struct {
		errno        syscall.Errno
		code, reason string
		is           error
	}{
		{syscall.ENOENT, framing.CodeNotFound, "no such file or directory", workspace.ErrNotFound},
		{syscall.EACCES, framing.CodePermission, "permission denied", workspace.ErrPermission},
		{syscall.EPERM, framing.CodePermission, "operation not permitted", workspace.ErrPermission},
		{syscall.ENOTDIR, framing.CodeNotDirectory, "not a directory", workspace.ErrNotDirectory},
		{syscall.EISDIR, framing.CodeIsDirectory, "is a directory", workspace.ErrIsDirectory},
		{syscall.ELOOP, framing.CodeLoop, workspace.ErrLoop.Reason, workspace.ErrLoop},
		{syscall.EEXIST, framing.CodeExists, "file exists", workspace.ErrExists},
		{syscall.EIO, framing.CodeIO, syscall.EIO.Error(), nil},
		{syscall.EMFILE, framing.CodeIO, "too many open files", nil},
		{syscall.ENAMETOOLONG, framing.CodeIO, "file name too long", nil},
	} {
		t.Run(tt.errno.Error(), func(t *testing.T) {
			checkClassified(t, tt.errno, tt.code, tt.reason, tt.is)
			checkClassified(t, &os.PathError{Op: "open", Path: "/secret", Err: tt.errno}, tt.code, tt.reason, tt.is)
		})
	}
}

// checkClassified checks what becomes of an error of a file system wherever it
// may occur.
func checkClassified(t *testing.T, cause error, code, reason string, is error) {
	t.Helper()
	for op, err := range everyFailure(t, cause) {
		var e *workspace.Error
		require.ErrorAs(t, err, &e, op)
		require.Equal(t, code, e.Code, op)
		require.Equal(t, reason, e.Reason, op)
		require.Contains(t, err.Error(), reason, op)
		require.ErrorIs(t, err, cause, op)
		for _, sentinel := range []error{
			workspace.ErrNotFound, workspace.ErrPermission, workspace.ErrNotDirectory, workspace.ErrIsDirectory,
			workspace.ErrNotRegular, workspace.ErrExists, workspace.ErrLoop, workspace.ErrSandboxDenied,
		} {
			require.Equal(t, sentinel == is, errors.Is(err, sentinel), "%s is %v", op, sentinel) //nolint:errorlint // it is about which sentinel this is
		}
	}
}

// everyFailure returns the errors of all operations of a workspace whose file
// system gives cause.
func everyFailure(t *testing.T, cause error) map[string]error {
	t.Helper()
	failures := make(map[string]error)
	_, failures["new"] = workspace.NewFS(t.Context(), brokenFS{fakeFS{fault: cause}}, root)

	ws, err := workspace.NewFS(t.Context(), fakeFS{fault: cause}, root)
	require.NoError(t, err)
	_, failures["open"] = ws.Open(t.Context(), "", "x")
	_, failures["open dir"] = ws.OpenDir(t.Context(), "", "x")

	ws, err = workspace.NewFS(t.Context(), fakeFS{file: &fakeFile{fault: cause}, dir: &fakeDir{fault: cause}}, root)
	require.NoError(t, err)
	f, err := ws.Open(t.Context(), "", "x")
	require.NoError(t, err)
	_, failures["read"] = f.Read(make([]byte, 8))
	d, err := ws.OpenDir(t.Context(), "", "x")
	require.NoError(t, err)
	_, failures["read dir"] = d.ReadDir(8)
	return failures
}

func TestErrorTellsOperationAndPath(t *testing.T) {
	ws, err := workspace.NewFS(t.Context(), fakeFS{fault: fs.ErrNotExist}, root)
	require.NoError(t, err)
	_, err = ws.Open(t.Context(), "", "x")
	require.EqualError(t, err, `cannot read "`+ws.Resolve("", "x")+`": no such file or directory`)
	_, err = ws.OpenDir(t.Context(), "", "x")
	require.EqualError(t, err, `cannot list "`+ws.Resolve("", "x")+`": no such file or directory`)
	require.EqualError(t, workspace.ErrLoop, "too many levels of symbolic links")
}

func TestEndOfFileIsNoError(t *testing.T) {
	ws, err := workspace.NewFS(t.Context(), fakeFS{file: &fakeFile{fault: io.EOF}, dir: &fakeDir{fault: io.EOF}}, root)
	require.NoError(t, err)
	f, err := ws.Open(t.Context(), "", "x")
	require.NoError(t, err)
	n, err := f.Read(make([]byte, 8))
	require.Equal(t, 4, n)
	require.Equal(t, io.EOF, err)
	d, err := ws.OpenDir(t.Context(), "", "x")
	require.NoError(t, err)
	entries, err := d.ReadDir(8)
	require.Len(t, entries, 1)
	require.Equal(t, io.EOF, err)
}

func TestContextIsCheckedBeforeEachStep(t *testing.T) {
	f, d := &fakeFile{}, &fakeDir{}
	ws, err := workspace.NewFS(t.Context(), fakeFS{file: f, dir: d}, root)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	file, err := ws.Open(ctx, "", "x")
	require.NoError(t, err)
	dir, err := ws.OpenDir(ctx, "", "x")
	require.NoError(t, err)
	_, err = file.Read(make([]byte, 8))
	require.NoError(t, err)
	_, err = dir.ReadDir(1)
	require.NoError(t, err)

	cancel()
	n, err := file.Read(make([]byte, 8))
	require.Zero(t, n)
	require.Equal(t, context.Canceled, err)
	entries, err := dir.ReadDir(1)
	require.Empty(t, entries)
	require.Equal(t, context.Canceled, err)
	require.Equal(t, 1, f.reads)
	require.Equal(t, 1, d.batches)

	_, err = ws.Open(ctx, "", "x")
	require.Equal(t, context.Canceled, err)
	_, err = ws.OpenDir(ctx, "", "x")
	require.Equal(t, context.Canceled, err)
	require.NoError(t, file.Close())
	require.NoError(t, dir.Close())
}
