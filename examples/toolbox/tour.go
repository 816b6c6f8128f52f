package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/guard"
)

// A stop of the tour is one call and why it is made. In its arguments, ARTIFACT in
// braces is the reference that a call before it printed.
type stop struct{ why, tool, arguments string }

var stops = []stop{
	{"A directory. The second name holds a line break: it stays on its line.", "ls", `{}`},
	{"A file. Line endings other than LF are flagged, and so is a missing last one.", "read", `{"path": "notes.txt"}`},
	{"Two ranges of a file.", "read", `{"path": "numbers.txt", "ranges": [{"start_line": 3, "end_line": 4}, {"start_line": 2499, "end_line": 9999}]}`},
	{"A long file: the start and the end, the totals, and where the whole is.", "read", `{"path": "numbers.txt"}`},
	{"Files by name.", "find", `{"pattern": "*.go"}`},
	{"Lines by pattern, with a line of context.", "grep", `{"pattern": "^number 200[12]$", "context": 1}`},
	{"A mistake in a name.", "read", `{"path": "note.txt"}`},
	{"A mistake in an argument.", "read", `{"path": "notes.txt", "lines": 3}`},
	{"Exact texts are replaced. New lines end like those around them.", "edit", `{"path": "notes.txt", "edits": [{"oldText": "first\n", "newText": "first\none more\n"}, {"oldText": "last", "newText": "the end"}]}`},
	{"What they became.", "read", `{"path": "notes.txt"}`},
	{"A text that is not there, and what may have been meant.", "edit", `{"path": "notes.txt", "edits": [{"oldText": "the  end", "newText": ""}]}`},
	{"A patch: one file is changed and moved, another is made. All of it fits, or nothing is changed.", "apply_patch", "*** Begin Patch\n*** Add File: src/b.go\n+package a\n*** Update File: notes.txt\n*** Move to: docs/notes.txt\n@@ second\n-the end\n+the very end\n*** End Patch"},
	{"A new file, with the directory above it.", "write", `{"path": "docs/new.txt", "content": "hello\n"}`},
	{"This session has the guard: what was not read is not overwritten.", "write", `{"path": "src/a.go", "content": ""}`},
	{"A command. Its lines are told apart from the headers, and how it ended is a result.", "shell", `{"command": "echo one; printf 'no line end' >&2; exit 3"}`},
	{"This session has directory locks: without one a command only reads, where the system can see to it.", "shell", `{"command": "echo more >> docs/new.txt"}`},
	{"The lock, which keeps other agents out until it is released.", "dir_lock", `{"command": "update", "directory": "."}`},
	{"Now it may write.", "shell", `{"command": "echo more >> docs/new.txt && wc -l docs/new.txt"}`},
	{"", "dir_lock", `{"command": "unlock", "directory": "."}`},
	{"A dialect of shell for models that were trained on it.", "shell_command", `{"command": "sleep 60", "timeout_ms": 100}`},
	{"An original goes to the store of artifacts, by its digest.", "export", `{"path": "picture.png"}`},
	{"It comes back as a private file.", "import", `{"key": "{ARTIFACT}", "filename": "../picture.png"}`},
	{"A model that can see gets it as an image beside this text.", "read_image", `{"key": "{ARTIFACT}"}`},
	{"Another directory to work in. Relative paths start there from now on.", "workdir", `{"path": "docs"}`},
	{"", "ls", `{}`},
}

// tour makes a call of each kind in a temporary directory and prints it as it
// would reach a model.
func tour(ctx context.Context, c console) error {
	dir, err := os.MkdirTemp("", "toolbox-tour-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	if err := layTour(dir); err != nil {
		return err
	}
	session, err := tools.New(tools.Config{
		Root:      dir,
		ExposeAll: true,
		Images:    true,
		Guard:     new(guard.Policy),
		Locks:     dirlock.NewMemory(),
		Store:     artifact.NewMemStore(),
		Shell:     tools.ShellConfig{Hurry: c.hurry},
	})
	if err != nil {
		return err
	}
	defer session.Close() //nolint:errcheck // what it cannot remove, the next session does

	reference := ""
	for i, s := range stops {
		if i > 0 {
			if _, err := io.WriteString(c.out, "\n"); err != nil {
				return err
			}
		}
		s.arguments = strings.ReplaceAll(s.arguments, "{ARTIFACT}", reference)
		out, err := s.show(ctx, c, session)
		if err != nil {
			return err
		}
		if printed, ok := out.Result.Get("artifact"); ok {
			reference = printed
		}
	}
	return ctx.Err()
}

// show makes the call of a stop and prints it.
func (s stop) show(ctx context.Context, c console, session *tools.Session) (tools.Outcome, error) {
	head := "> " + s.tool + " " + strings.ReplaceAll(s.arguments, "\n", "\n  ") + "\n"
	if s.why != "" {
		head = "# " + s.why + "\n" + head
	}
	if _, err := io.WriteString(c.out, head); err != nil {
		return tools.Outcome{}, err
	}
	out := session.Call(ctx, tools.Call{Tool: s.tool, Arguments: []byte(s.arguments)})
	text := abridged(out.Text)
	if !isTerminal(c.out) {
		text += "\n"
	}
	return out, printText(c.out, text)
}

// layTour makes the files of the tour.
func layTour(dir string) error {
	var numbers strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&numbers, "number %d\n", i+1)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"notes.txt":                  "first\r\nsecond\nlast",
		"numbers.txt":                numbers.String(),
		"odd\nerror: not an error":   "",
		filepath.Join("src", "a.go"): "package a\n",
		"picture.png":                picture.String(),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// abridged leaves out the middle of a long text, for the reader of the tour.
func abridged(text string) string {
	const ends = 9
	lines := strings.Split(text, "\n")
	if len(lines) <= 2*ends+1 {
		return text
	}
	left := len(lines) - 2*ends
	middle := fmt.Sprintf("    (%d more lines)", left)
	return strings.Join(append(append(lines[:ends:ends], middle), lines[len(lines)-ends:]...), "\n")
}
