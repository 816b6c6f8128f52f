//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"fmt"
	"os"

	"github.com/taukit/taukit/artifact"
)

func ExampleNewSpool() {
	spool, err := artifact.NewSpool(artifact.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer spool.Close()

	spool.Call() // a tool call begins: removes what has expired
	saved, err := spool.Save([]byte("line 1\nline 2\n"))
	if err != nil {
		fmt.Println("saved_output_unavailable: true")
		return
	}
	content, _ := os.ReadFile(saved.Path)
	fmt.Println(saved.Bytes, saved.Complete)
	fmt.Printf("%s", content)
	// Output:
	// 14 true
	// line 1
	// line 2
}

func ExampleSpool_Create() {
	spool, err := artifact.NewSpool(artifact.Options{MaxBytes: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer spool.Close()

	w, err := spool.Create()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Abort() // does nothing after Commit
	for i := range 3 {
		if _, err := fmt.Fprintf(w, "line %d\n", i); err != nil {
			fmt.Println(err)
			return
		}
	}
	saved, err := w.Commit()
	fmt.Println(saved.Bytes, "of", saved.Total, saved.Complete, err)
	// Output: 10 of 21 false <nil>
}
