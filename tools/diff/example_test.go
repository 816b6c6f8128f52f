package diff_test

import (
	"fmt"

	"github.com/taukit/taukit/tools/diff"
)

func ExampleCompute() {
	s := diff.Compute([]byte("alpha\nlet n = 1;\ngamma\n"), []byte("alpha\nlet n = 2;\ngamma\n"))
	fmt.Println(s.Chip())
	for _, l := range s.Hunks[0].Lines {
		fmt.Println(l.Kind, l.Text, l.Old, l.New)
	}
	// Output:
	// +1/-1
	// equal alpha [] []
	// modify  [{equal let n = } {remove 1;}] [{equal let n = } {add 2;}]
	// equal gamma [] []
}

func ExampleFor() {
	fmt.Println(diff.For([]byte("text"), []byte("\xff")).Text)
	fmt.Println(diff.For([]byte("same"), []byte("same")).IsZero())
	// Output:
	// [diff skipped: file is not valid UTF-8]
	// true
}

func ExampleFit() {
	p := diff.For([]byte("one\n"), []byte("two\n"))
	short, ok := diff.Fit(p, diff.Budget{Payload: 80})
	fmt.Println(short.Text, ok)
	// Output: [diff truncated: structured diff would exceed 80 bytes] true
}

func ExampleSummary_Unified() {
	fmt.Print(diff.Compute([]byte("one\n"), []byte("one\ntwo")).Unified("a.txt", "a.txt"))
	// Output:
	// --- a.txt
	// +++ a.txt
	// @@ -1 +1,2 @@
	//  one
	// +two
	// \ No newline at end of file
}
