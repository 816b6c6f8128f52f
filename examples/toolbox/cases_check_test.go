//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/framing"
)

// A want is what must hold of an answer. Absent members do not matter.
type want struct {
	Text            *string                    `json:"text"`
	Headers         map[string]string          `json:"headers"`
	NoHeaders       []string                   `json:"no_headers"`
	Body            *string                    `json:"body"`
	BodyLines       *int                       `json:"body_lines"`
	TextContains    []string                   `json:"text_contains"`
	TextLacks       []string                   `json:"text_lacks"`
	Error           *wantError                 `json:"error"`
	AnyError        bool                       `json:"any_error"`
	Display         *string                    `json:"display"`
	DisplayContains []string                   `json:"display_contains"`
	Diffs           *[]wantDiff                `json:"diffs"`
	Files           map[string]json.RawMessage `json:"files"`
}

type wantError struct {
	Code            *string        `json:"code"`
	Message         *string        `json:"message"`
	MessageContains []string       `json:"message_contains"`
	Output          *string        `json:"output"`
	OutputContains  []string       `json:"output_contains"`
	Fields          map[string]any `json:"fields"`
}

type wantDiff struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// check checks an answer and saves what later calls use of it.
func (r *caseRun) check(t *testing.T, number int, s step, got reply) {
	t.Helper()
	if r.unordered {
		sorted := inOrder(*s.Want.Text)
		s.Want.Text, got.Text = &sorted, inOrder(got.Text)
	}
	parsed := framing.Parse(got.Text)
	s.Want.checkText(t, number, got.Text, parsed)
	s.Want.checkError(t, number, got)
	s.Want.checkDisplay(t, number, got)
	for name, raw := range s.Want.Files {
		r.checkFile(t, name, raw)
	}
	for name, source := range s.Save {
		r.vars[name] = parsed.Body
		if key, ok := strings.CutPrefix(source, "header:"); ok {
			r.vars[name], _ = parsed.Get(key)
		}
	}
}

// inOrder returns a text with its lines sorted.
func inOrder(text string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(text, "\n")), "\n")
}

func (w want) checkText(t *testing.T, number int, text string, parsed framing.Result) {
	t.Helper()
	if w.Text != nil {
		require.Equal(t, *w.Text, text, "call %d", number)
	}
	for key, value := range w.Headers {
		got, _ := parsed.Get(key)
		require.Equal(t, value, got, "call %d: header %s", number, key)
	}
	for _, key := range w.NoHeaders {
		_, ok := parsed.Get(key)
		require.False(t, ok, "call %d: header %s", number, key)
	}
	if w.Body != nil {
		require.Equal(t, *w.Body, parsed.Body, "call %d", number)
	}
	if w.BodyLines != nil {
		lines := 0
		if parsed.Body != "" {
			lines = 1 + strings.Count(strings.TrimRight(parsed.Body, "\n"), "\n")
		}
		require.Equal(t, *w.BodyLines, lines, "call %d", number)
	}
	for _, part := range w.TextContains {
		require.Contains(t, text, part, "call %d", number)
	}
	for _, part := range w.TextLacks {
		require.NotContains(t, text, part, "call %d", number)
	}
}

func (w want) checkError(t *testing.T, number int, got reply) {
	t.Helper()
	if w.Error == nil {
		require.True(t, got.Error == nil || w.AnyError, "call %d: unexpected error %+v", number, got.Error)
		return
	}
	require.NotNil(t, got.Error, "call %d: %.300s", number, got.Text)
	e := got.Error
	require.NotContains(t, e.Message, "\n", "call %d", number)
	if w.Error.Code != nil {
		require.Equal(t, *w.Error.Code, e.Code, "call %d", number)
	}
	if w.Error.Message != nil {
		require.Equal(t, *w.Error.Message, e.Message, "call %d", number)
	}
	for _, part := range w.Error.MessageContains {
		require.Contains(t, e.Message, part, "call %d", number)
	}
	if w.Error.Output != nil {
		require.Equal(t, *w.Error.Output, e.Details["output"], "call %d", number)
	}
	for _, part := range w.Error.OutputContains {
		require.Contains(t, e.Details["output"], part, "call %d", number)
	}
	for key, value := range w.Error.Fields {
		text, ok := value.(string)
		if !ok {
			encoded, err := json.Marshal(value)
			require.NoError(t, err)
			text = string(encoded)
		}
		require.Equal(t, text, e.Details[key], "call %d: field %s", number, key)
	}
}

func (w want) checkDisplay(t *testing.T, number int, got reply) {
	t.Helper()
	if w.Display != nil {
		require.Equal(t, *w.Display, got.Display.Header, "call %d", number)
	}
	for _, part := range w.DisplayContains {
		require.Contains(t, got.Display.Header, part, "call %d", number)
	}
	if w.Diffs != nil {
		diffs := []wantDiff{}
		for _, d := range got.Diffs {
			diffs = append(diffs, wantDiff{d.Path, d.Added, d.Removed})
		}
		require.Equal(t, *w.Diffs, diffs, "call %d", number)
	}
}

// A fileSpec says what a file is, or what it must be.
type fileSpec struct {
	Text     *string `json:"text"`
	Base64   *string `json:"b64"`
	Repeat   *string `json:"repeat"`
	Count    int     `json:"count"`
	Dir      bool    `json:"dir"`
	Symlink  *string `json:"symlink"`
	Hardlink *string `json:"hardlink"`
	FIFO     bool    `json:"fifo"`
	Mode     string  `json:"mode"`
}

// specOf reads a file's description: its text, an object, or null for none.
func specOf(t *testing.T, raw json.RawMessage) *fileSpec {
	t.Helper()
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		return &fileSpec{Text: &text}
	}
	var spec *fileSpec
	require.NoError(t, json.Unmarshal(raw, &spec))
	return spec
}

// content returns the bytes of a regular file, nil if only its mode is given.
func (f *fileSpec) content(t *testing.T) []byte {
	t.Helper()
	switch {
	case f.Text != nil:
		return []byte(*f.Text)
	case f.Base64 != nil:
		data, err := base64.StdEncoding.DecodeString(*f.Base64)
		require.NoError(t, err)
		return data
	case f.Repeat != nil:
		var out strings.Builder
		for i := range f.Count {
			out.WriteString(strings.ReplaceAll(*f.Repeat, "{n}", strconv.Itoa(i+1)))
		}
		return []byte(out.String())
	default:
		return nil
	}
}

func (f *fileSpec) mode(t *testing.T) os.FileMode {
	t.Helper()
	mode, err := strconv.ParseUint(f.Mode, 8, 32)
	require.NoError(t, err)
	return os.FileMode(mode)
}

var rawByte = regexp.MustCompile(`\\x[0-9a-fA-F]{2}`)

// path returns where a named file is; "\xHH" in a name is a raw byte.
func (r *caseRun) path(name string) string {
	return filepath.Join(r.root, rawByte.ReplaceAllStringFunc(name, func(s string) string {
		b, _ := strconv.ParseUint(s[2:], 16, 8)
		return string([]byte{byte(b)})
	}))
}

// lay makes files, links after what they may lead to, and modes last.
func (r *caseRun) lay(t *testing.T, files map[string]json.RawMessage) {
	t.Helper()
	var later []func() error
	for name, raw := range files {
		path, spec := r.path(name), specOf(t, r.substitute(raw))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case spec.Dir:
			require.NoError(t, os.MkdirAll(path, 0o755))
		case spec.Symlink != nil:
			later = append(later, func() error { return os.Symlink(*spec.Symlink, path) })
		case spec.Hardlink != nil:
			later = append(later, func() error { return os.Link(r.path(*spec.Hardlink), path) })
		case spec.FIFO:
			require.NoError(t, unix.Mkfifo(path, 0o600))
		default:
			require.NoError(t, os.WriteFile(path, spec.content(t), 0o644))
		}
		if spec.Mode != "" {
			t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
			later = append(later, func() error { return os.Chmod(path, spec.mode(t)) })
		}
	}
	for _, f := range later {
		require.NoError(t, f())
	}
}

func (r *caseRun) checkFile(t *testing.T, name string, raw json.RawMessage) {
	t.Helper()
	path, spec := r.path(name), specOf(t, raw)
	switch {
	case spec == nil:
		_, err := os.Lstat(path)
		require.ErrorIs(t, err, os.ErrNotExist, name)
		return
	case spec.Symlink != nil:
		to, err := os.Readlink(path)
		require.NoError(t, err)
		require.Equal(t, *spec.Symlink, to, name)
		return
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, spec.Dir, info.IsDir(), name)
	if spec.Mode != "" {
		require.Equal(t, spec.mode(t), info.Mode().Perm(), name)
	}
	if content := spec.content(t); content != nil {
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(content), string(got), name)
	}
}
