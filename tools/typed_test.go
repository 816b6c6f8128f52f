package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

type countArgs struct {
	N int64 `json:"n" limits:"minimum=1"`
}

func TestNewTool(t *testing.T) {
	show := func(a countArgs) tools.Display { return tools.Display{Args: string(rune('0' + a.N))} }
	run := func(_ context.Context, call tools.Call, a countArgs, d tools.Display) tools.Outcome {
		d.Figures = ", done"
		return tools.Succeed(framing.Result{Body: call.Agent}, d)
	}
	tool := tools.NewTool(tools.Definition{Name: "count"}, show, run)
	require.JSONEq(t, `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}`, string(tool.Definition().Schema))
	require.Equal(t, "3", tool.(tools.Previewer).Preview(tools.Call{Arguments: []byte(`{"n":3}`)}).Header())
	require.Empty(t, tool.(tools.Previewer).Preview(tools.Call{Arguments: []byte(`{"n":0}`)}))

	out := tool.Call(t.Context(), tools.Call{Agent: "a1", Arguments: []byte(`{"n":3}`)})
	require.Equal(t, "a1", out.Text)
	require.Equal(t, "3, done", out.Display.Header())

	out = tool.Call(t.Context(), tools.Call{Arguments: []byte(`{"n":0}`)})
	require.Equal(t, "error: n must be >= 1", out.Text)
	require.Equal(t, framing.CodeInvalidArguments, out.Error.Code)

	own := json.RawMessage(`{"type":"object"}`)
	tool = tools.NewTool(tools.Definition{Name: "count", Schema: own}, nil, run)
	require.Equal(t, own, tool.Definition().Schema)
	require.Equal(t, ", done", tool.Call(t.Context(), tools.Call{Arguments: []byte(`{"n":3}`)}).Display.Header())
	require.Panics(t, func() {
		tools.NewTool(tools.Definition{}, nil, func(context.Context, tools.Call, int, tools.Display) tools.Outcome { return tools.Outcome{} })
	})
}
