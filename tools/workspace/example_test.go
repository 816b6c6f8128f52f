package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/taukit/taukit/tools/workspace"
)

func ExampleNew() {
	ws, err := workspace.New("")
	if err != nil {
		log.Fatal(err)
	}
	_, err = ws.Open(context.Background(), "", "no-such-file")
	fmt.Println(errors.Is(err, workspace.ErrNotFound))
	// Output: true
}

// archive serves the files of an fs.FS under the root directory. Nothing else
// can be reached: it never touches the host.
type archive struct{ fs.FS }

type archived struct {
	fs.File
	size int64
}

func (f archived) Size() int64 { return f.size }

func (a archive) Open(_ context.Context, name string) (workspace.File, error) {
	f, err := a.FS.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = workspace.ErrIsDirectory
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return archived{f, info.Size()}, nil
}

func (a archive) OpenDir(_ context.Context, name string) (workspace.Dir, error) {
	f, err := a.FS.Open(strings.Trim(name, "/."))
	if err != nil {
		return nil, err
	}
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		f.Close()
		return nil, workspace.ErrNotDirectory
	}
	return d, nil
}

func (a archive) Canonical(_ context.Context, name string) (string, error) {
	return name, nil
}

func ExampleNewFS() {
	ctx := context.Background()
	files := archive{fstest.MapFS{"notes.txt": {Data: []byte("hello")}}}
	ws, err := workspace.NewFS(ctx, files, "/")
	if err != nil {
		log.Fatal(err)
	}
	f, err := ws.Open(ctx, "", "notes.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Size())
	_, err = ws.Open(ctx, "", "../etc/passwd")
	fmt.Println(err)
	// Output:
	// 5
	// cannot read "/../etc/passwd": no such file or directory
}

func ExampleWorkspace_Change() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	appendTo := func(path, text string) (workspace.Outcome, error) {
		c, err := ws.Change(ctx, workspace.OpEdit, "", path)
		if err != nil {
			return workspace.Outcome{}, err
		}
		defer c.Close()
		var old []byte
		if c.Exists() {
			if old, err = c.Read(ctx); err != nil {
				return workspace.Outcome{}, err
			}
		}
		return c.Commit(ctx, append(bytes.Clone(old), text...), nil)
	}
	for range 2 {
		out, err := appendTo("logs/today", "once more\n")
		fmt.Printf("created %t, before %q, %v\n", out.Created, out.Before, err)
	}
	_, err = appendTo("logs", "x")
	fmt.Println(err)
	// Output:
	// created true, before "", <nil>
	// created false, before "once more\n", <nil>
	// cannot edit "logs": is a directory
}

// confined is the file system of the host in which only files below a directory
// can be changed.
type confined struct {
	workspace.OS
	dir string // canonical
}

func (c confined) Lookup(ctx context.Context, name string, follow bool) (workspace.Entry, error) {
	entry, err := c.OS.Lookup(ctx, name, follow)
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(c.dir, entry.Key()) // where links lead, not what the path looks like
	if err != nil || !filepath.IsLocal(below) {
		entry.Close()
		return nil, &workspace.Error{Code: workspace.ErrSandboxDenied.Code, Reason: "outside the project"}
	}
	return entry, nil
}

func ExampleWriteFS() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		log.Fatal(err)
	}
	ws, err := workspace.NewFS(ctx, confined{dir: dir}, dir)
	if err != nil {
		log.Fatal(err)
	}
	_, err = ws.Change(ctx, workspace.OpWrite, "", "../elsewhere")
	fmt.Println(err, errors.Is(err, workspace.ErrSandboxDenied))
	// Output: cannot write "../elsewhere": outside the project true
}
