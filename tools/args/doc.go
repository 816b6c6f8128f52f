// Package args decodes the arguments of a tool call, strictly, and describes
// them to a model. One Go struct gives both the decoder and the JSON schema:
//
//	type Greet struct {
//		Name  string `json:"name" limits:"minLength=1" description:"whom to greet"`
//		Times *int64 `json:"times,omitzero" limits:"minimum=1 maximum=9"`
//	}
//
//	decoder := args.For[Greet]()
//	schema := decoder.Schema()         // for the tool's definition
//	greet, err := decoder.Decode(text) // for each call
//
// Nothing is guessed or repaired. Names match exactly; unknown and duplicate
// fields, wrong types, ill-formed Unicode and numbers out of range are errors
// with one clear line each; null counts as absent in an optional field. A
// required field that is absent or null has the wrong type: "path must be a
// string". An integer is any number whose value is
// integral, judged on its decimal digits.
//
// # Fields
//
// A field is optional if its json tag has the option omitzero. Its type is one
// of [Path], string, int64, float64, bool, [Ignored], a struct of such fields, a
// slice of any of these, or a pointer to one of the scalar types, which is nil when the
// field is absent. A slice is nil when absent and not nil when given.
//
// The tag "limits" holds, separated by spaces, minimum and maximum of a number;
// minLength=1, maxLength (in bytes), notBlank, noNUL and reference (to
// an artifact) of a string; minItems=1
// and maxItems of an array; enum, the values of a string, separated by "|";
// notBelow, the name of an earlier integer that this one is not less than, both
// being required; excludes, names of fields, separated by "|", that must be absent
// when this one is given; rivals, the name of one field for the same purpose, in
// other words; and hidden, for an optional field that is taken from those who
// give it by habit and is in no schema and no message. The tag "description" is text for the model. A struct with a method
// Check() error is asked after its fields have passed; the error's text becomes
// the message. One with a method Hint(field string) string is asked about an
// unknown field; what it returns, if anything, takes the place of the list of
// allowed fields in the message.
//
// The package is not for JSON in general. The building blocks of the library
// take Go values and never see JSON.
package args
