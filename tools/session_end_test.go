package tools_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/workspace"
)

// waiting is a tool that waits for its context to end. It tells when it runs.
func waiting(running chan<- struct{}) tools.Tool {
	return named("wait", func(ctx context.Context, _ tools.Call) tools.Outcome {
		if running != nil {
			running <- struct{}{}
		}
		<-ctx.Done()
		return tools.Fail(ctx, ctx.Err(), tools.Display{})
	})
}

var errOwn = errors.New("own")

func TestCancellationReasons(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause error
		want  string
	}{
		{"bare", nil, "cancelled by the caller"},
		{"bare, given", context.Canceled, "cancelled by the caller"},
		{"wrapped", fmt.Errorf("user left: %w", context.Canceled), "user left: context canceled"},
		{"plain", errors.New("cancelled by the user"), "cancelled by the user"},
		{"empty", errors.New(""), "cancelled by the caller"},
		{"hostile", errors.New("a\r\nerror: b\x1b[2J\u202e\xff"), `a\r\nerror: b\u{1b}[2J\u{202e}` + "\ufffd"},
		{"a deadline's error", context.DeadlineExceeded, "context deadline exceeded"},
		{"a framing error", &framing.Error{Code: framing.CodeBusy, Message: "busy"}, "busy"},
	} {
		for _, when := range []string{"before", "during"} {
			t.Run(tt.name+" "+when, func(t *testing.T) {
				running := make(chan struct{}, 1)
				s, log := sessionOf(t, tools.Config{}, waiting(running))
				ctx, cancel := context.WithCancelCause(t.Context())
				if when == "before" {
					cancel(tt.cause)
				} else {
					go func() {
						<-running
						cancel(tt.cause)
					}()
				}
				out := s.Call(ctx, tools.Call{ID: "1", Tool: "wait"})
				requireWellFormed(t, out)
				require.Equal(t, "cancelled: "+tt.want, out.Text)
				requireFailure(t, out, framing.CodeCancelled, tt.want)
				_, last := log.requireLife(t, "1", tools.PhaseCancelled)
				require.Equal(t, tools.StatusCancelled, last.Status)
			})
		}
	}
}

func TestBuiltInToolsAreCancelledBeforeTheyOpen(t *testing.T) {
	s, log := sessionOf(t, tools.Config{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOwn)
	for _, tool := range []string{"read", "ls"} {
		out := s.Call(ctx, tools.Call{ID: tool, Tool: tool, Arguments: []byte(`{"path":"missing"}`)})
		require.Equal(t, "cancelled: own", out.Text)
		first, last := log.requireLife(t, tool, tools.PhaseCancelled)
		first.Status = tools.StatusCancelled
		require.Equal(t, first, last)
	}
	out := s.Call(ctx, tools.Call{Tool: "read", Arguments: []byte(`{}`)})
	requireFailure(t, out, framing.CodeInvalidArguments, "path must be a string")
}

func TestCancellationAfterTheEndChangesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	own := named("late", func(context.Context, tools.Call) tools.Outcome {
		cancel()
		return tools.Succeed(framing.Result{Body: "finished"}, tools.Display{})
	})
	s, log := sessionOf(t, tools.Config{}, own)
	require.Equal(t, "finished", s.Call(ctx, tools.Call{ID: "1", Tool: "late"}).Text)
	log.requireLife(t, "1", tools.PhaseResult)
}

func TestDeadlineIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := sessionOf(t, tools.Config{}, waiting(nil))
		for id, end := range map[string]func() (context.Context, context.CancelFunc){
			"plain": func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Hour) },
			"cause": func() (context.Context, context.CancelFunc) {
				return context.WithTimeoutCause(t.Context(), time.Hour, errOwn)
			},
		} {
			ctx, cancel := end()
			out := s.Call(ctx, tools.Call{ID: id, Tool: "wait"})
			cancel()
			requireFailure(t, out, framing.CodeTimeout, "timed out")
			require.ErrorIs(t, out.Error, context.DeadlineExceeded)
			require.Equal(t, "timed out", out.Display.Status)
			log.requireLife(t, id, tools.PhaseError)
		}
	})
}

func TestContextOfACallIsDoneAfterIt(t *testing.T) {
	var inner context.Context
	s, _ := sessionOf(t, tools.Config{}, named("tool", func(ctx context.Context, call tools.Call) tools.Outcome {
		inner = ctx
		return done.run(ctx, call)
	}))
	s.Call(context.WithValue(t.Context(), errOwn, "value"), tools.Call{Tool: "tool"})
	require.Error(t, inner.Err())
	require.Equal(t, "value", inner.Value(errOwn))
	require.NoError(t, t.Context().Err())
}

func TestCloseCancelsRunningCallsAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		running, finished := make(chan struct{}), false
		slow := named("slow", func(ctx context.Context, _ tools.Call) tools.Outcome {
			running <- struct{}{}
			<-ctx.Done()
			<-release
			finished = true
			return tools.Fail(ctx, ctx.Err(), tools.Display{})
		})
		s, log := sessionOf(t, tools.Config{}, slow)
		outcome := make(chan tools.Outcome, 1)
		go func() { outcome <- s.Call(t.Context(), tools.Call{ID: "1", Tool: "slow"}) }()
		<-running

		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- s.Close() }()
		}
		synctest.Wait()
		require.Empty(t, closed, "the call still runs")
		require.Equal(t, "cancelled: the session is closed", s.Call(t.Context(), tools.Call{Tool: "slow"}).Text)

		close(release)
		require.NoError(t, <-closed)
		require.NoError(t, <-closed)
		require.True(t, finished)
		require.Equal(t, "cancelled: the session is closed", (<-outcome).Text)
		log.requireLife(t, "1", tools.PhaseCancelled)
	})
}

func TestCallsAfterCloseAreAnswered(t *testing.T) {
	s, log := sessionOf(t, tools.Config{}, done)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	for _, tool := range []string{"done", "read", "unknown"} {
		out := s.Call(t.Context(), tools.Call{ID: "1", Tool: tool})
		requireWellFormed(t, out)
		requireFailure(t, out, framing.CodeCancelled, "the session is closed")
	}
	require.Empty(t, log.of("1"))
	require.NotEmpty(t, s.Definitions())
}

func TestCloseRemovesItsOwnSavedOutput(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, spool := range map[string]*artifact.Spool{"its own": nil, "the caller's": newSpool(t, artifact.Options{})} {
		t.Run(name, func(t *testing.T) {
			ws, err := workspace.NewFS(t.Context(), memFS{listing: &memDir{names: numberedNames(2001)}}, "/")
			require.NoError(t, err)
			s, err := tools.New(tools.Config{Workspace: ws, Spool: spool})
			require.NoError(t, err)
			out := s.Call(t.Context(), tools.Call{Tool: "ls", Arguments: []byte(`{"limit":2001}`)})
			path := header(out, "full_output_path")
			require.False(t, removed(path))
			require.NoError(t, s.Close())
			require.Equal(t, spool == nil, removed(path))
		})
	}
}

func TestEveryCallCountsForTheLifeOfSavedOutput(t *testing.T) {
	clock := time.Now()
	ws := newWorkspace(t, nil)
	spool := newSpool(t, artifact.Options{Dir: t.TempDir(), Now: func() time.Time { return clock }})
	big, err := tools.New(tools.Config{Workspace: ws, Spool: spool, Own: []tools.Tool{done}})
	require.NoError(t, err)
	defer big.Close() //nolint:errcheck // nothing is left
	require.NoError(t, writeLines(ws.Dir()+"/f", 2001))

	path := header(big.Call(t.Context(), tools.Call{Tool: "read", Arguments: encode(t, whole)}), "full_output_path")
	clock = clock.Add(15 * time.Minute)
	rejected := tools.Call{Tool: "ls", Arguments: []byte(`{`)}
	for range 31 {
		big.Call(t.Context(), rejected)
		big.Call(t.Context(), tools.Call{Tool: "done"})
		big.Call(t.Context(), tools.Call{Tool: "unknown"})
	}
	require.False(t, removed(path), "31 calls of read or ls")
	big.Call(t.Context(), tools.Call{Tool: "read", Arguments: []byte(`{}`)})
	require.True(t, removed(path), "32 calls")
}
