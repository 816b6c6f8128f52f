//go:build unix

package tools_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/discovery"
	"github.com/taukit/taukit/tools/workspace"
)

func ExampleNewShell() {
	dir, remove := exampleDir()
	defer remove()

	ws, err := workspace.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	shell := tools.NewShell(tools.Env{Workspace: ws}, tools.ShellConfig{})
	out := shell.Call(context.Background(), tools.Call{
		Arguments: []byte(`{"command": "cat notes.txt; exit 3"}`),
	})
	fmt.Println(out.Text)
	fmt.Println(out.Display.Header(), out.Display.Status)
	// Output:
	// termination_reason: exit
	// status: 3
	//
	// out(crlf) first
	// out(no_nl) last
	// cat notes.txt; exit 3 3
}

func ExampleUserShell() {
	dir, remove := exampleDir()
	defer remove()
	session, err := tools.New(tools.Config{Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	out := session.UserShell(context.Background(), tools.UserCommand{Command: "echo hello"})
	fmt.Println(out.Text)
	// Output:
	// termination_reason: exit
	// status: 0
	//
	// out hello
}

func ExampleNewDirLock() {
	dir, remove := exampleDir()
	defer remove()
	waiting := make(chan string)
	session, err := tools.New(tools.Config{
		Root:  dir,
		Locks: dirlock.NewMemory(),
		Listener: tools.ListenerFunc(func(e tools.Event) {
			if e.Phase == tools.PhaseWaiting {
				waiting <- e.Agent
			}
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	canonical, err := filepath.EvalSymlinks(dir)
	if err != nil {
		log.Fatal(err)
	}
	call := func(agent, tool, arguments string) string {
		out := session.Call(context.Background(), tools.Call{Agent: agent, Tool: tool, Arguments: []byte(arguments)})
		return strings.ReplaceAll(out.Text, canonical, "DIR")
	}

	fmt.Println(call("ann", "dir_lock", `{"command": "update", "directory": "."}`))
	edited := make(chan string)
	go func() {
		edited <- call("bob", "edit", `{"path": "notes.txt", "edits": [{"oldText": "last", "newText": "end"}]}`)
	}()
	fmt.Println(<-waiting, "waits")
	call("ann", "dir_lock", `{"command": "unlock", "directory": "."}`)
	fmt.Println(<-edited)
	// Output:
	// canonical_directory: DIR
	// locked: true
	// bob waits
	// edits: 1
	// changed: true
	// total_bytes: 10
}

func ExampleNewExport() {
	dir, remove := exampleDir()
	defer remove()
	session, err := tools.New(tools.Config{Root: dir, Store: artifact.NewMemStore()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	exported := session.Call(context.Background(), tools.Call{Tool: "export", Arguments: []byte(`{"path": "notes.txt"}`)})
	fmt.Println(exported.Text)
	reference, _ := exported.Result.Get("artifact")

	imported := session.Call(context.Background(), tools.Call{Tool: "import", Arguments: fmt.Appendf(nil, `{"key": %q}`, reference)})
	path, _ := imported.Result.Get("path")
	content, err := os.ReadFile(path)
	fmt.Printf("%q %v\n", content, err)
	// Output:
	// artifact: <tau-artifact:sha256:1f99734e10269a621a845e5b968350ab9d9db113b24fe80a695afb09e6177de4>
	// size: 11
	// filename: notes.txt
	// mime_type: text/plain
	// "first\r\nlast" <nil>
}

func ExampleWorkdirs() {
	dir, remove := exampleDir()
	defer remove()
	for name, text := range map[string]string{
		"AGENTS.md":                     "Be brief.\n",
		".agents/skills/greet/SKILL.md": "---\ndescription: Greet somebody.\n---\n",
		".git":                          "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	session, err := tools.New(tools.Config{Root: dir, Discoverer: discovery.New(discovery.Options{})})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	snapshot, err := session.Workdirs().WaitReady(context.Background(), "main")
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range snapshot.Instructions() {
		fmt.Printf("%s: %q\n", filepath.Base(i.Path), i.Text)
	}
	for _, s := range snapshot.Skills() {
		fmt.Printf("%s: %s\n", s.Name, s.Description)
	}
	// Output:
	// AGENTS.md: "Be brief.\n"
	// greet: Greet somebody.
}

func ExampleBackground() {
	dir, remove := exampleDir()
	defer remove()
	session, err := tools.New(tools.Config{Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	background := tools.NewBackground(session)
	defer background.Close()

	ctx := context.Background()
	fmt.Println(background.Start(ctx, tools.Call{ID: "7", Tool: "shell", Arguments: []byte(`{"command": "echo built"}`)}).Text)
	fmt.Println("--")
	fmt.Println(background.WaitAny(ctx).Text)
	fmt.Println("--")
	fmt.Println(background.Wait(ctx, "7").Text)
	// Output:
	// tau_internal: true
	//
	// Tool call `7` is running in the background.
	// --
	// termination_reason: exit
	// status: 0
	// original_tool_call_id: 7
	//
	// out built
	// --
	// error: Tool call is already done
}
