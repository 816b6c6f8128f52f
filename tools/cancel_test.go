package tools_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/workspace"
)

// TestCancelledWhileSaving cancels a call when it starts to save what it
// renders: that is when a spool looks at its clock the second time.
func TestCancelledWhileSaving(t *testing.T) {
	for _, tt := range []struct {
		name      string
		tool      func(spool *artifact.Spool) tools.Tool
		arguments string
	}{
		{"read", func(spool *artifact.Spool) tools.Tool {
			return tools.NewRead(tools.Env{Workspace: fileOf(t, strings.Repeat("line\n", 20_000)), Spool: spool})
		}, `{"path":"f"}`},
		{"read ranges", func(spool *artifact.Spool) tools.Tool {
			return tools.NewRead(tools.Env{Workspace: fileOf(t, strings.Repeat("line\n", 20_000)), Spool: spool})
		}, `{"path":"f","ranges":[{"start_line":1,"end_line":20000},{"start_line":1,"end_line":1}]}`},
		{"ls", func(spool *artifact.Spool) tools.Tool {
			return tools.NewLs(tools.Env{Workspace: memory(t, memFS{listing: &memDir{names: numberedNames(2001)}}), Spool: spool})
		}, `{"limit":2001}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			dir, looks := t.TempDir(), 0
			spool, err := artifact.NewSpool(artifact.Options{Dir: dir, Now: func() time.Time {
				if looks++; looks == 2 {
					cancel(errors.New("stop"))
				}
				return time.Now()
			}})
			require.NoError(t, err)
			out := tt.tool(spool).Call(ctx, tools.Call{Arguments: []byte(tt.arguments)})
			requireWellFormed(t, out)
			require.Equal(t, "cancelled: stop", out.Text)
			require.Equal(t, 2, looks)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "a cancelled call saves nothing")
			require.NoError(t, spool.Close())
		})
	}
}

// causeFS answers with the cause of the call's end, as a careful provider does.
type causeFS struct{ memFS }

func (causeFS) Open(ctx context.Context, _ string) (workspace.File, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (causeFS) OpenDir(ctx context.Context, _ string) (workspace.Dir, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestProviderThatReturnsTheCauseIsCancelled(t *testing.T) {
	s, _ := newSessionFS(t, causeFS{})
	for _, tool := range []string{"read", "ls"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		out := s.Call(ctx, tools.Call{Tool: tool, Arguments: []byte(`{"path":"p"}`)})
		requireFailure(t, out, framing.CodeCancelled, "enough")

		stuck := make(chan tools.Outcome)
		ctx, cancel = context.WithCancelCause(t.Context())
		go func() { stuck <- s.Call(ctx, tools.Call{Tool: tool, Arguments: []byte(`{"path":"p"}`)}) }()
		cancel(errors.New("enough"))
		requireFailure(t, <-stuck, framing.CodeCancelled, "enough")
	}
}

func TestDisplayOfALongPathIsShort(t *testing.T) {
	s, log := sessionOf(t, tools.Config{})
	arguments := encode(t, map[string]string{"path": strings.Repeat("\x7f", 1<<20)})
	for _, tool := range []string{"read", "ls"} {
		out := s.Call(t.Context(), tools.Call{ID: "1", Tool: tool, Arguments: arguments})
		require.Equal(t, framing.CodeIO, out.Error.Code)
		require.Less(t, len(out.Display.Header()), 2000)
	}
	for _, e := range log.of("1") {
		require.Less(t, len(e.Display.Header()), 2000)
	}
}
