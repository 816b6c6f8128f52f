package main

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/tools"
)

// A definition is what list -json prints of a tool, with the member names of
// the Model Context Protocol.
type definition struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Annotations annotations    `json:"annotations"`
}

type annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
}

// list prints the tools, one line each or as definitions.
func list(c console, dir string, opts options, asJSON bool) error {
	session, own, err := open(c, dir, opts, func(*tools.Config) {})
	if err != nil {
		return err
	}
	defer own.close()
	defer session.Close() //nolint:errcheck // it has made nothing
	if !asJSON {
		for _, d := range session.Definitions() {
			if err := printLine(c.out, fmt.Sprintf("%-14s %s", d.Name, firstSentence(d.Description))); err != nil {
				return err
			}
		}
		return nil
	}
	definitions := []definition{}
	for _, d := range session.Definitions() {
		definitions = append(definitions, describe(d))
	}
	text, err := json.Marshal(definitions, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s\n", text)
	return err
}

func describe(d tools.Definition) definition {
	return definition{
		Name:        d.Name,
		Description: d.Description,
		InputSchema: jsontext.Value(d.Schema),
		Annotations: annotations{d.ReadOnly, d.Destructive, d.Idempotent},
	}
}
