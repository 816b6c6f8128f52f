package tools_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/diff"
)

// framed returns what becomes of an outcome in a session with that frame
// limit, and the last display that its listener got.
func framed(t *testing.T, limit int, given tools.Outcome) (tools.Outcome, tools.Display) {
	t.Helper()
	tool := named("tool", func(context.Context, tools.Call) tools.Outcome { return given })
	s, log := sessionOf(t, tools.Config{FrameLimit: limit}, tool)
	out := s.Call(t.Context(), tools.Call{ID: "1", Tool: "tool"})
	silent, _ := openSession(t, tools.Config{Root: t.TempDir(), FrameLimit: limit, Own: []tools.Tool{tool}})
	require.Equal(t, out, silent.Call(t.Context(), tools.Call{ID: "1", Tool: "tool"}), "a listener changes nothing")
	return out, log.of("1")[1].Display
}

// summary is a diff that adds n lines.
func summary(n int) diff.Summary {
	lines := make([]diff.Line, n)
	for i := range lines {
		lines[i] = diff.Line{Kind: diff.Add, Text: fmt.Sprint("line ", i)}
	}
	return diff.Summary{Added: n, Hunks: []diff.Hunk{{NewStart: 1, NewCount: n, Lines: lines}}}
}

const overhead = 256

func TestFrameLimitOfImages(t *testing.T) {
	given := tools.Succeed(framing.Result{Body: "an image"}, tools.Display{Args: "a.png", Figures: ", 1x1", Stats: &tools.Stats{Lines: 1}})
	given.Content = []tools.Content{{MIMEType: "image/png", Data: make([]byte, 100)}, {MIMEType: "image/png", Data: make([]byte, 1)}}
	size := len("an image") + 136 + 4 + len("a.png, 1x1") + overhead

	out, _ := framed(t, size, given)
	require.Equal(t, given, out)

	out, last := framed(t, size-1, given)
	requireFailure(t, out, framing.CodeFrameTooLarge, "typed image result exceeds the complete terminal frame byte limit")
	require.Empty(t, out.Content)
	require.Equal(t, "a.png", out.Display.Args)
	require.Nil(t, out.Display.Stats)
	require.Equal(t, out.Error.Error(), last.Status)
}

func TestFrameLimitOfDiffs(t *testing.T) {
	changed := summary(100)
	given := tools.Succeed(framing.Result{Body: "edited"}, tools.Display{
		Args: "a.txt", Diffs: diff.Payload{Diff: &changed}, Changes: []tools.Change{{Status: "M", Path: "a.txt"}},
	})
	size := len("edited") + len("a.txt") + overhead + given.Display.Diffs.EncodedLen()

	out, _ := framed(t, size, given)
	require.Equal(t, given, out)

	for _, limit := range []int{size - 1, 400, 300, 10} {
		out, last := framed(t, limit, given)
		require.Equal(t, out.Display, last)
		require.Equal(t, given.Text, out.Text)
		require.Equal(t, given.Display.Changes, out.Display.Changes, "what was changed is still told")
		require.Nil(t, out.Display.Diffs.Diff)
		out.Display.Diffs = given.Display.Diffs
		require.Equal(t, given, out, "only the diffs change")
	}
	out, _ = framed(t, size-1, given)
	require.Equal(t, fmt.Sprintf("[diff truncated: structured diff would exceed %d bytes]", size-1), out.Display.Diffs.Text)
}

func TestFrameLimitOfFailureWithDiffs(t *testing.T) {
	files := diff.Payload{Files: []diff.File{{Path: "a", Summary: summary(500)}, {Path: "b", Summary: summary(500)}}}
	given := tools.Fail(t.Context(), &framing.Error{Code: framing.CodeIO, Message: "half done", Fields: []framing.Header{{Key: "files_changed", Value: "a"}}},
		tools.Display{Diffs: files})
	out, last := framed(t, 1000, given)
	require.Equal(t, "error: half done\nfiles_changed: a", out.Text)
	require.Equal(t, "[diff truncated: structured diff would exceed 1000 bytes]\nChanged files:\na\nb", out.Display.Diffs.Text)
	require.Equal(t, framing.CodeIO, out.Error.Code)
	require.Equal(t, out.Display, last)
}

func TestFrameLimitNeverTouchesText(t *testing.T) {
	given := tools.Succeed(framing.Result{Body: strings.Repeat("x", 1000)}, tools.Display{Args: strings.Repeat("a", 1000)})
	out, _ := framed(t, 1, given)
	require.Equal(t, given, out)
}

// TestFrameLimitCountsPreviewedArgs has a tool that says only before the call
// what it was asked for. What a display gets fits all the same.
func TestFrameLimitCountsPreviewedArgs(t *testing.T) {
	changed := summary(100)
	asked := strings.Repeat("a", 500)
	tool := previewingTool{
		named("tool", func(context.Context, tools.Call) tools.Outcome {
			return tools.Succeed(framing.Result{Body: "x"}, tools.Display{Diffs: diff.Payload{Diff: &changed}})
		}),
		func(tools.Call) tools.Display { return tools.Display{Args: asked} },
	}
	limit := len("x") + overhead + (diff.Payload{Diff: &changed}).EncodedLen()
	s, log := sessionOf(t, tools.Config{FrameLimit: limit}, tool)
	s.Call(t.Context(), tools.Call{ID: "1", Tool: "tool"})
	_, last := log.requireLife(t, "1", tools.PhaseResult)
	require.LessOrEqual(t, len("x")+overhead+len(last.Header())+last.Diffs.EncodedLen(), limit)
}

func TestFrameLimitByDefault(t *testing.T) {
	given := tools.Succeed(framing.Result{Body: "x"}, tools.Display{})
	given.Content = []tools.Content{{Data: make([]byte, (tools.DefaultFrameLimit-1-overhead)/4*3)}}
	out, _ := framed(t, 0, given)
	require.Nil(t, out.Error)
	given.Content[0].Data = append(given.Content[0].Data, 0)
	out, _ = framed(t, 0, given)
	require.Equal(t, framing.CodeFrameTooLarge, out.Error.Code)
}
