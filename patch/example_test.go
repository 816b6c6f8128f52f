package patch_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/taukit/taukit/patch"
)

const text = `*** Begin Patch
*** Update File: hello.go
@@ func main() {
-	println("hello")
+	println("hello, world")
 }
*** Update File: old.txt
*** Move to: docs/new.txt
*** Delete File: junk
*** End Patch
`

func tree() *patch.Mem {
	return patch.NewMem(map[string]string{
		"hello.go": "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n",
		"old.txt":  "some text\n",
		"junk":     "",
	})
}

func ExampleParse() {
	p, err := patch.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(p.Sections), p.Sections[0].Hunks[0].Anchors)
	for _, t := range p.Targets() {
		fmt.Println(t.Path, t.Role == patch.Dest)
	}
	_, err = patch.Parse("*** Begin Patch\n*** Rename File: a\n*** End Patch\n")
	fmt.Println(err)
	// Output:
	// 3 [func main() {]
	// hello.go true
	// old.txt false
	// docs/new.txt true
	// junk false
	// invalid patch: line 2: invalid operation "*** Rename File: a"
}

func ExamplePatch_String() {
	p := &patch.Patch{Sections: []patch.Section{{Op: patch.Add, Path: "a.txt", Lines: []string{"one", "two"}}}}
	fmt.Print(p)
	// Output:
	// *** Begin Patch
	// *** Add File: a.txt
	// +one
	// +two
	// *** End Patch
}

func ExampleApplyHunks() {
	old := []byte("a\r\nb  \r\nc\r\n")
	hunks := []patch.Hunk{{Lines: []patch.Line{{Kind: ' ', Text: "b"}, {Kind: '+', Text: "new"}}}}
	result, notes, err := patch.ApplyHunks(context.Background(), old, hunks, patch.Match{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", result)
	fmt.Println(notes[0].Kind == patch.TrailingSpace, notes[0].Line)
	// Output:
	// "a\r\nb  \r\nnew\r\nc\r\n"
	// true 2
}

func ExampleNewPlan() {
	ctx := context.Background()
	files := tree()
	p, err := patch.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := patch.NewPlan(ctx, files, p, patch.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range plan.Changes() {
		fmt.Printf("%c %s\n", c.Status, c.Path)
	}
	fmt.Println(len(files.Files()["/hello.go"]))
	if _, err := plan.Commit(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(files.Files()["/hello.go"]))
	// Output:
	// M hello.go
	// M docs/new.txt
	// D junk
	// 48
	// 55
}

func ExampleApply() {
	p, err := patch.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	files := tree()
	files.WriteFile("hello.go", "package main\n// Say it.\nfunc main() {\n\tprint(\"hello\")\n}\n")
	result, err := patch.Apply(context.Background(), files, p, patch.Options{})
	var e *patch.Error
	if errors.As(err, &e) {
		fmt.Println(e)
		fmt.Println(e.Excerpt)
	}
	fmt.Println(len(result.Changes))
	// Output:
	// failed to find expected lines in "hello.go" (hunk 1 of 1)
	// expected lines in hello.go (hunk 1):
	// -	println("hello")
	//  }
	// closest lines in hello.go:
	// 2 // Say it.
	// 3 func main() {
	// 4 	print("hello")
	// 5 }
	// 0
}
