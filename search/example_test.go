package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/taukit/taukit/search"
)

// Only matching: the lines of a text in memory.
func ExampleCompile() {
	pattern, err := search.Compile(`func \w+\(`, search.PatternOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text := []byte("package a\r\n\r\nfunc first() {}\r\n// func\r\nfunc second() {}\r\n")
	for m := range pattern.Lines(text) {
		fmt.Printf("%d: %s, at %d to %d\n", m.Number, m.Text, m.Start, m.End)
	}
	// Output:
	// 3: func first() {}, at 0 to 11
	// 5: func second() {}, at 0 to 12
}

func ExamplePattern_Find() {
	pattern, _ := search.Compile("été", search.PatternOptions{Literal: true, IgnoreCase: true})
	line := "C'est l'ÉTÉ."
	start, end := pattern.Find([]byte(line))
	fmt.Println(line[start:end])
	// Output: ÉTÉ
}

func ExamplePatternError() {
	_, err := search.Compile(`(?<=a)b`, search.PatternOptions{})
	var fault *search.PatternError
	if errors.As(err, &fault) {
		fmt.Println(fault)
		fmt.Println(fault.Fault == search.FaultLookAround)
	}
	// Output:
	// invalid pattern: invalid named capture: `(?<=a)b`; look-around is not supported
	// true
}

func ExampleCompileGlob() {
	glob, _ := search.CompileGlob("src/**/*.{go,mod}")
	for _, path := range []string{"src/a.go", "src/x/y/go.mod", "lib/src/a.go"} {
		fmt.Println(path, glob.Match(path))
	}
	_, err := search.CompileGlob("*.{go")
	fmt.Println(err)
	// Output:
	// src/a.go true
	// src/x/y/go.mod true
	// lib/src/a.go false
	// invalid glob "*.{go": unclosed {
}

func ExampleRelativeGlob() {
	fmt.Println(search.RelativeGlob("/work/src/*.go", "/work"))
	// Output: /src/*.go
}

func ExampleParseIgnore() {
	list, _ := search.ParseIgnore(strings.NewReader("*.log\n!keep.log\nout/\n"))
	fmt.Println(list.Match("a.log", false), list.Match("keep.log", false), list.Match("out", false), list.Match("out", true))
	// Output: Ignore Include None Ignore
}

// example makes a small tree.
func example() (root string, remove func()) {
	root, err := os.MkdirTemp("", "search")
	if err != nil {
		panic(err)
	}
	for path, content := range map[string]string{
		".gitignore":   "*.log\n",
		"debug.log":    "needle\n",
		"README.md":    "# Hay\n",
		"src/a.go":     "package a\n\nfunc f() {\n\tneedle()\n}\n",
		"src/deep/b.c": "// needle\n",
	} {
		path = filepath.Join(root, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			panic(err)
		}
	}
	return root, func() { os.RemoveAll(root) }
}

// Only walking: the files of a tree that are not ignored.
func ExampleWalk() {
	root, remove := example()
	defer remove()
	for path, err := range search.Walk(context.Background(), search.WalkOptions{Root: root}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(path)
	}
	// Output:
	// .gitignore
	// README.md
	// src/a.go
	// src/deep/b.c
}

func ExampleCompileFilter() {
	root, remove := example()
	defer remove()
	filter, _ := search.CompileFilter("!src/")
	for path := range search.Walk(context.Background(), search.WalkOptions{Root: root, Filter: filter}) {
		fmt.Println(path)
	}
	// Output:
	// .gitignore
	// README.md
}

func ExampleGrep() {
	root, remove := example()
	defer remove()
	pattern, _ := search.Compile("needle", search.PatternOptions{})
	var records []byte
	for m, err := range search.Grep(context.Background(), search.GrepOptions{
		WalkOptions: search.WalkOptions{Root: root},
		Pattern:     pattern,
		Context:     1,
		Limit:       1,
	}) {
		if errors.Is(err, search.ErrLimit) {
			records = append(records, "there are more\n"...)
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		if !m.Continued {
			records, _ = search.AppendHeading(records, m.Path)
			records = append(records, '\n')
		}
		for _, l := range m.Lines {
			records, _ = search.AppendLine(records, l)
			records = append(records, '\n')
		}
	}
	fmt.Print(string(records))
	// Output:
	// src/a.go
	// 3-func f() {
	// 4:	needle()
	// 5-}
	// there are more
}
