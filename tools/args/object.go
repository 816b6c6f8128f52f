package args

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// An object describes the struct that a JSON object is decoded into.
type object struct {
	fields []field
	names  string // of the fields, as a message lists them
	check  bool   // the struct has a method Check
}

// A field is one field of an object.
type field struct {
	name        string
	index       int // of the struct field
	optional    bool
	description string
	excludes    []string // fields that must be absent when this one is given
	value       value
}

// A value describes what one JSON value must be.
type value struct {
	kind               kind
	path               bool // a Path
	minimum, maximum   *float64
	minLength, maxSize int // of a string in bytes, of an array in entries; maxSize 0 means any
	enum               []string
	object             *object
	element            *value
}

// A kind is a type of JSON values, named as messages name it.
type kind string

const (
	kindString  kind = "a string"
	kindInteger kind = "an integer"
	kindNumber  kind = "a number"
	kindBoolean kind = "a boolean"
	kindArray   kind = "an array"
	kindObject  kind = "an object"
)

// A checker is a struct with rules that go beyond single fields.
type checker interface{ Check() error }

var (
	pathType    = reflect.TypeFor[Path]()
	checkerType = reflect.TypeFor[checker]()
)

// newObject describes the struct type t.
func newObject(t reflect.Type) *object {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("args: %v is not a struct", t))
	}
	o := &object{check: t.Implements(checkerType)}
	var names []string
	for i := range t.NumField() {
		f := newField(t, i)
		o.fields = append(o.fields, f)
		names = append(names, f.name)
	}
	o.names = strings.Join(names, ", ")
	for _, f := range o.fields {
		if slices.ContainsFunc(f.excludes, func(name string) bool { return o.field(name) < 0 }) {
			panic(fmt.Sprintf("args: field %s of %v excludes an unknown field", f.name, t))
		}
	}
	return o
}

func newField(t reflect.Type, i int) field {
	sf := t.Field(i)
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if name == "" || !sf.IsExported() {
		panic(fmt.Sprintf("args: field %s of %v needs a json tag and an exported name", sf.Name, t))
	}
	f := field{
		name:        name,
		index:       i,
		optional:    options == "omitzero",
		description: sf.Tag.Get("description"),
		value:       newValue(sf.Type),
	}
	for _, limit := range strings.Fields(sf.Tag.Get("limits")) {
		f.setLimit(t, limit)
	}
	return f
}

func newValue(t reflect.Type) value {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		if t == pathType {
			return value{kind: kindString, path: true, minLength: 1}
		}
		return value{kind: kindString}
	case reflect.Int64:
		return value{kind: kindInteger}
	case reflect.Float64:
		return value{kind: kindNumber}
	case reflect.Bool:
		return value{kind: kindBoolean}
	case reflect.Struct:
		return value{kind: kindObject, object: newObject(t)}
	case reflect.Slice:
		element := newValue(t.Elem())
		return value{kind: kindArray, element: &element}
	default:
		panic(fmt.Sprintf("args: the type %v is not supported", t))
	}
}

// setLimit takes one entry of the tag "limits".
func (f *field) setLimit(t reflect.Type, limit string) {
	key, text, _ := strings.Cut(limit, "=")
	number, err := strconv.ParseFloat(text, 64)
	switch key {
	case "minimum":
		f.value.minimum = &number
	case "maximum":
		f.value.maximum = &number
	case "minLength", "minItems":
		if f.value.minLength = 1; number != 1 {
			err = fmt.Errorf("%s can only be 1", key)
		}
	case "maxLength", "maxItems":
		f.value.maxSize = int(number)
	case "enum":
		f.value.enum, err = strings.Split(text, "|"), nil
	case "excludes":
		f.excludes, err = strings.Split(text, "|"), nil
	default:
		err = fmt.Errorf("unknown limit %s", key)
	}
	if err != nil {
		panic(fmt.Sprintf("args: limits of field %s of %v: %v", f.name, t, err))
	}
}

// field returns the index of the field with that name, or -1.
func (o *object) field(name string) int {
	return slices.IndexFunc(o.fields, func(f field) bool { return f.name == name })
}
