package args

import (
	"bytes"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// checkText checks that text is one JSON value in well-formed Unicode, within
// the limits of size and depth. Duplicate names pass: they are found later, in
// their place among the other faults of fields.
func checkText(text []byte) error {
	surrogate, depth := scan(text)
	switch {
	case surrogate || !utf8.Valid(text):
		return invalid("arguments are not valid Unicode")
	case len(text) > MaxBytes || depth > MaxDepth,
		!jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)):
		return invalid("arguments are not valid JSON")
	}
	return nil
}

// scan reports whether a string of the JSON text holds an escape for half of a
// surrogate pair, and how deep arrays and objects nest. It also works on text
// that is not valid JSON, where its answer is as good as the text.
func scan(text []byte) (surrogate bool, depth int) {
	level, inString := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			n, lone := escapeLen(text[i:])
			surrogate = surrogate || lone
			i += n - 1
		case inString:
		case c == '{' || c == '[':
			level++
			depth = max(depth, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return surrogate, depth
}

// escapeLen returns the length of the escape at the start of s, a surrogate
// pair counting as one, and whether it is half a pair.
func escapeLen(s []byte) (n int, lone bool) {
	first, ok := unicodeEscape(s)
	switch {
	case !ok:
		return 2, false
	case first < 0xD800 || first > 0xDFFF:
		return 6, false
	case first < 0xDC00:
		if second, ok := unicodeEscape(s[6:]); ok && 0xDC00 <= second && second <= 0xDFFF {
			return 12, false
		}
	}
	return 6, true
}

// unicodeEscape returns the value of the escape \uHHHH at the start of s.
func unicodeEscape(s []byte) (v rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(n), err == nil
}

// kindOf returns the first character of a JSON value.
func kindOf(value []byte) jsontext.Kind { return jsontext.Value(value).Kind() }

// members returns the names and values of a valid JSON object in text order.
// The values are parts of text.
func members(text []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		d := newDecoder(text)
		for d.PeekKind() == '"' {
			token, _ := d.ReadToken()
			name := token.String() // the token does not outlive the next read
			if !yield(name, nextValue(d, text)) {
				return
			}
		}
	}
}

// elements returns the elements of a valid JSON array, at most limit of them.
// They are parts of text.
func elements(text []byte, limit int) [][]byte {
	list := [][]byte{}
	d := newDecoder(text)
	for len(list) < limit && d.PeekKind() != ']' {
		list = append(list, nextValue(d, text))
	}
	return list
}

// newDecoder returns a decoder that stands inside the valid object or array
// text. Reading on from there cannot fail.
func newDecoder(text []byte) *jsontext.Decoder {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	_, _ = d.ReadToken()
	return d
}

// nextValue returns the next value as a part of text.
func nextValue(d *jsontext.Decoder, text []byte) []byte {
	v, _ := d.ReadValue()
	end := int(d.InputOffset())
	return text[end-len(v) : end]
}
