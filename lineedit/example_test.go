package lineedit_test

import (
	"errors"
	"fmt"

	"github.com/taukit/taukit/lineedit"
)

func ExampleApply() {
	src := []byte("package a\r\n\r\nfunc f() {}\r\n")
	result, err := lineedit.Apply(src, []lineedit.Edit{
		{Start: 2, EndExclusive: 2, NewText: "// Package a is an example.", ContextLine: "package a"},
		{Start: 3, EndExclusive: 4, NewText: "func g() {}", ContextLine: ""},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", result.Content)
	fmt.Println("lines:", result.Lines, "changed:", result.Changed)
	// Output:
	// "package a\r\n// Package a is an example.\r\n\r\nfunc g() {}\r\n"
	// lines: 4 changed: true
}

func ExampleError() {
	src := []byte("zero\none\ntwo\nthree\n") // "zero" is new since the numbers were looked up
	_, err := lineedit.Apply(src, []lineedit.Edit{
		{Start: 4, EndExclusive: 5, NewText: "3", ContextLine: "one"},
	})
	var e *lineedit.Error
	if errors.As(err, &e) && e.Mismatch != nil {
		fmt.Println(e)
		fmt.Println("line", e.Mismatch.Line, "is another, the context is line", e.Mismatch.FoundAt)
		fmt.Println("show lines", e.Mismatch.First, "to", e.Mismatch.Last)
	}
	// Output:
	// lineedit: edit 0: context does not match: line 3
	// line 3 is another, the context is line 2
	// show lines 1 to 4
}

func ExampleTrimContext() {
	line, ok := lineedit.TrimContext("  indented\r\n")
	fmt.Printf("%q %v\n", line, ok)
	_, ok = lineedit.TrimContext("two\nlines")
	fmt.Println(ok)
	// Output:
	// "  indented" true
	// false
}
