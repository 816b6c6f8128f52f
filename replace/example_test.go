package replace_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/taukit/taukit/replace"
)

func ExampleApply() {
	src := []byte("package a\r\n\r\nfunc f() {\r\n\treturn\r\n}\r\n")
	result, err := replace.Apply(context.Background(), src, []replace.Edit{
		{OldText: "func f() {\n\treturn\n}", NewText: "func f() int {\n\tg()\n\treturn 1\n}"},
		{OldText: "package a", NewText: "package b"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", result.Content)
	fmt.Println(result.Changed, result.Edits)
	// Output:
	// "package b\r\n\r\nfunc f() int {\r\n\tg()\r\n\treturn 1\r\n}\r\n"
	// true 2
}

func ExampleError() {
	src := []byte("def f():\n  return 1\n# end\n")
	_, err := replace.Apply(context.Background(), src, []replace.Edit{
		{OldText: "    return 1", NewText: "    return 2"},
	})
	var e *replace.Error
	if errors.As(err, &e) {
		fmt.Println(e)
		fmt.Println(e.Code, e.Hint, e.NearLine)
	}
	// Output:
	// edits[0]: oldText was not found
	// NO_MATCH whitespace 2
}
