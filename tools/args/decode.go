package args

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/lineio"
)

// maxQuotedName is the most that a message shows of a field name, in bytes
// before escaping.
const maxQuotedName = 64

// decode decodes the JSON object text into the struct v. Prefix stands before
// the messages: it is empty for the outer object, else like "edits[0]: ".
func (o *object) decode(text []byte, prefix string, v reflect.Value) error {
	given, err := o.sort(text, prefix, v)
	if err != nil {
		return err
	}
	for i, f := range o.fields {
		raw := given[i]
		name := prefix + f.name
		if raw == nil && f.optional {
			continue
		}
		if raw == nil {
			return invalid(name + " must be " + string(f.value.kind))
		}
		if slices.ContainsFunc(f.excludes, func(other string) bool { return given[o.field(other)] != nil }) {
			return invalid(name + " cannot be combined with " + list(f.excludes))
		}
		if other := o.field(f.rivals); other >= 0 && given[other] != nil {
			return invalid(prefix + f.rivals + " and " + f.name + " cannot be combined")
		}
		if err := f.value.decode(raw, name, v.Field(f.index)); err != nil {
			return err
		}
		if other := o.field(f.notBelow); other >= 0 && v.Field(f.index).Int() < v.Field(o.fields[other].index).Int() {
			return invalid(name + " must be >= " + f.notBelow)
		}
	}
	if o.check {
		if err := v.Addr().Interface().(checker).Check(); err != nil {
			return invalid(prefix + err.Error())
		}
	}
	return nil
}

// sort returns the values of the object text in the order of the fields, nil
// for those that are absent or null. What it says of an unknown field may be
// up to the struct v.
func (o *object) sort(text []byte, prefix string, v reflect.Value) ([][]byte, error) {
	values := make([][]byte, len(o.fields))
	seen := make([]bool, len(o.fields))
	for name, value := range members(text) {
		i := o.field(name)
		switch {
		case i < 0:
			return nil, invalid(fmt.Sprintf("%sunknown field %s; %s", prefix, quoteName(name), o.advice(name, v)))
		case seen[i]:
			return nil, invalid(prefix + "duplicate field " + quoteName(name))
		}
		seen[i] = true
		if kindOf(value) != 'n' {
			values[i] = value
		}
	}
	return values, nil
}

// advice returns what to do about an unknown field.
func (o *object) advice(name string, v reflect.Value) string {
	if h, ok := v.Addr().Interface().(hinter); ok {
		if hint := h.Hint(name); hint != "" {
			return hint
		}
	}
	return "allowed: " + o.names
}

func quoteName(name string) string {
	return escape.Quote(string(lineio.RunePrefix([]byte(name), maxQuotedName)))
}

// decode decodes one JSON value, which messages call by the given name.
func (s *value) decode(raw []byte, name string, v reflect.Value) error {
	if !s.kind.matches(raw) {
		return invalid(name + " must be " + string(s.kind))
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch s.kind {
	case kindString:
		return s.decodeString(raw, name, v)
	case kindInteger:
		return s.decodeInteger(raw, name, v)
	case kindNumber:
		return s.decodeNumber(raw, name, v)
	case kindBoolean:
		v.SetBool(kindOf(raw) == 't')
		return nil
	case kindArray:
		return s.decodeArray(raw, name, v)
	case kindAny:
		return nil
	default:
		return s.object.decode(raw, name+": ", v)
	}
}

// matches reports whether the JSON value is of that type.
func (k kind) matches(raw []byte) bool {
	if k == kindAny {
		return true
	}
	switch kindOf(raw) {
	case '"':
		return k == kindString
	case '0':
		return k == kindInteger || k == kindNumber
	case 't', 'f':
		return k == kindBoolean
	case '[':
		return k == kindArray
	case '{':
		return k == kindObject
	default:
		return false
	}
}

func (s *value) decodeString(raw []byte, name string, v reflect.Value) error {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return invalid("arguments are not valid Unicode")
	}
	switch {
	case s.notEmpty && len(text) == 0, s.notBlank && len(bytes.TrimSpace(text)) == 0:
		return invalid(name + " must not be empty")
	case s.noNUL && slices.Contains(text, 0):
		return invalid(name + " must not contain NUL")
	case s.maxSize > 0 && len(text) > s.maxSize:
		return invalid(fmt.Sprintf("%s exceeds %d bytes", name, s.maxSize))
	case s.reference && !isReference(string(text)):
		return invalid(name + " is not an artifact reference")
	case len(s.enum) > 0 && !slices.Contains(s.enum, string(text)):
		return invalid(name + " must be " + list(s.enum))
	}
	v.SetString(string(text))
	return nil
}

func isReference(text string) bool {
	_, err := artifact.ParseReference(text)
	return err == nil
}

func (s *value) decodeInteger(raw []byte, name string, v reflect.Value) error {
	n, integral, fits := parseInteger(string(raw))
	switch {
	case !integral:
		return invalid(name + " must be an integer")
	case !fits:
		return invalid(name + " must fit in a signed 64-bit integer")
	}
	v.SetInt(n)
	return checkRange(n, s.integers, name)
}

func (s *value) decodeNumber(raw []byte, name string, v reflect.Value) error {
	n, overflow := strconv.ParseFloat(string(raw), 64) // infinite then
	if mantissa, _, _ := strings.Cut(strings.ToLower(string(raw)), "e"); n == 0 && strings.ContainsAny(mantissa, "123456789") {
		n = math.Copysign(math.SmallestNonzeroFloat64, n) // it is not zero, and may be below it
	}
	if err := checkRange(n, s.numbers, name); err != nil {
		return err
	}
	if overflow != nil {
		return invalid(name + " must fit in a 64-bit float")
	}
	v.SetFloat(n)
	return nil
}

func checkRange[T int64 | float64](n T, r limits[T], name string) error {
	switch {
	case r.minimum != nil && n < *r.minimum:
		return invalid(name + " must be >= " + formatNumber(*r.minimum))
	case r.maximum != nil && n > *r.maximum:
		return invalid(name + " must be <= " + formatNumber(*r.maximum))
	}
	return nil
}

// formatNumber writes a limit without an exponent.
func formatNumber[T int64 | float64](n T) string {
	if i := int64(n); T(i) == n {
		return strconv.FormatInt(i, 10)
	}
	return strconv.FormatFloat(float64(n), 'f', -1, 64)
}

func (s *value) decodeArray(raw []byte, name string, v reflect.Value) error {
	limit := math.MaxInt
	if s.maxSize > 0 {
		limit = s.maxSize + 1
	}
	entries := elements(raw, limit)
	switch {
	case s.notEmpty && len(entries) == 0:
		return invalid(name + " must not be empty")
	case len(entries) == limit:
		return invalid(fmt.Sprintf("%s exceeds the limit of %d entries", name, s.maxSize))
	}
	v.Set(reflect.MakeSlice(v.Type(), len(entries), len(entries)))
	for i, entry := range entries {
		if err := s.element.decode(entry, name+"["+strconv.Itoa(i)+"]", v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// list joins names as in "a, b or c".
func list(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
