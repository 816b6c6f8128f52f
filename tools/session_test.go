package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

// done is a tool that succeeds.
var done = named("done", func(context.Context, tools.Call) tools.Outcome {
	return tools.Succeed(framing.Result{Body: "done"}, tools.Display{Args: "args"})
})

func definitions(s interface{ Definitions() []tools.Definition }) (names []string) {
	for _, d := range s.Definitions() {
		names = append(names, d.Name)
	}
	return names
}

func TestSessionExposesTools(t *testing.T) {
	zed := named("zed", done.run)
	for _, tt := range []struct {
		allowed, want []string
	}{
		{nil, []string{"read", "ls", "find", "grep", "edit", "shell", "workdir", "zed", "done"}},
		{[]string{"done", "read"}, []string{"read", "done"}},
		{[]string{"ls", "ls"}, []string{"ls"}},
		{[]string{}, nil},
		{[]string{"write", "edit"}, []string{"edit", "write"}},
	} {
		s, log := sessionOf(t, tools.Config{Tools: tt.allowed}, zed, done)
		require.Equal(t, tt.want, definitions(s))
		for _, name := range []string{"read", "ls", "zed", "done"} {
			out := s.Call(t.Context(), tools.Call{ID: name, Tool: name, Arguments: []byte("{}")})
			if tt.allowed == nil || strings.Contains(strings.Join(tt.want, " "), name) {
				require.Len(t, log.of(name), 2)
			} else {
				requireFailure(t, out, framing.CodeUnknownTool, "unknown tool: "+name)
				require.Empty(t, log.of(name))
			}
		}
	}
}

func TestNewRefusesContradictions(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  tools.Config
		want string
	}{
		{"own twice", tools.Config{Own: []tools.Tool{done, done}}, "duplicate tool name: done"},
		{"ours again", tools.Config{Own: []tools.Tool{named("read", done.run)}}, "duplicate tool name: read"},
		{"escaped name", tools.Config{Own: []tools.Tool{named("a\nb", done.run), named("a\nb", done.run)}}, `duplicate tool name: a\nb`},
		{"unknown in the allow list", tools.Config{Tools: []string{"read", "rm"}}, "unknown tool: rm"},
		{"escaped unknown", tools.Config{Tools: []string{"r\nm"}}, `unknown tool: r\nm`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Root = t.TempDir()
			_, err := tools.New(tt.cfg)
			require.EqualError(t, err, tt.want)
		})
	}
	for name, cfg := range map[string]tools.Config{
		"no name":     {Root: t.TempDir(), Own: []tools.Tool{named("", done.run)}},
		"no root":     {Root: t.TempDir() + "/missing"},
		"frame limit": {Root: t.TempDir(), FrameLimit: -1},
	} {
		_, err := tools.New(cfg)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestSetRunsTools(t *testing.T) {
	set, err := tools.NewSet(done, tools.NewRead(tools.Env{Workspace: fileOf(t, "x\n")}))
	require.NoError(t, err)
	require.Equal(t, []string{"done", "read"}, definitions(set))
	require.Equal(t, "done", set.Call(t.Context(), tools.Call{Tool: "done"}).Text)
	require.Equal(t, "1 x", set.Call(t.Context(), tools.Call{Tool: "read", Arguments: []byte(`{"path":"f"}`)}).Text)
	requireFailure(t, set.Call(t.Context(), tools.Call{Tool: "Read"}), framing.CodeUnknownTool, "unknown tool: Read")
	_, err = tools.NewSet(done, done)
	require.EqualError(t, err, "duplicate tool name: done")
	_, err = tools.NewSet(named("", done.run))
	require.Error(t, err)
}

func TestUnknownToolNameIsEscaped(t *testing.T) {
	s, log := sessionOf(t, tools.Config{})
	out := s.Call(t.Context(), tools.Call{Tool: "rm\nerror: \x1b\u202e"})
	require.Equal(t, `error: unknown tool: rm\nerror: \u{1b}\u{202e}`, out.Text)
	requireWellFormed(t, s.Call(t.Context(), tools.Call{Tool: strings.Repeat("x", 1<<20)}))
	require.Empty(t, log.events)
}

func TestCallLife(t *testing.T) {
	fault := &framing.Error{Code: framing.CodeBusy, Message: "busy"}
	preview := func(tools.Call) tools.Display { return tools.Display{Args: "preview"} }
	tool := func(run func() tools.Outcome) tools.Tool {
		return previewingTool{named("tool", func(context.Context, tools.Call) tools.Outcome { return run() }), preview}
	}
	for _, tt := range []struct {
		name   string
		run    func() tools.Outcome
		end    tools.Phase
		text   string
		status string
	}{
		{"result", func() tools.Outcome { return done.run(t.Context(), tools.Call{}) }, tools.PhaseResult, "done", "ok"},
		{"own status", func() tools.Outcome {
			return tools.Succeed(framing.Result{Body: "x"}, tools.Display{Status: "7"})
		}, tools.PhaseResult, "x", "7"},
		{"error", func() tools.Outcome { return tools.Fail(t.Context(), fault, tools.Display{}) }, tools.PhaseError, "error: busy", "busy"},
		{"wrapped error", func() tools.Outcome {
			return tools.Fail(t.Context(), fmt.Errorf("own: %w", fault), tools.Display{})
		}, tools.PhaseError, "error: busy", "busy"},
		{"plain error", func() tools.Outcome {
			return tools.Fail(t.Context(), errors.New("a\nb\x1b"), tools.Display{})
		}, tools.PhaseError, `error: a\nb\u{1b}`, `a\nb\u{1b}`},
		{"cancelled", func() tools.Outcome {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return tools.Fail(ctx, ctx.Err(), tools.Display{})
		}, tools.PhaseCancelled, "cancelled: cancelled by the caller", "cancelled"},
		{"the end of another context", func() tools.Outcome {
			return tools.Fail(t.Context(), fmt.Errorf("dial db: %w", context.DeadlineExceeded), tools.Display{})
		}, tools.PhaseError, "error: dial db: context deadline exceeded", "dial db: context deadline exceeded"},
		{"panic", func() tools.Outcome { panic("oh\nno") }, tools.PhaseError, "error: internal error in tool tool", "internal error in tool tool"},
		{"nil panic", func() tools.Outcome { panic(nil) }, tools.PhaseError, "error: internal error in tool tool", "internal error in tool tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, log := sessionOf(t, tools.Config{}, tool(tt.run))
			out := s.Call(t.Context(), tools.Call{ID: "1", Tool: "tool"})
			require.Equal(t, tt.text, out.Text)
			require.Equal(t, tt.status, out.Display.Status)
			first, last := log.requireLife(t, "1", tt.end)
			require.Equal(t, tools.Display{Args: "preview"}, first)
			require.Equal(t, out.Display, last)
		})
	}
}

func TestPanicIsKeptForLogs(t *testing.T) {
	s, _ := sessionOf(t, tools.Config{}, named("a\nb", func(context.Context, tools.Call) tools.Outcome { panic("secret") }))
	out := s.Call(t.Context(), tools.Call{Tool: "a\nb"})
	require.Equal(t, `error: internal error in tool a\nb`, out.Text)
	require.Equal(t, framing.CodeInternal, out.Error.Code)
	var p *tools.PanicError
	require.ErrorAs(t, out.Error, &p)
	require.Equal(t, "secret", p.Value)
	require.Contains(t, string(p.Stack), "session_test.go")
	require.Equal(t, "done", mustSession(t, done).Call(t.Context(), tools.Call{Tool: "done"}).Text)
}

func mustSession(t *testing.T, own ...tools.Tool) *tools.Session {
	s, _ := sessionOf(t, tools.Config{}, own...)
	return s
}

func TestPanicKeepsTheArguments(t *testing.T) {
	tool := previewingTool{
		named("tool", func(context.Context, tools.Call) tools.Outcome { panic("x") }),
		func(tools.Call) tools.Display { return tools.Display{Args: "main.go"} },
	}
	s, log := sessionOf(t, tools.Config{}, tool)
	s.Call(t.Context(), tools.Call{ID: "1", Tool: "tool"})
	_, last := log.requireLife(t, "1", tools.PhaseError)
	require.Equal(t, "main.go", last.Args)
}

func TestPanicInPreview(t *testing.T) {
	tool := previewingTool{done, func(tools.Call) tools.Display { panic("in preview") }}
	s, log := sessionOf(t, tools.Config{}, tool)
	require.NotPanics(t, func() { s.Call(t.Context(), tools.Call{ID: "1", Tool: "done"}) })
	events := log.of("1")
	require.Len(t, events, 2)
	require.Equal(t, tools.PhaseStarted, events[0].Phase)
}

func TestGoexitEndsTheCall(t *testing.T) {
	s, log := sessionOf(t, tools.Config{}, named("tool", func(context.Context, tools.Call) tools.Outcome {
		runtime.Goexit()
		return tools.Outcome{}
	}))
	var running sync.WaitGroup
	running.Go(func() { s.Call(t.Context(), tools.Call{ID: "1", Tool: "tool"}) })
	running.Wait()
	_, last := log.requireLife(t, "1", tools.PhaseError)
	require.NotEmpty(t, last.Status, "the status of a failure is its message")
	require.NoError(t, s.Close(), "the call does not count as running any more")
}

func TestRejectedArgumentsStartAndFail(t *testing.T) {
	s, log := sessionOf(t, tools.Config{})
	s.Call(t.Context(), tools.Call{ID: "1", Tool: "read", Arguments: []byte(`{`)})
	first, last := log.requireLife(t, "1", tools.PhaseError)
	require.Zero(t, first)
	require.Equal(t, tools.Display{Status: "arguments are not valid JSON"}, last)
}

func TestEventsNameTheCall(t *testing.T) {
	tool := done
	tool.definition.Internal = "inner"
	var got tools.Call
	tool.run = func(_ context.Context, call tools.Call) tools.Outcome {
		got = call
		return tools.Succeed(framing.Result{Body: "x"}, tools.Display{})
	}
	s, log := sessionOf(t, tools.Config{}, tool)
	s.Call(t.Context(), tools.Call{ID: "7", Agent: "helper", Tool: "done", Dir: "/nowhere", Arguments: []byte("raw")})
	log.requireLife(t, "7", tools.PhaseResult)
	e := log.of("7")[0]
	require.Equal(t, []string{"helper", "inner", "done"}, []string{e.Agent, e.Internal, e.Visible})
	require.Equal(t, "raw", string(got.Arguments))
	require.NotEqual(t, "/nowhere", got.Dir, "the session says where relative paths start")

	s.Call(t.Context(), tools.Call{ID: "8", Tool: "done"})
	require.Equal(t, tools.DefaultAgent, log.of("8")[1].Agent)
	s.Call(t.Context(), tools.Call{ID: "9", Tool: "ls", Arguments: []byte("{}")})
	require.Equal(t, "ls", log.of("9")[0].Internal)
}

// TestManySessionsInOneDirectory also has several calls in each session at the
// same time.
func TestManySessionsInOneDirectory(t *testing.T) {
	ws := newWorkspace(t, map[string]string{"f": strings.Repeat("x\n", 2001), "g": "g\n"})
	spool := t.TempDir()
	t.Setenv("TMPDIR", spool)
	var running sync.WaitGroup
	for range 100 {
		running.Go(func() {
			s, err := tools.New(tools.Config{Workspace: ws})
			if err != nil {
				t.Error(err)
				return
			}
			var calls sync.WaitGroup
			for _, path := range []string{"f", "g", "f", "missing"} {
				calls.Go(func() {
					out := s.Call(t.Context(), tools.Call{Tool: "read", Arguments: []byte(`{"path":"` + path + `"}`)})
					if path == "f" && removed(header(out, "full_output_path")) {
						t.Error(out.Text)
					}
				})
			}
			calls.Wait()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	left, err := os.ReadDir(spool)
	require.NoError(t, err)
	require.Empty(t, left)
}
