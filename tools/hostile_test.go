package tools_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

// hostileText is what a hostile tool may put anywhere.
var hostileText = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"", "a", "\n", "\r", "\n\n", "error: forged", "truncated: true", ": ", "key", "KEY", "é", "\xff", "\xe2\x82", "\x00", "\x1b[2J",
		"\u2028", "\u0085", "\u202e", "cancelled", "error", " ", "\t", strings.Repeat("x", 3000), strings.Repeat("é", 3000),
	}), 0, 6).Draw(t, "pieces"), "")
})

var hostileHeaders = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) framing.Header {
	return framing.Header{Key: hostileText.Draw(t, "key"), Value: hostileText.Draw(t, "value")}
}), 0, 70)

var hostileOutcome = rapid.Custom(func(t *rapid.T) tools.Outcome {
	out := tools.Outcome{
		Text:   "said by the tool",
		Result: framing.Result{Headers: hostileHeaders.Draw(t, "headers"), Body: hostileText.Draw(t, "body")},
	}
	if rapid.Bool().Draw(t, "fails") {
		out.Error = &framing.Error{
			Message: hostileText.Draw(t, "message"), Code: rapid.SampledFrom([]string{"", "X\n", framing.CodeCancelled}).Draw(t, "code"),
			Fields: hostileHeaders.Draw(t, "fields"), Output: hostileText.Draw(t, "output"),
		}
	}
	return out
})

// TestHostileToolForgesNoHeader runs a tool that puts anything anywhere. Its
// text has as many header lines as it has headers, and its own body.
func TestHostileToolForgesNoHeader(t *testing.T) {
	var next tools.Outcome
	s, _ := sessionOf(t, tools.Config{}, named("hostile", func(context.Context, tools.Call) tools.Outcome { return next }))
	rapid.Check(t, func(r *rapid.T) {
		next = hostileOutcome.Draw(r, "outcome")
		result := next.Result
		if next.Error != nil {
			result = next.Error.Result()
		}
		out := s.Call(t.Context(), tools.Call{Tool: "hostile"})
		require.NotContains(r, out.Text, "said by the tool")

		headers, body := min(len(result.Headers), framing.MaxHeaders), framing.SafeBody(result.Body)
		if headers == 0 {
			require.Equal(r, cmp.Or(body, "(no output)"), out.Text)
			return
		}
		block, rest, found := strings.Cut(out.Text, "\n\n")
		require.Equal(r, body != "", found)
		require.Equal(r, body, rest)
		lines := strings.Split(block, "\n")
		require.Len(r, lines, headers)
		for i, line := range lines {
			key, _, ok := strings.Cut(line, ": ")
			require.True(r, ok)
			require.NotContains(r, line, "\r")
			require.NotContains(r, line, "\x1b")
			isVerdict := key == "error" || key == "cancelled"
			require.Equal(r, i == 0 && next.Error != nil, isVerdict, "a failure has one, and it is first")
		}
		require.Len(r, framing.Parse(out.Text).Headers, headers)
	})
}

func TestTextIsNeverEmpty(t *testing.T) {
	for name, given := range map[string]tools.Outcome{
		"nothing":   {},
		"only text": {Text: "said"},
		"no error":  {Error: &framing.Error{}},
	} {
		s, _ := sessionOf(t, tools.Config{}, named("tool", func(context.Context, tools.Call) tools.Outcome { return given }))
		require.NotEmpty(t, s.Call(t.Context(), tools.Call{Tool: "tool"}).Text, name)
	}
}

func TestEscapedFieldsSurviveTheLastResort(t *testing.T) {
	for _, verdict := range []string{framing.CodeInternal, framing.CodeCancelled} {
		for _, s := range []string{"a\n\r\tb", "\x1b\x00\x7f\u0085", "\u2028\u202e\u00a0", " a ", `\`, "\xff\xe2\x82", "…"} {
			shown, _ := escape.Field(s)
			out := tools.Fail(t.Context(), &framing.Error{Code: verdict, Message: shown}, tools.Display{})
			require.True(t, strings.HasSuffix(out.Text, ": "+shown), "%q", out.Text)
		}
	}
}

func FuzzFieldIsSafe(f *testing.F) {
	for _, s := range []string{"", "a", "\n\r\t", "\x1b\x00\x7f\u0085\u2028", "\xff\xe2\x82\xed\xa0\x80", ` \u{1b} `, "\ufeff\u202e\u00a0\u3164"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		field, _ := escape.Field(s)
		require.Equal(t, field, framing.SafeHeader(field))
		require.Equal(t, field, framing.SafeBody(field))
		require.NotContains(t, field, "\n")
		out := tools.Fail(t.Context(), errors.New(s), tools.Display{})
		require.Len(t, framing.Parse(out.Text).Headers, 1, "%q", out.Text)
		requireWellFormed(t, out)
	})
}
