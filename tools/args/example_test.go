package args_test

import (
	"fmt"

	"github.com/taukit/taukit/tools/args"
)

type greet struct {
	Name  string `json:"name" limits:"minLength=1" description:"whom to greet"`
	Times *int64 `json:"times,omitzero" limits:"minimum=1 maximum=9"`
}

func ExampleFor() {
	fmt.Println(string(args.For[greet]().Schema()))
	// Output: {"type": "object", "properties": {"name": {"type": "string", "description": "whom to greet", "minLength": 1}, "times": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["name"], "additionalProperties": false}
}

func ExampleDecoder_Decode() {
	decoder := args.For[greet]()
	v, err := decoder.Decode([]byte(`{"name": "Ada", "times": 2.0}`))
	fmt.Println(v.Name, *v.Times, err)

	_, err = decoder.Decode([]byte(`{"name": "Ada", "Times": 2}`))
	fmt.Println(err)
	// Output:
	// Ada 2 <nil>
	// unknown field "Times"; allowed: name, times
}
