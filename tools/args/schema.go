package args

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// schemaOf returns the JSON schema of an object, with the fields in order.
func schemaOf(o *object) json.RawMessage {
	var out bytes.Buffer
	w := writer{jsontext.NewEncoder(&out, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))}
	w.object(o, "")
	return bytes.TrimSpace(out.Bytes())
}

// A writer writes a schema. Only a fault of this package can make it fail.
type writer struct{ e *jsontext.Encoder }

func (w writer) token(t jsontext.Token) {
	if err := w.e.WriteToken(t); err != nil {
		panic("args: schema: " + err.Error())
	}
}

func (w writer) text(key, value string) {
	w.token(jsontext.String(key))
	w.token(jsontext.String(value))
}

func (w writer) integer(key string, value int64) {
	w.token(jsontext.String(key))
	w.token(jsontext.Int(value))
}

func (w writer) number(key string, value float64) {
	w.token(jsontext.String(key))
	w.token(jsontext.Float(value))
}

func (w writer) strings(key string, values []string) {
	w.token(jsontext.String(key))
	w.token(jsontext.BeginArray)
	for _, v := range values {
		w.token(jsontext.String(v))
	}
	w.token(jsontext.EndArray)
}

func (w writer) object(o *object, description string) {
	w.token(jsontext.BeginObject)
	w.text("type", "object")
	if description != "" {
		w.text("description", description)
	}
	w.token(jsontext.String("properties"))
	w.token(jsontext.BeginObject)
	var required []string
	for _, f := range o.fields {
		if f.hidden {
			continue
		}
		w.token(jsontext.String(f.name))
		w.value(&f.value, f.description)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	w.token(jsontext.EndObject)
	if len(required) > 0 {
		w.strings("required", required)
	}
	w.token(jsontext.String("additionalProperties"))
	w.token(jsontext.False)
	w.token(jsontext.EndObject)
}

func (w writer) value(s *value, description string) {
	if s.kind == kindObject {
		w.object(s.object, description)
		return
	}
	_, name, _ := strings.Cut(string(s.kind), " ")
	w.token(jsontext.BeginObject)
	w.text("type", name)
	if description != "" {
		w.text("description", description)
	}
	low, high := "minLength", "maxLength"
	if s.kind == kindArray {
		low, high = "minItems", "maxItems"
		w.token(jsontext.String("items"))
		w.value(s.element, "")
	}
	if s.notEmpty {
		w.integer(low, 1)
	}
	if s.maxSize > 0 {
		w.integer(high, int64(s.maxSize))
	}
	switch {
	case s.reference:
		w.text("pattern", `^(?:sha256:[0-9a-f]{64}|<tau-artifact:sha256:[0-9a-f]{64}>)$`)
	case s.noNUL && s.notBlank:
		w.text("pattern", `^[^\x00]*[^\s\x00][^\x00]*$`)
	case s.noNUL:
		w.text("pattern", `^[^\x00]*$`)
	case s.notBlank:
		w.text("pattern", `\S`)
	}
	if s.integers.minimum != nil {
		w.integer("minimum", *s.integers.minimum)
	}
	if s.integers.maximum != nil {
		w.integer("maximum", *s.integers.maximum)
	}
	if s.numbers.minimum != nil {
		w.number("minimum", *s.numbers.minimum)
	}
	if s.numbers.maximum != nil {
		w.number("maximum", *s.numbers.maximum)
	}
	if len(s.enum) > 0 {
		w.strings("enum", s.enum)
	}
	w.token(jsontext.EndObject)
}
