package main

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/guard"
)

// options are the session options. A member that is not here, or of another
// type, is an error.
type options struct {
	Expose      string            `json:"expose"`
	EditStyle   *string           `json:"edit_style"`
	ModelTags   []string          `json:"model_tags"`
	ToolPolicy  jsontext.Value    `json:"tool_policy"`
	Tools       []string          `json:"tools"`
	Images      *bool             `json:"images"`
	Store       string            `json:"store"`
	Agent       string            `json:"agent"`
	Home        string            `json:"home"`
	Workdir     string            `json:"workdir"`
	DirLock     jsontext.Value    `json:"dir_lock"`
	Guard       bool              `json:"guard"`
	PatchMode   string            `json:"patch_mode"`
	ArtifactDir string            `json:"artifact_dir"`
	FrameLimit  *int              `json:"frame_limit"`
	Faults      map[string]string `json:"faults"`
}

func parseOptions(text string) (options, error) {
	opts := options{Expose: "all", Store: "mem", Agent: tools.DefaultAgent, PatchMode: "atomic"}
	if text == "" {
		return opts, nil
	}
	if value := jsontext.Value(text); !value.IsValid() || value.Kind() != '{' {
		return opts, usageError{"options: one JSON object is needed, without duplicate names"}
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return opts, usageError{"options: " + err.Error()}
	}
	for name, value := range members {
		if value.Kind() == 'n' {
			return opts, usageError{"options: " + name + " must not be null"}
		}
	}
	if err := json.Unmarshal([]byte(text), &opts, json.RejectUnknownMembers(true)); err != nil {
		return opts, usageError{"options: " + explain(err)}
	}
	if name := opts.missing(); name != "" {
		return opts, usageError{fmt.Sprintf("options: %s is for tools that are not there yet", name)}
	}
	switch {
	case opts.Expose != "all" && opts.Expose != "policy":
		return opts, usageError{"options: expose must be all or policy"}
	case opts.EditStyle != nil && !slices.Contains([]string{"replace", "line", "patch"}, *opts.EditStyle):
		return opts, usageError{"options: edit_style must be replace, line or patch"}
	case opts.PatchMode != "atomic" && opts.PatchMode != "sequential":
		return opts, usageError{"options: patch_mode must be atomic or sequential"}
	case opts.FrameLimit != nil && *opts.FrameLimit < 1:
		return opts, usageError{"options: frame_limit must be >= 1"}
	}
	return opts, nil
}

// explain returns what is wrong with the JSON text in the terms of the text.
func explain(err error) string {
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return err.Error()
	}
	where := strings.ReplaceAll(strings.TrimPrefix(string(semantic.JSONPointer), "/"), "/", ".")
	if errors.Is(semantic.Err, json.ErrUnknownName) {
		return where + " is no option; there are " + strings.Join(optionNames(), ", ")
	}
	return fmt.Sprintf("%s must be %s", where, wanted(semantic.GoType))
}

// wanted names the JSON type that an option of a Go type takes.
func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int:
		return "an integer"
	case reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}

// optionNames returns the names of all options.
func optionNames() []string {
	var names []string
	for t, i := reflect.TypeFor[options](), 0; i < t.NumField(); i++ {
		names = append(names, t.Field(i).Tag.Get("json"))
	}
	return names
}

// missing returns an option that is set although what it is about comes with
// later tools. To accept it would promise a protection that is not there.
func (o options) missing() string {
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"model_tags", len(o.ModelTags) > 0},
		{"tool_policy", len(o.ToolPolicy) > 0 && strings.Trim(string(o.ToolPolicy), "{} \t\r\n") != ""},
		{"images", o.Images != nil && *o.Images},
		{"store", o.Store != "mem" && o.Store != "none"},
		{"home", o.Home != ""},
		{"dir_lock", len(o.DirLock) > 0 && string(o.DirLock) != "false"},
		{"faults", len(o.Faults) > 0},
	} {
		if option.set {
			return option.name
		}
	}
	return ""
}

// config returns the configuration of a session in dir. The log is told why an
// output could not be saved.
func (o options) config(dir string, log *slog.Logger) (tools.Config, error) {
	root := dir
	if o.Workdir != "" {
		root = o.Workdir
		if !filepath.IsAbs(root) && dir != "" {
			root = dir + string(filepath.Separator) + root // not cleaned: it may lead through links
		}
	}
	cfg := tools.Config{Root: root, Tools: o.Tools}
	if o.Expose == "all" && o.Tools == nil {
		cfg.Tools = tools.Names()
	}
	if o.EditStyle != nil {
		cfg.EditStyle = tools.EditStyle(*o.EditStyle)
	}
	if o.PatchMode == "sequential" {
		cfg.PatchMode = patch.Sequential
	}
	if o.Guard {
		cfg.Guard = new(guard.Policy)
	}
	if o.FrameLimit != nil {
		cfg.FrameLimit = *o.FrameLimit
	}
	if cfg.NoSpool = o.ArtifactDir == "-"; !cfg.NoSpool {
		var err error
		if cfg.Spool, err = artifact.NewSpool(artifact.Options{Dir: o.ArtifactDir, Log: log}); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}
