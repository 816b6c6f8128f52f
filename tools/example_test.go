package tools_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

// exampleDir returns a directory with one file, and a function that removes it.
func exampleDir() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("first\r\nlast"), 0o644); err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

func ExampleSession() {
	dir, remove := exampleDir()
	defer remove()

	session, err := tools.New(tools.Config{Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	for _, def := range session.Definitions() {
		fmt.Println(def.Name, def.Tags)
	}
	out := session.Call(context.Background(), tools.Call{ID: "1", Agent: "main", Tool: "read", Arguments: []byte(`{"path": "notes.txt"}`)})
	fmt.Println(out.Text)
	fmt.Println(out.Display.Header(), out.Display.Status)
	// Output:
	// read [shell:read]
	// ls [shell:read shell:list]
	// find [shell:read shell:search]
	// grep [shell:read shell:search]
	// edit [shell:edit shell:edit:replace shell:mutates-files]
	// shell [shell:exec shell:exec:generic]
	// workdir [shell:workdir]
	// 1(crlf) first
	// 2(no_nl) last
	// notes.txt .. ok
}

func ExampleSession_Call_failure() {
	dir, remove := exampleDir()
	defer remove()
	session, err := tools.New(tools.Config{Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	out := session.Call(context.Background(), tools.Call{Tool: "read", Arguments: []byte(`{"path": "note.txt"}`)})
	fmt.Println(out.Text)
	fmt.Println(out.Error.Code)
	// Output:
	// error: cannot read "note.txt": no such file or directory; did you mean "notes.txt"?
	// FS_NOT_FOUND
}

type greetArgs struct {
	Name string `json:"name" limits:"minLength=1" description:"Whom to greet."`
}

// greet is a tool of one's own.
func greet(_ context.Context, _ tools.Call, a greetArgs, d tools.Display) tools.Outcome {
	name, _ := escape.Field(a.Name)
	return tools.Succeed(framing.Result{Body: "hello " + name}, d)
}

func ExampleNewTool() {
	tool := tools.NewTool(tools.Definition{Name: "greet", Description: "Greet somebody.", ReadOnly: true}, nil, greet)
	fmt.Println(string(tool.Definition().Schema))
	fmt.Println(tool.Call(context.Background(), tools.Call{Arguments: []byte(`{"name": "Ada"}`)}).Text)
	// Output:
	// {"type": "object", "properties": {"name": {"type": "string", "description": "Whom to greet.", "minLength": 1}}, "required": ["name"], "additionalProperties": false}
	// hello Ada
}

func ExampleNewSet() {
	dir, remove := exampleDir()
	defer remove()

	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	set, err := tools.NewSet(
		tools.NewRead(tools.Env{Workspace: ws}), // without a spool, what is cut off is not saved
		tools.NewTool(tools.Definition{Name: "greet", Description: "Greet somebody."}, nil, greet),
	)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	fmt.Println(set.Call(ctx, tools.Call{Tool: "greet", Arguments: []byte(`{"name": "Ada\n"}`)}).Text)
	fmt.Println(set.Call(ctx, tools.Call{Tool: "greet", Arguments: []byte(`{"Name": "Ada"}`)}).Text)
	fmt.Println(set.Call(ctx, tools.Call{Tool: "write", Arguments: []byte(`{}`)}).Text)
	// Output:
	// hello Ada\n
	// error: unknown field "Name"; allowed: name
	// error: unknown tool: write
}

func ExampleEnv() {
	dir, remove := exampleDir()
	defer remove()

	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	// A set of one's own in which an agent changes only what it has read.
	env := tools.Env{Workspace: ws, Guard: new(guard.Policy)}
	set, err := tools.NewSet(tools.NewRead(env), tools.NewLineEdit(env), tools.NewWrite(env))
	if err != nil {
		log.Fatal(err)
	}
	run := func(tool, arguments string) {
		out := set.Call(context.Background(), tools.Call{Agent: "main", Tool: tool, Arguments: []byte(arguments)})
		fmt.Printf("%s\n\n", out.Text)
	}
	insert := `{"path": "notes.txt", "edits": [{"start_line": 2, "end_line_exclusive": 2, "newText": "more", "context_line": "first"}]}`
	run("edit", insert)
	run("read", `{"path": "notes.txt", "end_line": 1}`)
	run("edit", insert)
	run("edit", insert)
	// Output:
	// error: edit requires reading "notes.txt" first — read the file, then retry
	//
	// 1(crlf) first
	//
	// edits: 1
	// changed: true
	// new_max_valid_start_line: 4
	// total_bytes: 17
	//
	// edits: 1
	// changed: true
	// new_max_valid_start_line: 5
	// total_bytes: 23
}

func ExampleNewGrep() {
	dir, remove := exampleDir()
	defer remove()

	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	grep := tools.NewGrep(tools.Env{Workspace: ws})
	out := grep.Call(context.Background(), tools.Call{Arguments: []byte(`{"pattern": "^l.st$", "context": 1}`)})
	fmt.Println(out.Text)
	fmt.Println(out.Display.Header())
	// Output:
	// status: 0
	// matches: 1
	//
	// notes.txt
	// 1-first
	// 2:last
	// "^l.st$" in ., 1 match
}

func ExampleNewEdit() {
	dir, remove := exampleDir()
	defer remove()

	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	edit := tools.NewEdit(tools.Env{Workspace: ws})
	out := edit.Call(context.Background(), tools.Call{
		Arguments: []byte(`{"path": "notes.txt", "edits": [{"oldText": "last", "newText": "the end"}]}`),
	})
	fmt.Println(out.Text)
	fmt.Println(out.Display.Header())
	// Output:
	// edits: 1
	// changed: true
	// total_bytes: 14
	// notes.txt +1/-1
}

func ExampleNewApplyPatch() {
	dir, remove := exampleDir()
	defer remove()

	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	applyPatch := tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic)
	out := applyPatch.Call(context.Background(), tools.Call{Arguments: []byte(`*** Begin Patch
*** Add File: docs/new.txt
+hello
*** Update File: notes.txt
@@
 first
-last
+the end
*** End Patch`)})
	fmt.Println(out.Text)
	fmt.Println(out.Display.Header())
	// Output:
	// Success. Updated the following files:
	// A docs/new.txt
	// M notes.txt
	// docs/new.txt,… 2F +2/-1
}

func ExampleNewFind() {
	dir, remove := exampleDir()
	defer remove()

	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	find := tools.NewFind(tools.Env{Workspace: ws})
	fmt.Println(find.Call(context.Background(), tools.Call{Arguments: []byte(`{"pattern": "*.txt"}`)}).Text)
	// Output:
	// matches: 1
	//
	// notes.txt
}

func ExampleNewWrite() {
	dir, remove := exampleDir()
	defer remove()

	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	write := tools.NewWrite(tools.Env{Workspace: ws})
	fmt.Println(write.Call(context.Background(), tools.Call{Arguments: []byte(`{"path": "docs/new.txt", "content": "hello\n"}`)}).Text)
	// Output:
	// changed: true
	// created: true
	// total_bytes: 6
}

func ExampleMiddleware() {
	dir, remove := exampleDir()
	defer remove()

	// A permission prompt that says no to everything but listings.
	onlyListings := func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, call tools.Call) tools.Outcome {
			if call.Tool != "ls" {
				return tools.Fail(ctx, &framing.Error{Code: "DENIED", Message: "the user said no"}, tools.Display{})
			}
			return next(ctx, call)
		}
	}
	session, err := tools.New(tools.Config{Root: dir, Middleware: []tools.Middleware{onlyListings}})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	fmt.Println(session.Call(context.Background(), tools.Call{Tool: "ls", Arguments: []byte(`{}`)}).Text)
	fmt.Println(session.Call(context.Background(), tools.Call{Tool: "read", Arguments: []byte(`{"path": "notes.txt"}`)}).Text)
	// Output:
	// 1 notes.txt
	// error: the user said no
}

func ExampleListener() {
	dir, remove := exampleDir()
	defer remove()

	session, err := tools.New(tools.Config{Root: dir, Listener: tools.ListenerFunc(func(e tools.Event) {
		fmt.Println(e.Phase, e.Visible, e.Display.Header())
	})})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	session.Call(context.Background(), tools.Call{Tool: "read", Arguments: []byte(`{"path": "notes.txt", "end_line": 1}`)})
	// Output:
	// started read notes.txt 1..1
	// result read notes.txt 1..1
}
