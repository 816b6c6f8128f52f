package args

import (
	"errors"
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
	hidden      bool // taken, but told to nobody
	description string
	excludes    []string // fields that must be absent when this one is given
	rivals      string   // another field that must be absent when this one is given, said of both alike
	notBelow    string   // an earlier integer field that this one is not less than
	value       value
}

// A value describes what one JSON value must be.
type value struct {
	kind      kind
	noNUL     bool
	notBlank  bool
	reference bool // to an artifact
	integers  limits[int64]
	numbers   limits[float64]
	notEmpty  bool // a string or an array
	maxSize   int  // of a string in bytes, of an array in entries; 0 means any
	enum      []string
	object    *object
	element   *value
}

// limits are the bounds of a number; nil means none.
type limits[T int64 | float64] struct{ minimum, maximum *T }

// A kind is a type of JSON values, named as messages name it.
type kind string

const (
	kindString  kind = "a string"
	kindInteger kind = "an integer"
	kindNumber  kind = "a number"
	kindBoolean kind = "a boolean"
	kindArray   kind = "an array"
	kindObject  kind = "an object"
	kindAny     kind = "anything"
)

// A checker is a struct with rules that go beyond single fields.
type checker interface{ Check() error }

// A hinter is a struct that knows what somebody who gives a field that it does
// not have may have meant. The hint may be empty.
type hinter interface{ Hint(field string) string }

var (
	pathType    = reflect.TypeFor[Path]()
	ignoredType = reflect.TypeFor[Ignored]()
	checkerType = reflect.TypeFor[checker]()
)

// newObject describes the struct type t. It panics if that cannot be done.
func newObject(t reflect.Type, outer ...reflect.Type) *object {
	if t.Kind() != reflect.Struct || slices.Contains(outer, t) {
		panic(fmt.Sprintf("args: %v is not a struct, or holds itself", t))
	}
	o := &object{check: reflect.PointerTo(t).Implements(checkerType)}
	var names []string
	for i := range t.NumField() {
		f := newField(t, i, append(outer, t))
		if slices.Contains(names, f.name) {
			panic(fmt.Sprintf("args: %v has two fields with the name %s", t, f.name))
		}
		o.fields = append(o.fields, f)
		names = append(names, f.name)
	}
	o.names = strings.Join(slices.DeleteFunc(names, func(n string) bool { return o.fields[o.field(n)].hidden }), ", ")
	for i, f := range o.fields {
		if other := o.field(f.notBelow); f.notBelow != "" && (other < 0 || other >= i || !o.isInteger(other) || !o.isInteger(i)) {
			panic(fmt.Sprintf("args: field %s of %v is to be compared with what is no earlier required integer", f.name, t))
		}
		if slices.ContainsFunc(f.excludes, func(name string) bool { return o.field(name) < 0 }) || f.rivals != "" && o.field(f.rivals) < 0 {
			panic(fmt.Sprintf("args: field %s of %v excludes an unknown field", f.name, t))
		}
		if f.hidden && !f.optional {
			panic(fmt.Sprintf("args: field %s of %v is required, but nobody is told", f.name, t))
		}
	}
	return o
}

func newField(t reflect.Type, i int, outer []reflect.Type) field {
	sf := t.Field(i)
	name, option, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if name == "" || !sf.IsExported() || option != "" && option != "omitzero" {
		panic(fmt.Sprintf("args: field %s of %v must be exported and have a json tag with a name and no option but omitzero", sf.Name, t))
	}
	f := field{
		name:        name,
		index:       i,
		optional:    option != "",
		description: sf.Tag.Get("description"),
		value:       newValue(sf.Type, outer),
	}
	for _, limit := range strings.Fields(sf.Tag.Get("limits")) {
		if err := f.setLimit(limit); err != nil {
			panic(fmt.Sprintf("args: limit %s of field %s of %v: %v", limit, f.name, t, err))
		}
	}
	return f
}

func newValue(t reflect.Type, outer []reflect.Type) value {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == ignoredType {
		return value{kind: kindAny}
	}
	switch t.Kind() {
	case reflect.String:
		return value{kind: kindString, noNUL: t == pathType, notEmpty: t == pathType}
	case reflect.Int64:
		return value{kind: kindInteger}
	case reflect.Float64:
		return value{kind: kindNumber}
	case reflect.Bool:
		return value{kind: kindBoolean}
	case reflect.Struct:
		return value{kind: kindObject, object: newObject(t, outer...)}
	case reflect.Slice:
		element := newValue(t.Elem(), outer)
		return value{kind: kindArray, element: &element}
	default:
		panic(fmt.Sprintf("args: the type %v is not supported", t))
	}
}

// setLimit takes one entry of the tag "limits".
func (f *field) setLimit(limit string) (err error) {
	v := &f.value
	key, text, _ := strings.Cut(limit, "=")
	of := v.kind
	switch key {
	case "minimum", "maximum":
		switch of {
		case kindInteger:
			err = v.integers.set(key, text, parseInt)
		case kindNumber:
			err = v.numbers.set(key, text, parseFloat)
		default:
			err = errors.New("it is for numbers")
		}
	case "minLength", "minItems":
		if v.notEmpty = text == "1"; !v.notEmpty || of != sized[key] {
			err = errors.New("it is 1, and minLength for strings, minItems for arrays")
		}
	case "maxLength", "maxItems":
		if v.maxSize, err = strconv.Atoi(text); err == nil && (v.maxSize < 1 || of != sized[key]) {
			err = errors.New("it is at least 1, and maxLength for strings, maxItems for arrays")
		}
	case "enum":
		if v.enum = strings.Split(text, "|"); of != kindString {
			err = errors.New("it is for strings")
		}
	case "notBelow":
		f.notBelow = text
	case "noNUL":
		if v.noNUL = text == ""; !v.noNUL || of != kindString {
			err = errors.New("it is for strings, and has no value")
		}
	case "notBlank":
		if v.notBlank = text == ""; !v.notBlank || of != kindString {
			err = errors.New("it is for strings, and has no value")
		}
	case "reference":
		if v.reference = text == ""; !v.reference || of != kindString {
			err = errors.New("it is for strings, and has no value")
		}
	case "hidden":
		if f.hidden = text == ""; !f.hidden {
			err = errors.New("it has no value")
		}
	case "excludes":
		f.excludes = strings.Split(text, "|")
	case "rivals":
		f.rivals = text
	default:
		err = errors.New("there is none of this name")
	}
	return err
}

// sized tells which kind a limit on a size is for.
var sized = map[string]kind{
	"minLength": kindString, "maxLength": kindString,
	"minItems": kindArray, "maxItems": kindArray,
}

func (l *limits[T]) set(key, text string, parse func(string) (T, error)) error {
	n, err := parse(text)
	if key == "minimum" {
		l.minimum = &n
	} else {
		l.maximum = &n
	}
	return err
}

func parseInt(s string) (int64, error)     { return strconv.ParseInt(s, 10, 64) }
func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// isInteger reports whether the field with that index is a required integer.
func (o *object) isInteger(i int) bool {
	return o.fields[i].value.kind == kindInteger && !o.fields[i].optional
}

// field returns the index of the field with that name, or -1.
func (o *object) field(name string) int {
	return slices.IndexFunc(o.fields, func(f field) bool { return f.name == name })
}
