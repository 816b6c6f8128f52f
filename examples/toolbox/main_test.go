package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/confine"
	"github.com/taukit/taukit/tools/diff"
)

func TestMain(m *testing.M) {
	confine.RunHelper()
	goleak.VerifyTestMain(m)
}

// toolbox runs the program in a directory with one file.
func toolbox(t *testing.T, in string, argv ...string) (status int, out, err string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\r\ntwo\x1b[2J"), 0o644))
	var stdout, stderr bytes.Buffer
	argv = append([]string{"-C", dir}, argv...)
	status = run(t.Context(), argv, console{strings.NewReader(in), &stdout, &stderr, nil})
	return status, stdout.String(), stderr.String()
}

func TestCall(t *testing.T) {
	for _, tt := range []struct {
		name     string
		argv     []string
		in       string
		status   int
		out, err string
	}{
		{
			"text goes out exactly, the header beside it",
			[]string{"call", "read", `{"path":"a.txt"}`},
			"", statusOK, "1(crlf) one\n2(no_nl) two\x1b[2J", "read a.txt .. ok (2 lines, 28 bytes)\n",
		},
		{"arguments from standard input", []string{"call", "read", "-"}, `{"path":"a.txt","end_line":1}`, statusOK, "1(crlf) one", "read a.txt 1..1 ok (1 line, 11 bytes)\n"},
		{"no arguments are an empty object", []string{"call", "ls"}, "", statusOK, "1 a.txt", "ls . ok (1 line, 7 bytes)\n"},
		{
			"a tool error is status 1",
			[]string{"call", "read", `{"path":"b"}`},
			"", statusError, `error: cannot read "b": no such file or directory`, "read b .. cannot read \"b\": no such file or directory\n",
		},
		{"a mistyped tool is status 2", []string{"call", "raed"}, "", statusUsage, "", "toolbox: unknown tool: raed; did you mean read?\ntoolbox: -h tells more\n"},
		{"no tool", []string{"call"}, "", statusUsage, "", "toolbox: call takes the name of a tool and its arguments as one JSON object\ntoolbox: -h tells more\n"},
		{"a mistyped command", []string{"lst"}, "", statusUsage, "", "toolbox: unknown command: lst; did you mean list?\ntoolbox: -h tells more\n"},
		{"a hostile command", []string{"\x1b[2J"}, "", statusUsage, "", "toolbox: unknown command: ␛[2J\ntoolbox: -h tells more\n"},
		{"an unknown flag", []string{"-x", "list"}, "", statusUsage, "", "toolbox: flag provided but not defined: -x\ntoolbox: -h tells more\n"},
		{"no command", nil, "", statusUsage, "", "toolbox: what is to be done? list, call, session or tour\ntoolbox: -h tells more\n"},
		{"too many arguments", []string{"list", "x"}, "", statusUsage, "", "toolbox: list takes no arguments\ntoolbox: -h tells more\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, out, err := toolbox(t, tt.in, tt.argv...)
			require.Equal(t, tt.status, status)
			require.Equal(t, tt.out, out)
			require.Equal(t, tt.err, err)
		})
	}
}

func TestSavedOutputOutlivesTheCall(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte(strings.Repeat("line\n", 5000)), 0o644))
	_, out, _ := toolbox(t, "", "-options", `{"artifact_dir":"`+dir+`"}`, "call", "read", `{"path":"`+dir+`/b"}`)
	path, ok := framing.Parse(out).Get("full_output_path")
	require.True(t, ok, out)
	saved, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 5000, bytes.Count(saved, []byte(" line")))
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o700)) // so that the test's directory can be removed
}

func TestHelpTeaches(t *testing.T) {
	for _, argv := range [][]string{{"-h"}, {"call", "-h"}, {"--help"}} {
		status, out, _ := toolbox(t, "", argv...)
		require.Equal(t, statusOK, status)
		for _, command := range commands {
			require.Contains(t, out, command)
		}
	}
}

func TestDirectoryThatIsNone(t *testing.T) {
	for _, argv := range [][]string{{"-C", "/no/such", "list"}, {"-C", "a.txt", "list"}, {"-options", `{"workdir":"none"}`, "list"}} {
		status, _, err := toolbox(t, "", argv...)
		require.Equal(t, statusUsage, status, err)
	}
}

func TestList(t *testing.T) {
	_, out, _ := toolbox(t, "", "list")
	require.Equal(t, "read           Read a text file", strings.SplitN(out, "\n", 2)[0])

	_, out, _ = toolbox(t, "", "list", "-json")
	var definitions []definition
	require.NoError(t, json.Unmarshal([]byte(out), &definitions))
	require.Equal(t, "read", definitions[0].Name)
	require.True(t, definitions[0].Annotations.ReadOnly)
	require.Contains(t, string(definitions[0].InputSchema), `"ranges"`)
}

func TestOptions(t *testing.T) {
	for text, want := range map[string]string{
		`{"Guard":true}`:                                    "options: Guard is no option; there are expose, edit_style,",
		`{"guard":1}`:                                       "options: guard must be a boolean",
		`{"guard":true}`:                                    "",
		`{"edit_style":"line"}`:                             "",
		`{"edit_style":"vi"}`:                               "options: edit_style must be replace, line or patch",
		`{"edit_style":"patch"}`:                            "",
		`{"patch_mode":"half"}`:                             "options: patch_mode must be atomic or sequential",
		`{"dir_lock":true}`:                                 "",
		`{"dir_lock":{"backend":"x"}}`:                      "options: dir_lock.backend must be memory or filesystem",
		`{"dir_lock":{"state_dir":"/x"}}`:                   "options: dir_lock.state_dir is for the backend filesystem",
		`{"dir_lock":{"enforce_ro_bind":"x"}}`:              `options: dir_lock.enforce_ro_bind must be true, false or "require"`,
		`{"dir_lock":{"enable":1}}`:                         "options: dir_lock: enable must be a boolean",
		`{"dir_lock":{"x":1}}`:                              "options: dir_lock: x is no option",
		`{"dir_lock":7}`:                                    "options: dir_lock must be a boolean or an object",
		`{"model_tags":[null]}`:                             "options: model_tags.0 must not be null",
		`{"tool_policy":{"rules":null}}`:                    "options: tool_policy.rules must not be null",
		`{"tool_policy":{"default_shell_tool_style":null}}`: "",
		`{"dir_lock":{"enable":null}}`:                      "options: dir_lock.enable must not be null",
		`{"faults":{"save":null}}`:                          "options: faults.save must not be null",
		`{"tool_policy":{"rules":{"a":{"when":{"model_tags":["x"]}}}}}`: "",
		`{"tool_policy":{"rules":{"a":{"priority":"x"}}}}`:              "options: tool_policy.rules.a.priority must be an integer",
		`{"store":"disk"}`:          "options: store must be mem, dir or none",
		`{"home":"x"}`:              "options: home must be an absolute path",
		`{"faults":{"x":"y"}}`:      "options: unknown fault: x",
		`{"dir_lock":false}`:        "",
		`{"tool_policy":{}}`:        "",
		`{"frame_limit":0}`:         "options: frame_limit must be >= 1",
		`{"frame_limit":300}`:       "",
		`{"frame_limit":1.5}`:       "options: frame_limit must be an integer",
		`{"agent":null}`:            "options: agent must not be null",
		`{"tools":[7]}`:             "options: tools.0 must be a string",
		`{"expose":"some"}`:         "options: expose must be all or policy",
		`{"expose":"policy"}`:       "",
		`{"tools":["ls"]}`:          "",
		`[]`:                        "options: one JSON object is needed, without duplicate names",
		`null`:                      "options: one JSON object is needed, without duplicate names",
		`{`:                         "options: one JSON object is needed, without duplicate names",
		`{"store":"none"}`:          "",
		`{"agent":"a","agent":"b"}`: "options: one JSON object is needed, without duplicate names",
	} {
		_, err := parseOptions(text)
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
}

func TestContradictionsFailEveryCall(t *testing.T) {
	for text, want := range map[string]string{
		`{"edit_style":"line","tool_policy":{"default_shell_tool_style":"edit"}}`: "both an edit style and one in the policy",
		`{"tools":["read","nope"]}`:                               "unknown tool: nope",
		`{"expose":"policy","model_tags":["shell:tool-style:x"]}`: "unknown shell tool style: x",
	} {
		status, _, told := toolbox(t, "", "-options", text, "list")
		require.Equal(t, statusUsage, status)
		require.Contains(t, told, "toolbox: options: "+want+"\n")
		_, out, _ := toolbox(t, `{"id":1,"tool":"ls","args":{}}`, "-options", text, "session")
		require.Contains(t, out, `"error":{"code":"INVALID_ARGUMENTS","message":"`+want+`"}`)
	}
}

func TestTheStoreOfASessionIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, text := range []string{`{"store":"dir"}`, `{"store":"dir","dir_lock":{"backend":"filesystem","state_dir":"/dev/null"}}`, `{"store":"dir","tools":["nope"]}`} {
		for _, argv := range [][]string{{"list"}, {"session"}, {"call", "ls"}} {
			toolbox(t, "", append([]string{"-options", text}, argv...)...)
			left, err := filepath.Glob(filepath.Join(os.TempDir(), "toolbox-store-*"))
			require.NoError(t, err)
			require.Empty(t, left, "%s %s", text, argv)
		}
	}
}

// answers runs a session on lines of input and returns the answers, sorted.
func answers(t *testing.T, lines ...string) []string {
	t.Helper()
	status, out, _ := toolbox(t, strings.Join(lines, "\n"), "session")
	require.Equal(t, statusOK, status)
	got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	slices.Sort(got)
	return got
}

func TestSessionProtocol(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a call", `{"id":"x","tool":"ls","args":{"limit":2.0}}`, `{"id":"x","text":"1 a.txt","display":{"header":".","status":"ok"}}`},
		{"without arguments", `{"id":1,"tool":"ls"}`, `{"id":1,"text":"1 a.txt","display":{"header":".","status":"ok"}}`},
		{"argument text as it came", `{"id":1,"tool":"ls","raw_args":"{"}`, `{"id":1,"text":"error: arguments are not valid JSON","error":{"code":"INVALID_ARGUMENTS","message":"arguments are not valid JSON"},"display":{"status":"arguments are not valid JSON"}}`},
		{"duplicates in arguments are the tool's to judge", `{"id":1,"tool":"ls","args":{"limit":1,"limit":2}}`, `{"id":1,"text":"error: duplicate field \"limit\"","error":{"code":"INVALID_ARGUMENTS","message":"duplicate field \"limit\""},"display":{"status":"duplicate field \"limit\""}}`},
		{"and so is Unicode", `{"id":1,"tool":"ls","args":{"path":"\ud800"}}`, `{"id":1,"text":"error: arguments are not valid Unicode","error":{"code":"INVALID_ARGUMENTS","message":"arguments are not valid Unicode"},"display":{"status":"arguments are not valid Unicode"}}`},
		{"details", `{"id":1,"tool":"read","args":{"path":"a.txt","start_line":9}}`, `{"id":1,"text":"error: start_line 9 is past end of file (total_lines: 2)\ntotal_lines: 2","error":{"code":"READ_PAST_EOF","message":"start_line 9 is past end of file (total_lines: 2)","details":{"total_lines":"2"}},"display":{"header":"a.txt 9..","status":"start_line 9 is past end of file (total_lines: 2)"}}`},
		{"no JSON", `garbage`, `{"text":"error: a request is one JSON object with id, agent, tool and args","error":{"code":"BAD_REQUEST","message":"a request is one JSON object with id, agent, tool and args"}}`},
		{"two values", `{"id":1,"tool":"ls"} 2`, bad(`"id":1,`, "a request is one JSON object with id, agent, tool and args")},
		{"unknown member", `{"id":1,"tool":"ls","a\nb":{}}`, bad(`"id":1,`, `unknown or duplicate member \"a\\nb\"`)},
		{"duplicate member", `{"id":1,"tool":"ls","tool":"read"}`, bad(`"id":1,`, `unknown or duplicate member \"tool\"`)},
		{"a tool that is no string", `{"id":1,"tool":7}`, bad(`"id":1,`, "tool must be a string")},
		{"a call with a target", `{"id":1,"tool":"ls","target":2}`, bad(`"id":1,`, "a call takes no target")},
		{"a control with a tool", `{"id":1,"tool":"ls","control":"cancel","target":2}`, bad(`"id":1,`, "a control message takes id, control and target")},
		{"a control without a target", `{"id":1,"control":"cancel"}`, bad(`"id":1,`, "what is to be cancelled?")},
		{"without an id", `{"tool":"ls"}`, `{"text":"1 a.txt","display":{"header":".","status":"ok"}}`},
		{"an id of any form", `{"id":{"a":"\ud800","a":1.0},"tool":"ls"}`, `{"id":{"a":"\ud800","a":1.0},"text":"1 a.txt","display":{"header":".","status":"ok"}}`},
		{"details with one name twice", `{"id":1,"tool":"@render","args":{"error":{"code":"X","message":"m","fields":[["a","1"],["a","2"],["output","3"]],"output":"o"}}}`, `{"id":1,"text":"error: m\na: 1\na: 2\noutput: 3\n\no","error":{"code":"X","message":"m","details":{"output":"o","a":"1"}},"display":{"status":"m"}}`},
		{"no tool", `{"id":1}`, `{"id":1,"text":"error: a request names a tool","error":{"code":"BAD_REQUEST","message":"a request names a tool"}}`},
		{"both forms", `{"id":1,"tool":"ls","args":{},"raw_args":"{}"}`, `{"id":1,"text":"error: args and raw_args exclude each other","error":{"code":"BAD_REQUEST","message":"args and raw_args exclude each other"}}`},
		{"unknown control", `{"id":1,"control":"stop"}`, `{"id":1,"text":"error: unknown control","error":{"code":"BAD_REQUEST","message":"unknown control"}}`},
		{"nothing to cancel", `{"id":1,"control":"cancel","target":9}`, `{"id":1,"text":"error: no call with the id of the target is running","error":{"code":"BAD_REQUEST","message":"no call with the id of the target is running"}}`},
		{"the tools", `{"id":1,"tool":"@tools"}`, `{"id":1,"text":"format: name internal\n\nread read\nls ls\nfind find\ngrep grep\nedit replace\napply_patch apply_patch\nwrite write\nshell shell\nshell_command gpt_shell\nworkdir workdir\nexport export\nimport import\nread_image read_image","display":{"status":"ok"}}`},
		{"an unknown inspection", `{"id":1,"tool":"@x"}`, `{"id":1,"text":"error: unknown tool: @x","error":{"code":"UNKNOWN_TOOL","message":"unknown tool: @x"},"display":{"status":"unknown tool: @x"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, []string{tt.want}, answers(t, "", tt.in, " "))
		})
	}
}

// bad returns the answer to a line that is no request.
func bad(id, message string) string {
	return `{` + id + `"text":"error: ` + message + `","error":{"code":"BAD_REQUEST","message":"` + message + `"}}`
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, argv := range [][]string{{"call", "ls"}, {"list"}, {"list", "-json"}, {"session"}, {"tour"}} {
		var stderr bytes.Buffer
		status := run(t.Context(), argv, console{strings.NewReader(`{"id":1,"tool":"ls"}`), full{}, &stderr, nil})
		require.Equal(t, statusError, status, argv)
		require.Contains(t, stderr.String(), "no space left on device", argv)
	}
}

func TestReasonOfUnsavedOutputIsLogged(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte(strings.Repeat("line\n", 5000)), 0o644))
	_, out, err := toolbox(t, "", "-options", `{"artifact_dir":"/no/such"}`, "call", "read", `{"path":"`+dir+`/b"}`)
	require.Contains(t, out, "saved_output_unavailable: true")
	require.Contains(t, err, "output is not saved")
}

func TestSessionAnswersEveryRequest(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"tool":"ls"}`, i))
	}
	got := answers(t, lines...)
	require.Len(t, slices.Compact(got), len(lines))
}

// stuck is a tool that waits for its cancellation.
type stuck struct{ started chan<- struct{} }

func (stuck) Definition() tools.Definition { return tools.Definition{Name: "stuck"} }

func (s stuck) Call(ctx context.Context, _ tools.Call) tools.Outcome {
	s.started <- struct{}{}
	<-ctx.Done()
	return tools.Fail(ctx, ctx.Err(), tools.Display{Args: "stuck"})
}

func TestSessionCancel(t *testing.T) {
	started := make(chan struct{})
	session, err := tools.New(tools.Config{Root: t.TempDir(), Own: []tools.Tool{stuck{started}}})
	require.NoError(t, err)
	defer session.Close()
	out, in := io.Pipe()
	s := &server{session: session, log: &eventLog{}, out: in, running: map[string]context.CancelCauseFunc{}, agents: map[string]int{}, failed: make(chan error, 1)}
	lines := readLines(t.Context(), out)
	next := func() string { return string((<-lines).text) }

	s.handle(t.Context(), []byte(`{"id":1,"tool":"stuck"}`))
	<-started
	go s.handle(t.Context(), []byte(`{"id":1,"tool":"stuck"}`))
	require.Contains(t, next(), "a call with this id is running")

	go s.handle(t.Context(), []byte(`{"id":2,"control":"cancel","target":1}`))
	got := []string{next(), next()}
	slices.Sort(got)
	require.Equal(t, []string{
		`{"id":1,"text":"cancelled: cancelled by the caller","error":{"code":"CANCELLED","message":"cancelled by the caller"},"display":{"header":"stuck","status":"cancelled"}}`,
		`{"id":2,"text":""}`,
	}, got)
	s.calls.Wait()
	require.NoError(t, in.Close())
}

func TestCallEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("cancelled by the user"))
	in, writer := io.Pipe()
	var stderr bytes.Buffer
	require.Equal(t, statusError, run(ctx, []string{"call", "ls", "-"}, console{in, io.Discard, &stderr, nil}))
	require.Equal(t, "toolbox: cancelled by the user\n", stderr.String())
	require.NoError(t, writer.Close())
}

func TestSessionTellsAPersonWhatWaits(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	told, person := io.Pipe()
	go func() {
		run(t.Context(), []string{"-C", dir, "-options", `{"dir_lock": true}`, "session"}, console{in, out, person, nil})
		out.Close()
	}()
	request := func(agent, command string) {
		fmt.Fprintf(requests, `{"agent": %q, "tool": "dir_lock", "args": {"command": %q, "directory": "."}}`+"\n", agent, command)
	}
	lines := bufio.NewScanner(answers)
	request("ann", "update")
	require.True(t, lines.Scan())
	request("bob", "update")
	line, err := bufio.NewReader(told).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "bob dir_lock update "+dir+" waiting for directory lock: "+dir+"\n", line)
	requests.Close()
	require.True(t, lines.Scan(), "ann asks for nothing more, so her lock ends")
	require.Contains(t, lines.Text(), `locked: true`)
	require.False(t, lines.Scan())
}

func TestLongLineIsRefusedAndForgotten(t *testing.T) {
	in := bufio.NewReader(io.MultiReader(io.LimitReader(zeros{}, maxLine+1), strings.NewReader("\nnext\n")))
	_, err := readLine(in)
	require.ErrorIs(t, err, errLongLine)
	text, err := readLine(in)
	require.NoError(t, err)
	require.Equal(t, "next\n", string(text))
	_, err = readLine(in)
	require.Equal(t, io.EOF, err)

	in.Reset(io.LimitReader(zeros{}, maxLine+1))
	_, err = readLine(in)
	require.ErrorIs(t, err, errLongLine, "the last line, without an end")
	_, err = readLine(in)
	require.Equal(t, io.EOF, err)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestSessionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, writer := io.Pipe()
	done := make(chan int)
	go func() { done <- run(ctx, []string{"session"}, console{in, io.Discard, io.Discard, nil}) }()
	_, err := writer.Write([]byte("\n"))
	require.NoError(t, err)
	cancel()
	require.Equal(t, statusOK, <-done)
	require.NoError(t, writer.Close())
}

func TestTour(t *testing.T) {
	status, _, _ := toolbox(t, "", "tour")
	require.Equal(t, statusUsage, status, "-C")
	var stdout bytes.Buffer
	require.Equal(t, statusOK, run(t.Context(), []string{"tour"}, console{nil, &stdout, io.Discard, nil}))
	out := stdout.String()
	require.Contains(t, out, `3(escaped) odd\nerror: not an error`)
	require.Contains(t, out, "2500 number 2500")
	for _, name := range tools.Names() {
		require.Contains(t, out, "\n> "+name+" ")
	}
	require.NotContains(t, out, "unknown tool")
	require.NotContains(t, out, "{ARTIFACT}")
	require.Less(t, strings.Count(out, "\n"), 250)
}

func TestPainter(t *testing.T) {
	s := diff.Summary{Added: 2, Removed: 2, Hunks: []diff.Hunk{{OldStart: 1, OldCount: 3, NewStart: 1, NewCount: 3, Lines: []diff.Line{
		{Kind: diff.Equal, Text: "same\x1b[2J"},
		{Kind: diff.Remove, Text: "old"},
		{Kind: diff.Add, Text: "new"},
		{Kind: diff.Modify, Old: []diff.Segment{{Kind: diff.Equal, Text: "n = "}, {Kind: diff.Remove, Text: "1"}}, New: []diff.Segment{{Kind: diff.Equal, Text: "n = "}, {Kind: diff.Add, Text: "2"}}},
	}}}}
	var plain, coloured bytes.Buffer
	painter{&plain, false}.diff(s)
	require.Equal(t, "@@ -1,3 +1,3 @@\n same␛[2J\n-old\n+new\n-n = 1\n+n = 2\n", plain.String())
	painter{&coloured, true}.diff(s)
	require.Contains(t, coloured.String(), "\x1b[31m-\x1b[0m\x1b[31mn = \x1b[0m\x1b[31;7m1\x1b[0m\n")

	var shown bytes.Buffer
	printDisplay(&shown, "apply_patch", tools.Display{Args: "a.go,…", Figures: " 2F +2/-2", Status: "ok", Diffs: diff.Payload{Files: []diff.File{{Path: "a.go", Summary: s}}}})
	require.True(t, strings.HasPrefix(shown.String(), "apply_patch a.go,… 2F +2/-2 ok\na.go +2/-2\n@@"))
	shown.Reset()
	printDisplay(&shown, "edit", tools.Display{Args: "a.go", Status: "ok", Diffs: diff.Payload{Text: "[diff truncated]"}})
	require.Equal(t, "edit a.go ok\n[diff truncated]\n", shown.String())
}
