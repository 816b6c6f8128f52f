//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// casesDir holds the conformance cases; its README tells their format.
const casesDir = "../../tools/testdata/cases"

// casesRun is how many cases there were when this was last looked at. Fewer mean
// that some are lost.
const casesRun = 760

// unordered names cases in which the order of the lines says nothing, with the
// reason.
var unordered = map[string]string{
	"shell/sigpipe-default": "head closes its input before it prints: its line races with that of the other side",
}

// caseTimeout is how long one answer may take.
const caseTimeout = 20 * time.Second

type testCase struct {
	Name    string                     `json:"name"`
	Why     string                     `json:"why"`
	Options json.RawMessage            `json:"options"`
	Files   map[string]json.RawMessage `json:"files"`
	Calls   []json.RawMessage          `json:"calls"`
}

// A step is one of the calls of a case, or what happens between two.
type step struct {
	Tool    string            `json:"tool"`
	Agent   string            `json:"agent"`
	Args    json.RawMessage   `json:"args"`
	RawArgs *string           `json:"raw_args"`
	Save    map[string]string `json:"save"`
	Async   string            `json:"async"`
	Want    want              `json:"want"`

	Pending    string                     `json:"pending"`
	Await      string                     `json:"await"`
	Cancel     string                     `json:"cancel"`
	WriteFile  map[string]json.RawMessage `json:"write_file"`
	RemoveFile string                     `json:"remove_file"`
	SleepMS    int                        `json:"sleep_ms"`
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(casesDir, "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	ran := 0
	for _, file := range files {
		for _, c := range readCases(t, file) {
			t.Run(c.Name, func(t *testing.T) {
				ran++
				t.Parallel()
				c.run(t)
			})
		}
	}
	require.GreaterOrEqual(t, ran, casesRun)
}

func readCases(t *testing.T, file string) []testCase {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var cases []testCase
	for line := range bytes.Lines(text) {
		var c testCase
		require.NoError(t, json.Unmarshal(line, &c), "%s: %.80s", file, line)
		cases = append(cases, c)
	}
	return cases
}

func (c testCase) run(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := &caseRun{root: root, vars: map[string]string{"ROOT": root}, named: map[string]int{}, unordered: unordered[c.Name] != ""}
	r.lay(t, c.Files)
	r.client = newClient(t, root, string(r.substitute(c.Options)))
	for i, raw := range c.Calls {
		var s step
		require.NoError(t, json.Unmarshal(r.substitute(raw), &s))
		r.step(t, i+1, s)
	}
	r.client.close(t)
}

// A caseRun is the state of one case: its directory and what its calls saved.
type caseRun struct {
	root   string
	vars   map[string]string
	named  map[string]int // asynchronous calls
	client *client

	unordered bool // the lines of its texts
}

// substitute puts the saved values in the places of their {NAMES}.
func (r *caseRun) substitute(raw json.RawMessage) json.RawMessage {
	for name, value := range r.vars {
		quoted, _ := json.Marshal(value)
		raw = bytes.ReplaceAll(raw, []byte("{"+name+"}"), quoted[1:len(quoted)-1])
	}
	return raw
}

func (r *caseRun) step(t *testing.T, number int, s step) {
	switch {
	case s.WriteFile != nil:
		r.lay(t, s.WriteFile)
	case s.RemoveFile != "":
		require.NoError(t, os.Remove(filepath.Join(r.root, s.RemoveFile)))
	case s.SleepMS > 0:
		time.Sleep(time.Duration(s.SleepMS) * time.Millisecond) // the case asks for it
	case s.Cancel != "":
		r.client.send(t, map[string]any{"control": "cancel", "target": r.named[s.Cancel]})
	case s.Pending != "":
		require.False(t, r.client.answered(r.named[s.Pending], 300*time.Millisecond), "call %d", number)
	case s.Await != "":
		r.check(t, number, s, r.client.wait(t, r.named[s.Await]))
	default:
		r.call(t, number, s)
	}
}

func (r *caseRun) call(t *testing.T, number int, s step) {
	message := map[string]any{"tool": s.Tool, "agent": s.Agent}
	switch {
	case s.RawArgs != nil:
		message["raw_args"] = *s.RawArgs
	case s.Args != nil:
		message["args"] = s.Args
	}
	id := r.client.send(t, message)
	if s.Async != "" {
		r.named[s.Async] = id
		return
	}
	r.check(t, number, s, r.client.wait(t, id))
}

// A client speaks the session protocol with a server in this process.
type client struct {
	in      *io.PipeWriter
	done    chan error
	lines   chan []byte
	answers map[int]reply // that came before they were asked for
	last    int
}

// A reply is an answer as a client reads it.
type reply struct {
	ID      int    `json:"id"`
	Text    string `json:"text"`
	Error   *failure
	Display struct{ Header, Status string }
	Diffs   []fileDiff
}

type failure struct {
	Code, Message string
	Details       map[string]string
}

func newClient(t *testing.T, dir, optionText string) *client {
	opts, err := parseOptions(optionText)
	require.NoError(t, err)
	inReader, in := io.Pipe()
	out, outWriter := io.Pipe()
	c := &client{in: in, done: make(chan error, 1), lines: make(chan []byte), answers: map[int]reply{}}
	go func() {
		c.done <- serve(t.Context(), console{inReader, outWriter, io.Discard, nil}, dir, opts)
		outWriter.Close()
	}()
	go func() {
		defer close(c.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			c.lines <- line
		}
	}()
	return c
}

// send sends a request and returns its id.
func (c *client) send(t *testing.T, message map[string]any) int {
	t.Helper()
	c.last++
	message["id"] = c.last
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(message))
	_, err := c.in.Write(line.Bytes())
	require.NoError(t, err)
	return c.last
}

// wait returns the answer to a request.
func (c *client) wait(t *testing.T, id int) reply {
	t.Helper()
	require.True(t, c.answered(id, caseTimeout), "no answer in %v", caseTimeout)
	return c.answers[id]
}

// answered reports whether the answer comes in time.
func (c *client) answered(id int, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for {
		if _, ok := c.answers[id]; ok {
			return true
		}
		select {
		case line, ok := <-c.lines:
			var r reply
			if !ok || json.Unmarshal(line, &r) != nil {
				return false
			}
			c.answers[r.ID] = r
		case <-ctx.Done():
			return false
		}
	}
}

func (c *client) close(t *testing.T) {
	t.Helper()
	require.NoError(t, c.in.Close())
	for range c.lines { // answers that nobody asked for
	}
	require.NoError(t, <-c.done)
}
