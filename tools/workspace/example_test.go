package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
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
