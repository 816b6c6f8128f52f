package args

import (
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
)

// everything has a field of each kind with each limit.
type everything struct {
	Path    Path     `json:"path"`
	Mode    string   `json:"mode,omitzero" limits:"enum=high|overview|low" description:"how"`
	Command *string  `json:"command,omitzero" limits:"minLength=1 maxLength=8"`
	Count   *int64   `json:"count,omitzero" limits:"minimum=-3 maximum=2001"`
	Timeout *float64 `json:"timeout,omitzero" limits:"minimum=0.5 maximum=600"`
	Any     float64  `json:"any,omitzero"`
	Flag    *bool    `json:"flag,omitzero"`
	Names   []string `json:"names,omitzero" limits:"maxItems=3"`
	Edits   []edit   `json:"edits,omitzero" limits:"minItems=1 maxItems=2 excludes=count|flag"`
	Region  *edit    `json:"region,omitzero"`
}

type edit struct {
	Old string `json:"oldText" limits:"minLength=1"`
	New string `json:"newText"`
}

func (e edit) Check() error {
	if e.Old == e.New {
		return errors.New("oldText and newText are the same")
	}
	return nil
}

func message(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *framing.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, framing.CodeInvalidArguments, e.Code)
	require.NotContains(t, e.Message, "\n")
	return e.Message
}

func TestDecodeFaults(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	decoder := For[everything]()
	for _, tt := range []struct{ in, want string }{
		{``, "arguments are not valid JSON"},
		{` `, "arguments are not valid JSON"},
		{`{"path":"a"} {}`, "arguments are not valid JSON"},
		{`{"path":"a",}`, "arguments are not valid JSON"},
		{`{'path':'a'}`, "arguments are not valid JSON"},
		{`{"path":NaN}`, "arguments are not valid JSON"},
		{`{"path":"a","count":01}`, "arguments are not valid JSON"},
		{"{\"path\":\"a\x01\"}", "arguments are not valid JSON"},
		{"\ufeff{}", "arguments are not valid JSON"},
		{`{"x":` + deep(MaxDepth) + `}`, "arguments are not valid JSON"},
		{`{"x":` + deep(MaxDepth-1) + `}`, `unknown field "x"; allowed: path, mode, command, count, timeout, any, flag, names, edits, region`},
		{`{"path":"` + strings.Repeat("a", MaxBytes) + `"}`, "arguments are not valid JSON"},

		{"{\"path\":\"\xff\"}", "arguments are not valid Unicode"},
		{`{"path":"\ud800"}`, "arguments are not valid Unicode"},
		{`{"path":"\udc00"}`, "arguments are not valid Unicode"},
		{`{"path":"\ud800\ud800"}`, "arguments are not valid Unicode"},
		{`{"path":"\ud800x"}`, "arguments are not valid Unicode"},
		{`{"\udfff":1}`, "arguments are not valid Unicode"},
		{`{"path":"\ud800"} x`, "arguments are not valid Unicode"},
		{`{"x":1,"y":"\uD83D"}`, "arguments are not valid Unicode"},
		{`{"path":"\uD83D\ude00\\ud800"}`, ""},

		{`null`, "arguments must be an object"},
		{`[]`, "arguments must be an object"},
		{`"{}"`, "arguments must be an object"},
		{`1`, "arguments must be an object"},

		{`{"PATH":"a"}`, `unknown field "PATH"; allowed: path, mode, command, count, timeout, any, flag, names, edits, region`},
		{`{"path":"a","p\u0061th":"b"}`, `duplicate field "path"`},
		{`{"path":null,"path":"b"}`, `duplicate field "path"`},
		{`{"a\nb\"":1}`, `unknown field "a\nb\""; allowed: path, mode, command, count, timeout, any, flag, names, edits, region`},
		{`{"` + strings.Repeat("é", 40) + `":1}`, `unknown field "` + strings.Repeat("é", 32) + `"; allowed: path, mode, command, count, timeout, any, flag, names, edits, region`},
		{`{"count":"x","path":7,"path":8,"bogus":1}`, `duplicate field "path"`},
		{`{"count":"x","bogus":1,"path":7,"path":8}`, `unknown field "bogus"; allowed: path, mode, command, count, timeout, any, flag, names, edits, region`},

		{`{}`, "path must be a string"},
		{`{"path":null}`, "path must be a string"},
		{`{"path":7}`, "path must be a string"},
		{`{"path":["a"]}`, "path must be a string"},
		{`{"path":""}`, "path must not be empty"},
		{`{"path":"a\u0000b"}`, "path must not contain NUL"},
		{`{"path":"a","mode":null}`, ""},
		{`{"path":"a","mode":"High"}`, "mode must be high, overview or low"},
		{`{"path":"a","mode":""}`, "mode must be high, overview or low"},
		{`{"path":"a","command":""}`, "command must not be empty"},
		{`{"path":"a","command":"12345678"}`, ""},
		{`{"path":"a","command":"1234567é"}`, "command exceeds 8 bytes"},
		{`{"path":"a","count":"1"}`, "count must be an integer"},
		{`{"path":"a","count":true}`, "count must be an integer"},
		{`{"path":"a","count":2.5}`, "count must be an integer"},
		{`{"path":"a","count":-4}`, "count must be >= -3"},
		{`{"path":"a","count":2002}`, "count must be <= 2001"},
		{`{"path":"a","count":1e400}`, "count must fit in a signed 64-bit integer"},
		{`{"path":"a","timeout":0.25}`, "timeout must be >= 0.5"},
		{`{"path":"a","timeout":1e999}`, "timeout must be <= 600"},
		{`{"path":"a","timeout":"1"}`, "timeout must be a number"},
		{`{"path":"a","any":1e999}`, "any must fit in a 64-bit float"},
		{`{"path":"a","any":-1e999}`, "any must fit in a 64-bit float"},
		{`{"path":"a","any":1e-999}`, ""},
		{`{"path":"a","flag":"true"}`, "flag must be a boolean"},
		{`{"path":"a","flag":0}`, "flag must be a boolean"},
		{`{"path":"a","names":"a"}`, "names must be an array"},
		{`{"path":"a","names":[]}`, ""},
		{`{"path":"a","names":["a","b","c","d"]}`, "names exceeds the limit of 3 entries"},
		{`{"path":"a","names":["a",null]}`, "names[1] must be a string"},
		{`{"path":"a","edits":[]}`, "edits must not be empty"},
		{`{"path":"a","edits":{}}`, "edits must be an array"},
		{`{"path":"a","edits":[1]}`, "edits[0] must be an object"},
		{`{"path":"a","edits":[1,2,3]}`, "edits exceeds the limit of 2 entries"},
		{`{"path":"a","edits":[{"oldText":"x","newText":"y","new":1}]}`, `edits[0]: unknown field "new"; allowed: oldText, newText`},
		{`{"path":"a","edits":[{"oldText":"x","newText":"y"},{"oldText":"x","oldText":"y"}]}`, `edits[1]: duplicate field "oldText"`},
		{`{"path":"a","edits":[{"oldText":"x"}]}`, "edits[0]: newText must be a string"},
		{`{"path":"a","edits":[{"oldText":"","newText":"y"}]}`, "edits[0]: oldText must not be empty"},
		{`{"path":"a","edits":[{"oldText":"x","newText":"x"}]}`, "edits[0]: oldText and newText are the same"},
		{`{"path":"a","count":1,"edits":7}`, "edits cannot be combined with count or flag"},
		{`{"path":"a","count":null,"edits":7}`, "edits must be an array"},
		{`{"path":"a","region":{}}`, "region: oldText must be a string"},
	} {
		_, err := decoder.Decode([]byte(tt.in))
		require.Equal(t, tt.want, message(t, err), "%.200s", tt.in)
	}
}

func TestDecodeValues(t *testing.T) {
	got, err := For[everything]().Decode([]byte(" \n" + `{
		"p\u0061th": "d/\u00e9\ud83d\ude00", "mode": "low", "command": "ls", "count": 20e-1, "timeout": 0.5, "any": -1e3,
		"flag": false, "names": ["a\"b", ""], "region": {"newText": "n", "oldText": "o"}, "edits": null}` + "\t\n"))
	require.NoError(t, err)
	command, count, timeout, flag := "ls", int64(2), 0.5, false
	require.Equal(t, everything{
		Path: "d/é😀", Mode: "low", Command: &command, Count: &count, Timeout: &timeout, Any: -1000,
		Flag: &flag, Names: []string{`a"b`, ""}, Region: &edit{"o", "n"},
	}, got)

	got, err = For[everything]().Decode([]byte(`{"path":"a","names":[]}`))
	require.NoError(t, err)
	require.Equal(t, everything{Path: "a", Names: []string{}}, got)
}

func TestReadArguments(t *testing.T) {
	entry := `{"start_line":1,"end_line":1}`
	for _, tt := range []struct{ in, want string }{
		{`{"path":"a","start_line":2,"end_line":null,"ranges":null}`, ""},
		{`{"path":"a","start_line":0}`, "start_line must be >= 1"},
		{`{"path":"a","end_line":0}`, "end_line must be >= 1"},
		{`{"path":"a","start_line":3,"end_line":2}`, "end_line must be >= start_line"},
		{`{"path":"a","end_line":1}`, ""},
		{`{"path":"a","start_line":1,"ranges":[]}`, "ranges cannot be combined with start_line or end_line"},
		{`{"path":"a","start_line":0,"ranges":[]}`, "start_line must be >= 1"},
		{`{"path":"a","ranges":[]}`, "ranges must not be empty"},
		{`{"path":"a","ranges":[` + strings.Repeat("1,", 100) + `1]}`, "ranges exceeds the limit of 100 entries"},
		{`{"path":"a","ranges":[` + strings.Repeat(entry+",", 99) + entry + `]}`, ""},
		{`{"path":"a","ranges":[` + entry + `,{"start_line":1}]}`, "ranges[1]: end_line must be an integer"},
		{`{"path":"a","ranges":[{"start_line":2,"end_line":1}]}`, "ranges[0]: end_line must be >= start_line"},
		{`{"path":"a","ranges":[{"start_line":1,"end_line":0}]}`, "ranges[0]: end_line must be >= 1"},
		{`{"path":"a","line_count":1}`, `unknown field "line_count"; allowed: path, start_line, end_line, ranges`},
	} {
		_, err := For[Read]().Decode([]byte(tt.in))
		require.Equal(t, tt.want, message(t, err), "%.200s", tt.in)
	}
}

func TestLsArguments(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                      "",
		`{"path":null}`:           "",
		`{"path":""}`:             "path must not be empty",
		`{"limit":0}`:             "limit must be >= 1",
		`{"limit":2002}`:          "limit must be <= 2001",
		`{"limit":"5"}`:           "limit must be an integer",
		`{"limit":1e30,"path":1}`: "path must be a string",
		`{"limit":1e30}`:          "limit must fit in a signed 64-bit integer",
		`{"all":true}`:            `unknown field "all"; allowed: path, limit`,
	} {
		_, err := For[Ls]().Decode([]byte(in))
		require.Equal(t, want, message(t, err), in)
	}
}

func TestEditArguments(t *testing.T) {
	entry := `{"oldText":"a","newText":""}`
	edits := func(entries string) string { return `{"path":"a","edits":` + entries + `}` }
	for _, tt := range []struct{ in, want string }{
		{edits(`[` + entry + `]`), ""},
		{`{"Path":"a","edits":[]}`, `unknown field "Path"; allowed: path, edits`},
		{`{"path":"a","edits":[],"edits":[]}`, `duplicate field "edits"`},
		{`{"edits":[` + entry + `]}`, "path must be a string"},
		{`{"path":"","edits":7}`, "path must not be empty"},
		{`{"path":"a\u0000","edits":7}`, "path must not contain NUL"},
		{edits(entry), "edits must be an array"},
		{edits(`"[]"`), "edits must be an array"},
		{edits(`null`), "edits must be an array"},
		{edits(`[]`), "edits must not be empty"},
		{edits(`[` + strings.Repeat(`7,`, 100) + `7]`), "edits exceeds the limit of 100 entries"},
		{edits(`[` + entry + `,7]`), "edits[1] must be an object"},
		{edits(`[{"oldtext":"a","newText":""}]`), `edits[0]: unknown field "oldtext"; allowed: oldText, newText`},
		{edits(`[{"oldText":"a","newText":"","oldText":"b"}]`), `edits[0]: duplicate field "oldText"`},
		{edits(`[{"newText":""}]`), "edits[0]: oldText must be a string"},
		{edits(`[{"oldText":"","newText":7}]`), "edits[0]: oldText must not be empty"},
		{edits(`[{"oldText":"a","newText":null}]`), "edits[0]: newText must be a string"},
		{edits(`[{"oldText":"a","newText":"\ud800"}]`), "arguments are not valid Unicode"},
	} {
		_, err := For[Edit]().Decode([]byte(tt.in))
		require.Equal(t, tt.want, message(t, err), "%.200s", tt.in)
	}
}

func TestLineEditArguments(t *testing.T) {
	entry := func(start, end, text, context string) string {
		return `{"path":"a","edits":[{"start_line":` + start + `,"end_line_exclusive":` + end + `,"newText":` + text + `,"context_line":` + context + `}]}`
	}
	for _, tt := range []struct{ in, want string }{
		{entry("1", "1", `"x"`, `""`), ""},
		{entry("2.0", "2e0", `""`, `"b\r\n\n"`), ""},
		{entry("2.5", "1", `7`, `7`), "edits[0]: start_line must be an integer"},
		{entry(`"2"`, "1", `7`, `7`), "edits[0]: start_line must be an integer"},
		{entry("null", "1", `7`, `7`), "edits[0]: start_line must be an integer"},
		{entry("9223372036854775808", "1", `7`, `7`), "edits[0]: start_line must fit in a signed 64-bit integer"},
		{entry("0", "true", `7`, `7`), "edits[0]: start_line must be >= 1"},
		{entry("1", "0", `7`, `7`), "edits[0]: end_line_exclusive must be >= 1"},
		{entry("3", "2", `7`, `7`), "edits[0]: end_line_exclusive must be >= start_line"},
		{entry("3", "3", `7`, `7`), "edits[0]: newText must be a string"},
		{entry("3", "3", `""`, `7`), "edits[0]: context_line must be a string"},
		{entry("3", "3", `""`, `"a\rb"`), "edits[0]: context_line must be a single line"},
		{
			`{"path":"a","edits":[{"start_line":1,"end_line":2,"newText":"","context_line":""}]}`,
			`edits[0]: unknown field "end_line"; read ranges include their last line but edit ranges do not: for read lines A..B use start_line A, end_line_exclusive B+1`,
		},
		{
			`{"path":"a","edits":[{"start_line":1,"end":2,"newText":"","context_line":""}]}`,
			`edits[0]: unknown field "end"; allowed: start_line, end_line_exclusive, newText, context_line`,
		},
	} {
		_, err := For[LineEdit]().Decode([]byte(tt.in))
		require.Equal(t, tt.want, message(t, err), "%.200s", tt.in)
	}
}

func TestParseInteger(t *testing.T) {
	for _, tt := range []struct {
		in             string
		want           int64
		integral, fits bool
	}{
		{"0", 0, true, true},
		{"-0", 0, true, true},
		{"0e999999999999999999999", 0, true, true},
		{"0.000e-5", 0, true, true},
		{"2", 2, true, true},
		{"2.0", 2, true, true},
		{"2e0", 2, true, true},
		{"20e-1", 2, true, true},
		{"0.2E+1", 2, true, true},
		{"-2.50e1", -25, true, true},
		{"100", 100, true, true},
		{"2.5", 0, false, false},
		{"1e-400", 0, false, false},
		{"1e-99999999999999999999", 0, false, false},
		{"1e400", 0, true, false},
		{"1e99999999999999999999", 0, true, false},
		{"9007199254740993.0", 9007199254740993, true, true},
		{"9223372036854775807", 9223372036854775807, true, true},
		{"9223372036854775808", 0, true, false},
		{"-9223372036854775808", -9223372036854775808, true, true},
		{"-9223372036854775809", 0, true, false},
		{"922337203685477580.7e1", 9223372036854775807, true, true},
	} {
		v, integral, fits := parseInteger(tt.in)
		require.Equal(t, tt.integral, integral, tt.in)
		if integral {
			require.Equal(t, tt.fits, fits, tt.in)
		}
		if integral && fits {
			require.Equal(t, tt.want, v, tt.in)
		}
	}
}

func TestSchema(t *testing.T) {
	require.JSONEq(t, `{
		"type": "object",
		"properties": {
			"path": {"type": "string", "description": "Directory to list. Default: the working directory.", "minLength": 1, "pattern": "^[^\\x00]*$"},
			"limit": {"type": "integer", "description": "Most entries to return. Default: 500.", "minimum": 1, "maximum": 2001}
		},
		"additionalProperties": false
	}`, string(For[Ls]().Schema()))
	require.True(t, strings.HasPrefix(string(For[Read]().Schema()), `{"type": "object", "properties": {"path": {`))
}

// A nested type cannot be described by a schema without references.
type nested struct {
	Kids []nested `json:"kids"`
}

func TestForPanicsOnAFaultOfTheProgram(t *testing.T) {
	for name, f := range map[string]func(){
		"holds itself": func() { For[nested]() },
		"not a struct": func() { For[int]() },
		"no tag":       func() { For[struct{ A string }]() },
		"type": faulty[struct {
			A int32 `json:"a"`
		}],
		"option": faulty[struct {
			A string `json:"a,omitempty"`
		}],
		"one name twice": func() {
			field := reflect.StructField{Name: "A", Type: reflect.TypeFor[string](), Tag: `json:"a"`}
			again := field
			again.Name = "B"
			newObject(reflect.StructOf([]reflect.StructField{field, again}))
		},
		"unknown limit": faulty[struct {
			A string `json:"a" limits:"least=1"`
		}],
		"not a number": faulty[struct {
			A string `json:"a" limits:"maxLength=x"`
		}],
		"negative length": faulty[struct {
			A string `json:"a" limits:"maxLength=-3"`
		}],
		"minimum length": faulty[struct {
			A string `json:"a" limits:"minLength=2"`
		}],
		"maximum of a string": faulty[struct {
			A string `json:"a" limits:"maximum=1"`
		}],
		"items of a string": faulty[struct {
			A string `json:"a" limits:"minItems=1"`
		}],
		"length of an integer": faulty[struct {
			A int64 `json:"a" limits:"maxLength=3"`
		}],
		"enum of an integer": faulty[struct {
			A int64 `json:"a" limits:"enum=1|2"`
		}],
		"fraction of an integer": faulty[struct {
			A int64 `json:"a" limits:"minimum=0.5"`
		}],
		"excludes nothing": faulty[struct {
			A string `json:"a" limits:"excludes=b"`
		}],
		"not below nothing": faulty[struct {
			A int64 `json:"a" limits:"notBelow=b"`
		}],
		"not below a later field": faulty[struct {
			A int64 `json:"a" limits:"notBelow=b"`
			B int64 `json:"b"`
		}],
		"not below a string": faulty[struct {
			A string `json:"a"`
			B int64  `json:"b" limits:"notBelow=a"`
		}],
		"not below an optional field": faulty[struct {
			A *int64 `json:"a,omitzero"`
			B int64  `json:"b" limits:"notBelow=a"`
		}],
	} {
		func() {
			defer func() { require.Regexp(t, "^args: ", recover(), name) }()
			f()
		}()
	}
}

func faulty[A any]() { For[A]() }

func TestIntegerLimitsAreExact(t *testing.T) {
	type exact struct {
		N int64 `json:"n" limits:"maximum=9007199254740992"`
	}
	_, err := For[exact]().Decode([]byte(`{"n":9007199254740992}`))
	require.NoError(t, err)
	_, err = For[exact]().Decode([]byte(`{"n":9007199254740993}`))
	require.Equal(t, "n must be <= 9007199254740992", message(t, err))
	require.Contains(t, string(For[exact]().Schema()), `"maximum": 9007199254740992}`)
}

// pointed has a Check on its pointer.
type pointed struct {
	N int64 `json:"n"`
}

func (p *pointed) Check() error {
	if p.N == 13 {
		return errors.New("n must not be 13")
	}
	return nil
}

func TestCheckMayHaveAPointerReceiver(t *testing.T) {
	type outer struct {
		List []pointed `json:"list"`
	}
	_, err := For[pointed]().Decode([]byte(`{"n":13}`))
	require.Equal(t, "n must not be 13", message(t, err))
	_, err = For[outer]().Decode([]byte(`{"list":[{"n":1},{"n":13}]}`))
	require.Equal(t, "list[1]: n must not be 13", message(t, err))
}

func TestFirstFaultEndsTheWork(t *testing.T) {
	text := []byte(`{"path":"p"` + strings.Repeat(`,"a":0`, 1<<20) + `}`)
	decoder := For[everything]()
	require.Less(t, testing.AllocsPerRun(1, func() { _, _ = decoder.Decode(text) }), 100.0)
}

// values are JSON texts that meet and break the rules of fields.
var values = []string{
	`null`, `true`, `0`, `-0`, `1`, `2.0`, `2.5`, `1e2`, `-3`, `2001`, `2002`, `600`, `""`, `"a"`, `"high"`, `"12345678"`, `"123456789"`, `"a\u0000"`,
	`[]`, `["a"]`, `["a","b","c","d"]`, `[1]`, `{}`, `{"oldText":"x","newText":"y"}`, `{"oldText":"","newText":"y"}`, `{"oldText":"x"}`,
	`[{"oldText":"x","newText":"y"}]`, `[{"oldText":"x","newText":"y","z":1}]`, `{"a":1}`,
}

// TestSchemaAgreesWithDecoder generates objects from the names and values
// above and compares the verdicts of the decoder and of an independent
// implementation of JSON schema.
func TestSchemaAgreesWithDecoder(t *testing.T) {
	decoder := For[everything]()
	names := []string{"path", "mode", "command", "count", "timeout", "any", "flag", "names", "edits", "region", "Path", "x"}
	requireAgreement(t, decoder, names, values, func(fields map[string]jsontext.Value) bool {
		return fields["edits"] == nil || fields["count"] == nil && fields["flag"] == nil // excludes is beyond the schema
	})
}

func TestSchemaOfEditorsAgreesWithDecoder(t *testing.T) {
	entries := func(valid map[string]string, others ...string) (list []string) {
		for _, v := range values {
			for _, name := range append(slices.Sorted(maps.Keys(valid)), others...) {
				fields := make(map[string]jsontext.Value)
				for name, v := range valid {
					fields[name] = jsontext.Value(v)
				}
				fields[name] = jsontext.Value(v)
				entry, err := json.Marshal(fields)
				require.NoError(t, err)
				list = append(list, `[`+string(entry)+`]`)
			}
		}
		return append(list, values...)
	}
	texts := entries(map[string]string{"oldText": `"o"`, "newText": `"n"`}, "OldText")
	ranges := entries(map[string]string{
		"start_line": "1", "end_line_exclusive": "9000", "newText": `""`, "context_line": `""`,
	}, "end_line")
	names := []string{"path", "edits", "Edits"}
	once := func(map[string]jsontext.Value) bool { return true }
	requireAgreement(t, For[Edit](), names, texts, once)
	requireAgreement(t, For[LineEdit](), names, ranges, once)
	requireAgreement(t, For[Write](), []string{"path", "content", "append"}, values, once)
}

// requireAgreement decodes random objects and compares with what a validator
// says of the schema. Objects that are not comparable are passed over.
func requireAgreement[T any](
	t *testing.T, decoder *Decoder[T], names, values []string, comparable func(map[string]jsontext.Value) bool,
) {
	t.Helper()
	var schema jsonschema.Schema
	require.NoError(t, json.Unmarshal(decoder.Schema(), &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)

	random := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	for range 20_000 {
		fields := map[string]jsontext.Value{"path": jsontext.Value(`"p"`)}
		for range random.IntN(4) {
			name := names[random.IntN(len(names))]
			value := values[random.IntN(len(values))]
			if value == "null" && name != "path" {
				continue // the decoder takes it for an optional field, on purpose
			}
			fields[name] = jsontext.Value(value)
		}
		if !comparable(fields) {
			continue
		}
		text, err := json.Marshal(fields, jsontext.AllowDuplicateNames(true))
		require.NoError(t, err)
		var instance any
		if json.Unmarshal(text, &instance) != nil {
			continue // a duplicate name is beyond the schema
		}
		_, err = decoder.Decode(text)
		require.Equal(t, resolved.Validate(instance) == nil, err == nil, "%s: %v", text, err)
		if err == nil {
			accepted++
		}
	}
	require.Greater(t, accepted, 100)
}

func FuzzDecode(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(`{"path":"a","edits":` + v + `}`))
		f.Add([]byte(`{"path":` + v + `,"count":` + v + `}`))
	}
	f.Add([]byte(`{"path":"\ud800"} x`))
	f.Add([]byte(`{"p\u0061th":"a","path":1}`))
	decoder := For[everything]()
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decoder.Decode(text)
		if err != nil {
			m := message(t, err)
			require.True(t, utf8.ValidString(m))
			require.NotEmpty(t, m)
			return
		}
		// What passed means the same to a decoder that is strict about names
		// and duplicates, and encodes to an object that passes again.
		require.True(t, jsontext.Value(text).IsValid())
		again, err := json.Marshal(got)
		require.NoError(t, err)
		back, err := decoder.Decode(again)
		require.NoError(t, err, "%s", again)
		require.Equal(t, got, back)
	})
}

func BenchmarkDecodeRead(b *testing.B) {
	decoder := For[Read]()
	text := []byte(`{"path":"internal/illformed/illformed.go","start_line":10,"end_line":200}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decoder.Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
