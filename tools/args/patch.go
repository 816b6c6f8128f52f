package args

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Patch is the JSON form of the arguments of the tool apply_patch.
type Patch struct {
	Input string `json:"input" description:"The whole patch, from *** Begin Patch to *** End Patch."`
}

// patchDecoder is never changed.
var patchDecoder = For[Patch]()

// PatchSchema returns the schema of the JSON form. The caller must not change
// it.
func PatchSchema() jsontext.Value { return jsontext.Value(patchDecoder.Schema()) }

// DecodePatch returns the patch that an argument text holds: the whole text as
// it is, or, if its first character that is not blank is "{", the field of the
// JSON form, which is decoded as strictly as all arguments.
func DecodePatch(text []byte) (string, error) {
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return string(text), nil
	}
	a, err := patchDecoder.Decode(text)
	return a.Input, err
}
