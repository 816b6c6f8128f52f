//go:build unix

package tools_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools"
)

// background returns a Background of a session with tools of the test's own.
func background(t *testing.T, own ...tools.Tool) (*tools.Background, *tools.Session) {
	s, _ := sessionOf(t, tools.Config{Discoverer: tools.NoDiscovery()}, own...)
	b := tools.NewBackground(s)
	t.Cleanup(b.Close)
	return b, s
}

// start starts a call with the arguments {} and requires that it is let in.
func start(t *testing.T, b *tools.Background, id, tool string) {
	t.Helper()
	out := b.Start(t.Context(), tools.Call{ID: id, Tool: tool, Arguments: []byte(`{}`)})
	require.Equal(t, "tau_internal: true\n\nTool call `"+id+"` is running in the background.", out.Text)
}

// held is a tool that waits until it may end, or its context ends.
func held(release <-chan struct{}) tools.Tool {
	return named("held", func(ctx context.Context, call tools.Call) tools.Outcome {
		select {
		case <-release:
			return tools.Succeed(framing.Result{Body: "the result of " + call.ID}, tools.Display{})
		case <-ctx.Done():
			return tools.Fail(ctx, ctx.Err(), tools.Display{})
		}
	})
}

func TestBackgroundCollectsOnce(t *testing.T) {
	release := make(chan struct{})
	b, _ := background(t, held(release))
	start(t, b, "c1", "held")

	const waiters = 8
	got := make(chan string, waiters)
	for range waiters {
		go func() { got <- b.Wait(t.Context(), "c1").Text }()
	}
	close(release)
	counts := map[string]int{}
	for range waiters {
		counts[<-got]++
	}
	require.Equal(t, map[string]int{
		"the result of c1":                 1,
		"error: Tool call is already done": waiters - 1,
	}, counts)
}

func TestBackgroundWaitAnyNamesTheCall(t *testing.T) {
	release := make(chan struct{})
	b, _ := background(t, held(release), named("fails", func(ctx context.Context, _ tools.Call) tools.Outcome {
		return tools.Fail(ctx, &framing.Error{Code: framing.CodeBusy, Message: "busy", Output: "because"}, tools.Display{})
	}))
	require.Equal(t, "error: no tool call is running in the background", b.WaitAny(t.Context()).Text)
	start(t, b, "slow", "held")
	start(t, b, "bad", "fails")
	out := b.WaitAny(t.Context())
	require.Equal(t, "error: busy\noriginal_tool_call_id: bad\n\nbecause", out.Text)
	require.Equal(t, framing.CodeBusy, out.Error.Code)
	close(release)
	require.Equal(t, "original_tool_call_id: slow\n\nthe result of slow", b.WaitAny(t.Context()).Text)
}

func TestBackgroundWaitIsInterruptedByInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b, _ := background(t, held(release))
		start(t, b, "c1", "held")
		for _, tt := range []struct {
			mode string
			wait func(ctx context.Context) tools.Outcome
		}{
			{"exact", func(ctx context.Context) tools.Outcome { return b.Wait(ctx, "c1") }},
			{"any_background", b.WaitAny},
		} {
			for _, cause := range []error{tools.ErrNewInput, nil} {
				ctx, cancel := context.WithCancelCause(t.Context())
				got := make(chan tools.Outcome)
				go func() { got <- tt.wait(ctx) }()
				synctest.Wait()
				cancel(cause)
				want := "tau_internal: true\nwait_outcome: interrupted\nwait_reason: activating_input\nwait_mode: " + tt.mode
				if cause == nil {
					want = "cancelled: cancelled by the caller"
				}
				require.Equal(t, want, (<-got).Text)
			}
		}
		close(release)
		require.Equal(t, "the result of c1", b.Wait(t.Context(), "c1").Text, "it stayed to be collected")
	})
}

func TestBackgroundCancelledCommandIsCollected(t *testing.T) {
	live := make(chan struct{}, 1)
	cfg := tools.Config{Root: t.TempDir(), Tools: []string{"shell"}}
	cfg.Shell.Live = func(tools.Call, shellrec.Stream, []byte) { live <- struct{}{} }
	s, _ := openSession(t, cfg)
	b := tools.NewBackground(s)
	t.Cleanup(b.Close)
	b.Start(t.Context(), tools.Call{ID: "c1", Tool: "shell", Arguments: []byte(`{"command": "echo begun; exec sleep 600"}`)})
	<-live
	require.Equal(t, "Tool cancellation requested", b.Cancel("c1").Text)
	out := b.Wait(t.Context(), "c1")
	require.Equal(t, "termination_reason: cancelled\nsignal: 15\n\nout begun", out.Text)
	require.Nil(t, out.Error)
}

func TestBackgroundRefusals(t *testing.T) {
	release := make(chan struct{})
	images := testTool{tools.Definition{Name: "images", Schema: []byte(`{}`), Images: true}, nil}
	foreground := testTool{tools.Definition{Name: "here", Schema: []byte(`{}`), Foreground: true}, nil}
	b, _ := background(t, held(release), images, foreground,
		named("exits", func(context.Context, tools.Call) tools.Outcome { runtime.Goexit(); panic("not here") }))
	refused := func(want string, out tools.Outcome) {
		t.Helper()
		require.Equal(t, "error: "+want, out.Text)
		require.Equal(t, framing.CodeInvalidArguments, out.Error.Code)
	}
	refused("images cannot run in the background", b.Start(t.Context(), tools.Call{ID: "1", Tool: "images"}))
	refused("here cannot run in the background", b.Start(t.Context(), tools.Call{ID: "1", Tool: "here"}))
	refused("`tool_call_id` must not be empty", b.Start(t.Context(), tools.Call{Tool: "held"}))
	refused("`tool_call_id` must not be empty", b.Wait(t.Context(), ""))
	refused("`tool_call_id` must not be empty", b.Cancel(""))
	refused("Unknown tool call id", b.Wait(t.Context(), "1"))
	refused("Unknown tool call id", b.Cancel("1"))
	start(t, b, "1", "held")
	refused("Tool call id is already in use", b.Start(t.Context(), tools.Call{ID: "1", Tool: "held"}))
	close(release)
	require.Equal(t, "the result of 1", b.Wait(t.Context(), "1").Text)
	refused("Tool call is already done", b.Cancel("1"))

	start(t, b, "2", "exits")
	require.Equal(t, "error: internal error in tool exits", b.Wait(t.Context(), "2").Text)
	b.Close()
	refused("the session is closed", b.Start(t.Context(), tools.Call{ID: "3", Tool: "held"}))
}

func TestBackgroundCallRunsWhereItsAgentWas(t *testing.T) {
	dirs := make(chan string, 1)
	b, s := background(t, named("where", func(_ context.Context, call tools.Call) tools.Outcome {
		dirs <- call.Dir
		return tools.Succeed(framing.Result{}, tools.Display{})
	}))
	for i := range 50 {
		want, err := s.Workdirs().Dir(t.Context(), "")
		require.NoError(t, err)
		start(t, b, fmt.Sprint(i), "where")
		_, _, err = s.Workdirs().Set(t.Context(), "", []string{"/", "/tmp"}[i%2])
		require.NoError(t, err)
		require.Equal(t, want, <-dirs)
	}
}

func TestBackgroundArgumentsAreItsOwn(t *testing.T) {
	release, got := make(chan struct{}), make(chan string, 1)
	b, _ := background(t, named("echo", func(_ context.Context, call tools.Call) tools.Outcome {
		<-release
		got <- string(call.Arguments)
		return tools.Succeed(framing.Result{}, tools.Display{})
	}))
	arguments := []byte(`{"a":1}`)
	b.Start(t.Context(), tools.Call{ID: "1", Tool: "echo", Arguments: arguments})
	copy(arguments, `{"b":2}`)
	close(release)
	require.Equal(t, `{"a":1}`, <-got)
}

func TestBackgroundCancelTwice(t *testing.T) {
	obey := make(chan struct{})
	b, _ := background(t, named("stubborn", func(ctx context.Context, _ tools.Call) tools.Outcome {
		<-obey
		return tools.Fail(ctx, ctx.Err(), tools.Display{})
	}))
	start(t, b, "1", "stubborn")
	require.Equal(t, "Tool cancellation requested", b.Cancel("1").Text)
	require.Equal(t, "error: Tool call already canceled", b.Cancel("1").Text)
	close(obey)
	require.Equal(t, "cancelled: cancelled by the model", b.Wait(t.Context(), "1").Text)
}

func TestBackgroundPlaceholderIsEscaped(t *testing.T) {
	release := make(chan struct{})
	close(release)
	b, _ := background(t, held(release))
	out := b.Start(t.Context(), tools.Call{ID: "a\nerror: b", Tool: "held"})
	require.True(t, strings.HasSuffix(out.Text, "\n\nTool call `"+`a\nerror: b`+"` is running in the background."), out.Text)
}
