package diff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func summary(text string) *Summary {
	return &Summary{Added: 1, Removed: 1, Hunks: []Hunk{{1, 2, 1, 2, []Line{
		{Kind: Equal, Text: "", Ending: CRLF},
		{Kind: Modify, Old: []Segment{{Equal, text}, {Remove, "1;"}}, New: []Segment{{Equal, text}, {Add, "2;"}}, NewEnding: None},
	}}}}
}

const encoded = `{"added":1,"removed":1,"hunks":[{"old_start":1,"old_count":2,"new_start":1,"new_count":2,"lines":[` +
	`{"kind":"equal","text":"","ending":"crlf"},` +
	`{"kind":"modify","old":[{"kind":"equal","text":"n = "},{"kind":"remove","text":"1;"}],` +
	`"new":[{"kind":"equal","text":"n = "},{"kind":"add","text":"2;"}],"new_ending":"none"}]}]}`

func TestEncoding(t *testing.T) {
	for _, tt := range []struct {
		in   Payload
		want string
	}{
		{Payload{}, `null`},
		{Payload{Text: "note"}, `{"text":"note"}`},
		{Payload{Diff: summary("n = ")}, encoded},
		{Payload{Files: []File{{"a.go", *summary("n = ")}}}, `{"files":[{"path":"a.go","diff":` + encoded + `}]}`},
	} {
		got, err := json.Marshal(tt.in)
		require.NoError(t, err)
		require.Equal(t, tt.want, string(got))
		require.Equal(t, len(tt.want), tt.in.EncodedLen())
		require.Equal(t, tt.want == "null", tt.in.IsZero())
	}
}

func TestChip(t *testing.T) {
	require.Equal(t, "+1000/-0", Summary{Added: 1000}.Chip())
}

func TestFit(t *testing.T) {
	one := Payload{Diff: summary(strings.Repeat("x", 200))}
	several := Payload{Files: []File{{"a.go", *summary("x")}, {`b\n.go`, *summary("y")}}}
	frame := func(p Payload) int { return p.EncodedLen() + 1000 }

	for _, tt := range []struct {
		rule   string
		in     Payload
		budget Budget
		want   Payload
		fits   bool
	}{
		{"within the default", one, Budget{}, one, true},
		{"exactly the payload bound", one, Budget{Payload: one.EncodedLen()}, one, true},
		{
			"over the payload bound", one,
			Budget{Payload: one.EncodedLen() - 1},
			Payload{Text: fmt.Sprintf("[diff truncated: structured diff would exceed %d bytes]", one.EncodedLen()-1)},
			true,
		},
		{"exactly the frame", one, Budget{Frame: frame(one), Size: frame}, one, true},
		{
			"over the frame", one,
			Budget{Frame: frame(one) - 1, Size: frame},
			Payload{Text: fmt.Sprintf("[diff truncated: structured diff would exceed %d bytes]", frame(one)-1)},
			true,
		},
		{
			"several files are named", several,
			Budget{Payload: 500},
			Payload{Text: "[diff truncated: structured diff would exceed 500 bytes]\nChanged files:\na.go\nb\\n.go"},
			true,
		},
		{"the short note for the payload", several, Budget{Payload: 40}, Payload{Text: "[diff truncated]"}, true},
		{"the short note for the frame", several, Budget{Frame: 1050, Size: frame}, Payload{Text: "[diff truncated]"}, true},
		{"nothing fits", one, Budget{Frame: 999, Size: frame}, Payload{}, false},
		{"nothing to show", Payload{}, Budget{}, Payload{}, true},
		{"a note is not replaced", Payload{Text: strings.Repeat("n", 100)}, Budget{Frame: 1050, Size: frame}, Payload{}, false},
		{"a note is bound by the frame alone", Payload{Text: "note"}, Budget{Payload: 3}, Payload{Text: "note"}, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, fits := Fit(tt.in, tt.budget)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.fits, fits)
		})
	}
}
