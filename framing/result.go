package framing

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of the rendered form.
const (
	MaxHeaders      = 64   // headers of one text; more are dropped
	MaxKeyBytes     = 64   // bytes of a header key
	MaxValueBytes   = 4096 // bytes of a rendered header value, with the ellipsis of a cut one
	MaxMessageBytes = 2048 // bytes of a rendered error message, with the ellipsis of a cut one
)

// Placeholder stands for an empty value.
const Placeholder = "-"

// A Header is one fact about a call.
//
// Key is made of lower-case ASCII letters, digits, "_" and "-", starts with a
// letter and has at most [MaxKeyBytes] bytes. Value is one line.
type Header struct{ Key, Value string }

// A Result is a completed call: headers in their order, then an optional body.
// The zero Result renders to the empty string, which no tool should return.
type Result struct {
	Headers []Header
	// Body is lines joined by LF, normally without a final one. Without
	// headers it is all of the text, so that its first line could be taken for
	// a header: payload has a prefix on each line, or a header before it.
	Body string
}

// Add appends a header. An empty value becomes [Placeholder].
func (r *Result) Add(key, value string) {
	if value == "" {
		value = Placeholder
	}
	r.Headers = append(r.Headers, Header{key, value})
}

// AddInt appends a header with a decimal number.
func (r *Result) AddInt(key string, n int64) {
	r.Add(key, strconv.FormatInt(n, 10))
}

// AddTrue appends a header with the value "true" if ok. Markers such as
// "truncated" are left out when they do not hold.
func (r *Result) AddTrue(key string, ok bool) {
	if ok {
		r.Add(key, "true")
	}
}

// Get returns the value of the first header with that key.
func (r Result) Get(key string) (value string, ok bool) {
	i := slices.IndexFunc(r.Headers, func(h Header) bool { return h.Key == key })
	if i < 0 {
		return "", false
	}
	return r.Headers[i].Value, true
}

// Render returns the text of r: the header lines, an empty line, the body. The
// empty line is there only between headers and a body. No LF is added at the
// end.
//
// Keys, values and the body pass through a last-resort check, whatever they
// hold: keys are made valid, values are [SafeHeader] and cut at
// [MaxValueBytes] except for paths and artifact references, the body is
// [SafeBody]. Headers past [MaxHeaders] are dropped.
func (r Result) Render() string {
	var out strings.Builder
	size := len(r.Body) + 2
	for _, h := range r.Headers {
		size += len(h.Key) + len(h.Value) + len(": \n")
	}
	out.Grow(size)
	for i, h := range r.Headers[:min(len(r.Headers), MaxHeaders)] {
		if i > 0 {
			out.WriteByte('\n')
		}
		key := safeKey(h.Key)
		out.WriteString(key)
		out.WriteString(": ")
		out.WriteString(safeValue(key, h.Value))
	}
	if out.Len() > 0 && r.Body != "" {
		out.WriteString("\n\n")
	}
	out.WriteString(SafeBody(r.Body))
	return out.String()
}

// Validate reports what [Result.Render] would change in the headers of r (too
// many, a bad key, a value that is empty, too long, of several lines or with
// other control characters), and duplicate keys, which it keeps. It is nil for
// a well-formed result. Tests of every tool call it.
func Validate(r Result) error {
	var faults []error
	if n := len(r.Headers); n > MaxHeaders {
		faults = append(faults, fmt.Errorf("framing: %d headers, more than %d", n, MaxHeaders))
	}
	seen := make(map[string]bool, len(r.Headers))
	for _, h := range r.Headers {
		switch {
		case !isKey(h.Key):
			faults = append(faults, fmt.Errorf("framing: bad header key %q", h.Key))
		case seen[h.Key]:
			faults = append(faults, fmt.Errorf("framing: duplicate header %q", h.Key))
		case safeValue(h.Key, h.Value) != h.Value:
			faults = append(faults, fmt.Errorf("framing: header %q has the bad value %.80q", h.Key, h.Value))
		}
		seen[h.Key] = true
	}
	return errors.Join(faults...)
}

// Parse reads a rendered text back, for tests and user interfaces. The headers
// are the longest run of first lines of the form "key: value" that an empty
// line or the end of the text ends; if there is no such run, all of the text
// is body. Parse of a rendered, valid result with at least one header gives
// that result, if [SafeBody] left its body alone.
//
// It is not a security boundary: a body without headers may look like headers.
func Parse(text string) Result {
	var r Result
	rest := text
	for rest != "" {
		line, after, more := strings.Cut(rest, "\n")
		if more && line == "" && len(r.Headers) > 0 {
			r.Body = after
			return r
		}
		key, value, ok := strings.Cut(line, ": ")
		if !ok || !isKey(key) {
			return Result{Body: text}
		}
		r.Headers = append(r.Headers, Header{key, value})
		rest = after
	}
	return r
}
