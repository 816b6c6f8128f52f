package tools_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

// noting is a middleware that notes its way in and out.
func noting(name string, notes *[]string) tools.Middleware {
	return func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, call tools.Call) tools.Outcome {
			*notes = append(*notes, name+" in")
			defer func() { *notes = append(*notes, name+" out") }()
			return next(ctx, call)
		}
	}
}

func TestMiddlewareOrder(t *testing.T) {
	var notes []string
	note := func(what string) { notes = append(notes, what) }
	s, _ := openSession(t, tools.Config{
		Root:       t.TempDir(),
		Middleware: []tools.Middleware{noting("first", &notes), noting("second", &notes)},
		Listener:   tools.ListenerFunc(func(e tools.Event) { note(string(e.Phase)) }),
		Own: []tools.Tool{named("tool", func(ctx context.Context, call tools.Call) tools.Outcome {
			note("tool")
			return done.run(ctx, call)
		})},
	})
	s.Call(t.Context(), tools.Call{Tool: "tool"})
	require.Equal(t, []string{"started", "first in", "second in", "tool", "second out", "first out", "result"}, notes)
	notes = nil
	s.Call(t.Context(), tools.Call{Tool: "unknown"})
	require.Empty(t, notes, "the call never reaches a tool")
}

func TestMiddlewareAnswersInPlaceOfTheTool(t *testing.T) {
	denied := &framing.Error{Code: framing.CodePermission, Message: "denied by the user"}
	never := named("tool", func(context.Context, tools.Call) tools.Outcome { panic("not to be called") })
	s, log := sessionOf(t, tools.Config{Middleware: []tools.Middleware{func(tools.Handler) tools.Handler {
		return func(ctx context.Context, _ tools.Call) tools.Outcome { return tools.Fail(ctx, denied, tools.Display{}) }
	}}}, never)
	out := s.Call(t.Context(), tools.Call{ID: "1", Tool: "tool"})
	require.Equal(t, "error: denied by the user", out.Text)
	require.Same(t, denied, out.Error)
	log.requireLife(t, "1", tools.PhaseError)
}

func TestMiddlewareSeesContextAndChangesOutcome(t *testing.T) {
	type key struct{}
	s, log := sessionOf(t, tools.Config{Middleware: []tools.Middleware{func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, call tools.Call) tools.Outcome {
			out := next(context.WithValue(ctx, key{}, "value"), call)
			out.Text = "stale"
			out.Result.Add("note", "added")
			out.Error = nil
			return out
		}
	}}}, named("tool", func(ctx context.Context, _ tools.Call) tools.Outcome {
		return tools.Fail(ctx, errors.New(ctx.Value(key{}).(string)), tools.Display{})
	}))
	out := s.Call(t.Context(), tools.Call{ID: "1", Tool: "tool"})
	require.Equal(t, "detail_error: value\nnote: added", out.Text, "a success shows no verdict")
	log.requireLife(t, "1", tools.PhaseResult)
}

func TestMiddlewarePanics(t *testing.T) {
	for name, m := range map[string]tools.Middleware{
		"before": func(tools.Handler) tools.Handler {
			return func(context.Context, tools.Call) tools.Outcome { panic("before") }
		},
		"after": func(next tools.Handler) tools.Handler {
			return func(ctx context.Context, call tools.Call) tools.Outcome {
				next(ctx, call)
				panic("after")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, log := sessionOf(t, tools.Config{Middleware: []tools.Middleware{m}}, done)
			out := s.Call(t.Context(), tools.Call{ID: "1", Tool: "done"})
			requireFailure(t, out, framing.CodeInternal, "internal error in tool done")
			log.requireLife(t, "1", tools.PhaseError)
		})
	}
}

func TestInnerPanicIsAnOutcomeForMiddleware(t *testing.T) {
	var code string
	s, _ := sessionOf(t, tools.Config{Middleware: []tools.Middleware{func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, call tools.Call) tools.Outcome {
			out := next(ctx, call)
			code = out.Error.Code
			return out
		}
	}}}, named("tool", func(context.Context, tools.Call) tools.Outcome { panic("x") }))
	s.Call(t.Context(), tools.Call{Tool: "tool"})
	require.Equal(t, framing.CodeInternal, code)
}

func TestMiddlewareThatFailsASuccess(t *testing.T) {
	s, log := sessionOf(t, tools.Config{Middleware: []tools.Middleware{func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, call tools.Call) tools.Outcome {
			out := next(ctx, call)
			out.Error = &framing.Error{Code: framing.CodeBusy, Message: "too much of it"}
			return out
		}
	}}}, done)
	out := s.Call(t.Context(), tools.Call{ID: "1", Tool: "done"})
	require.Equal(t, "error: too much of it", out.Text)
	require.Equal(t, "too much of it", out.Display.Status)
	log.requireLife(t, "1", tools.PhaseError)
}

// manyErrors cannot be compared with ==.
type manyErrors []error

func (manyErrors) Error() string { return "many" }

func TestCauseThatCannotBeCompared(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(manyErrors{errors.New("one")})
	out := tools.Fail(ctx, ctx.Err(), tools.Display{})
	require.Equal(t, "cancelled: many", out.Text)
}

func TestConfigThatContradictsItself(t *testing.T) {
	ws := newWorkspace(t, nil)
	for want, cfg := range map[string]tools.Config{
		"both a root and a workspace": {Root: ws.Dir(), Workspace: ws},
		"both a spool and none":       {Workspace: ws, Spool: newSpool(t, artifact.Options{}), NoSpool: true},
		"a tool that is nil":          {Workspace: ws, Own: []tools.Tool{nil}},
		"middleware that is nil":      {Workspace: ws, Middleware: []tools.Middleware{nil}},
	} {
		_, err := tools.New(cfg)
		require.EqualError(t, err, want)
	}
	s, err := tools.New(tools.Config{Workspace: ws, Own: []tools.Tool{named("read", done.run)}, Tools: []string{"ls"}})
	require.NoError(t, err, "neither of the two tools with one name is exposed")
	require.NoError(t, s.Close())
}
