package args

import (
	"encoding/json"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/framing"
)

// Limits of an argument text.
const (
	MaxBytes = 16 << 20 // bytes of the whole text
	MaxDepth = 32       // levels of nesting; the outer object is level 1
)

// A Path is an argument that names a file or directory: a string that is not
// empty and holds no NUL.
type Path string

// Ignored is an argument whose value does not matter.
type Ignored struct{}

// A Decoder decodes the arguments of one tool into values of type T. It is
// safe for concurrent use.
type Decoder[T any] struct {
	object *object
	schema json.RawMessage
}

// For returns the Decoder for the struct T. It panics if T is not a struct as
// the package comment describes, which is a fault of the program.
func For[T any]() *Decoder[T] {
	o := newObject(reflect.TypeFor[T]())
	return &Decoder[T]{o, schemaOf(o)}
}

// Schema returns the JSON schema of the arguments (draft 2020-12), in the
// order of the fields of T. The caller must not change it.
//
// The decoder accepts what the schema accepts, with five exceptions that the
// schema's vocabulary lacks: it also takes null for an optional field, and hidden
// fields; it counts the bytes of a string, not its characters; it keeps integers
// to 64 bits; and it asks for what notBelow, excludes, rivals and Check say.
func (d *Decoder[T]) Schema() json.RawMessage { return d.schema }

// Decode decodes the argument text of a call. An error is a [framing.Error]
// with the code [framing.CodeInvalidArguments]; of several faults it names the
// first one in this order: Unicode, JSON syntax, not an object, unknown and
// duplicate fields as they come in the text, then each field in the order of T
// with its type before its value and an array before its entries.
func (d *Decoder[T]) Decode(text []byte) (T, error) {
	var v T
	if err := d.decode(text, &v); err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}

func (d *Decoder[T]) decode(text []byte, v *T) error {
	if err := checkText(text); err != nil {
		return err
	}
	if kindOf(text) != '{' {
		return invalid("arguments must be an object")
	}
	return d.object.decode(text, "", reflect.ValueOf(v).Elem())
}

// invalid returns the error of a call whose arguments are wrong.
func invalid(message string) error {
	return &framing.Error{Code: framing.CodeInvalidArguments, Message: message}
}

// PathOf returns the field path of an argument text whose other fields may be
// wrong, for a user interface; "" if there is none that can be told.
func PathOf(text []byte) string {
	if checkText(text) != nil || kindOf(text) != '{' {
		return ""
	}
	for name, value := range members(text) {
		if name == "path" && kindOf(value) == '"' {
			path, err := jsontext.AppendUnquote(nil, value)
			if err == nil {
				return string(path)
			}
		}
	}
	return ""
}
