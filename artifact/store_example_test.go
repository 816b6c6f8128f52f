//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/taukit/taukit/artifact"
)

func ExampleStore() {
	ctx := context.Background()
	var store artifact.Store = artifact.NewMemStore()
	d, err := store.Put(ctx, -1, strings.NewReader("hello\n"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Key.Reference(), d.Size)

	key, err := artifact.ParseReference(d.Key.Reference())
	if err != nil {
		log.Fatal(err)
	}
	data, err := artifact.ReadAll(ctx, store, key, artifact.MaxBytes)
	fmt.Printf("%q %v\n", data, err)
	_, err = store.Stat(ctx, artifact.KeyOf([]byte("never stored")))
	fmt.Println(errors.Is(err, artifact.ErrNotFound))
	// Output:
	// <tau-artifact:sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03> 6
	// "hello\n" <nil>
	// true
}

func ExampleImports() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := artifact.NewDirStore(filepath.Join(dir, "store"))
	if err != nil {
		log.Fatal(err)
	}
	imports, err := artifact.NewImports(artifact.ImportOptions{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer imports.Close()

	d, err := store.Put(ctx, -1, strings.NewReader("%PDF-1.4"))
	if err != nil {
		log.Fatal(err)
	}
	hints := artifact.HintsOf("drafts/final report", "application/pdf")
	file, err := imports.Import(ctx, store, d.Key, hints)
	if err != nil {
		log.Fatal(err)
	}
	_, suffix, _ := strings.Cut(filepath.Base(file.Path), "-")
	fmt.Println(suffix[32:], file.Size)
	// Output: -final_report.pdf 8
}

func ExampleSuggestSuffix() {
	fmt.Println(artifact.SuggestSuffix("../../x.sh", ""))
	fmt.Println(artifact.SuggestSuffix("report", "application/pdf"))
	// Output:
	// -x.sh
	// -report.pdf
}
