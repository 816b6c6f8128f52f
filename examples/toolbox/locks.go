package main

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/tools"
)

// dirLock is the option of directory locks: true, false, or an object.
type dirLock struct {
	Enable   bool
	Backend  string
	StateDir string
	ReadOnly tools.ReadOnly
}

// UnmarshalJSON reads the option.
func (d *dirLock) UnmarshalJSON(text []byte) error {
	*d = dirLock{Enable: true, Backend: "memory"}
	value := jsontext.Value(text)
	switch value.Kind() {
	case 't', 'f':
		d.Enable = value.Kind() == 't'
		return nil
	case '{':
	default:
		return usageError{"dir_lock must be a boolean or an object"}
	}
	object := struct {
		Enable   *bool          `json:"enable"`
		Backend  *string        `json:"backend"`
		StateDir *string        `json:"state_dir"`
		ReadOnly jsontext.Value `json:"enforce_ro_bind"`
	}{}
	if err := json.Unmarshal(text, &object, json.RejectUnknownMembers(true)); err != nil {
		return usageError{"dir_lock: " + explain(err)}
	}
	if object.Enable != nil {
		d.Enable = *object.Enable
	}
	if object.Backend != nil {
		d.Backend = *object.Backend
	}
	if object.StateDir != nil {
		d.StateDir = *object.StateDir
	}
	switch string(object.ReadOnly) {
	case "", "true":
	case "false":
		d.ReadOnly = tools.ReadOnlyOff
	case `"require"`:
		d.ReadOnly = tools.ReadOnlyRequire
	default:
		return usageError{`dir_lock.enforce_ro_bind must be true, false or "require"`}
	}
	switch {
	case d.Backend != "memory" && d.Backend != "filesystem":
		return usageError{"dir_lock.backend must be memory or filesystem"}
	case d.StateDir != "" && d.Backend != "filesystem":
		return usageError{"dir_lock.state_dir is for the backend filesystem"}
	}
	return nil
}

// locks returns where locks are kept, nil for no locking, and how commands are
// kept from writing that hold none.
func (d dirLock) locks() (dirlock.Backend, tools.ReadOnly, error) {
	switch {
	case !d.Enable:
		return nil, d.ReadOnly, nil
	case d.Backend == "memory":
		return dirlock.NewMemory(), d.ReadOnly, nil
	}
	file, err := dirlock.NewFile(dirlock.FileOptions{Dir: d.StateDir})
	if err != nil {
		return nil, d.ReadOnly, fmt.Errorf("dir_lock: %w", err)
	}
	return file, d.ReadOnly, nil
}
