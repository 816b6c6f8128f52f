package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/escape"
)

// A request is one line of standard input: a call, or a control message.
type request struct {
	ID      jsontext.Value
	Agent   string
	Tool    string
	Args    jsontext.Value // as the client sent it
	RawArgs *string        // in its place: any text
	Control string
	Target  jsontext.Value
}

var errNoRequest = errors.New("a request is one JSON object with id, agent, tool and args")

// parseRequest reads one line. It is strict but for the arguments, which are
// the tool's to judge. With an error the id is set if it came before the fault.
func parseRequest(line []byte) (request, error) {
	var r request
	members := map[string]any{
		"id": &r.ID, "agent": &r.Agent, "tool": &r.Tool, "args": &r.Args,
		"raw_args": &r.RawArgs, "control": &r.Control, "target": &r.Target,
	}
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return r, errNoRequest
	}
	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		token, _ := d.ReadToken()
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return r, errNoRequest
		}
		switch member := members[name].(type) {
		case nil:
			return r, fmt.Errorf("unknown or duplicate member %s", escape.Quote(name))
		case *jsontext.Value:
			*member = value.Clone()
		default:
			if json.Unmarshal(value, member) != nil {
				return r, fmt.Errorf("%s must be a string", name)
			}
		}
		delete(members, name)
	}
	if _, err := d.ReadToken(); err != nil {
		return r, errNoRequest
	}
	if _, err := d.ReadToken(); err != io.EOF { //nolint:errorlint // only EOF itself is the end
		return r, errNoRequest
	}
	return r, r.check()
}

// check refuses a request that is neither a call nor a control message, or
// both.
func (r request) check() error {
	isCall := r.Tool != ""
	switch {
	case r.Control != "" && (isCall || r.Args != nil || r.RawArgs != nil):
		return errors.New("a control message takes id, control and target")
	case r.Control != "" && r.Control != "cancel":
		return errors.New("unknown control")
	case r.Control != "" && r.Target == nil:
		return errors.New("what is to be cancelled?")
	case r.Control != "":
		return nil
	case !isCall:
		return errors.New("a request names a tool")
	case r.Target != nil:
		return errors.New("a call takes no target")
	case r.Args != nil && r.RawArgs != nil:
		return errors.New("args and raw_args exclude each other")
	}
	return nil
}

// arguments returns the text that reaches the tool; none are an empty object.
func (r request) arguments() []byte {
	switch {
	case r.RawArgs != nil:
		return []byte(*r.RawArgs)
	case r.Args == nil:
		return []byte("{}")
	default:
		return r.Args
	}
}
