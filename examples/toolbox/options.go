package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
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
	ToolPolicy  toolPolicy        `json:"tool_policy"`
	Tools       []string          `json:"tools"`
	Images      *bool             `json:"images"`
	Store       string            `json:"store"`
	Agent       string            `json:"agent"`
	Home        string            `json:"home"`
	Workdir     string            `json:"workdir"`
	DirLock     dirLock           `json:"dir_lock"`
	Guard       bool              `json:"guard"`
	PatchMode   string            `json:"patch_mode"`
	ArtifactDir string            `json:"artifact_dir"`
	FrameLimit  *int              `json:"frame_limit"`
	Faults      map[string]string `json:"faults"`
}

// A toolPolicy says which tools a model gets.
type toolPolicy struct {
	Style        *string             `json:"default_shell_tool_style"`
	Rules        map[string]toolRule `json:"rules"`
	DisableTags  []string            `json:"disable_tool_tags"`
	EnableTags   []string            `json:"enable_tool_tags"`
	DisableTools []string            `json:"disable_tools"`
	EnableTools  []string            `json:"enable_tools"`
}

type toolRule struct {
	Enable   *bool `json:"enable"`
	Priority int   `json:"priority"`
	When     struct {
		ModelTags []string `json:"model_tags"`
	} `json:"when"`
	DisableTags []string `json:"disable_tool_tags"`
	EnableTags  []string `json:"enable_tool_tags"`
}

func (p toolPolicy) policy() tools.Policy {
	policy := tools.Policy{
		Rules:        map[string]tools.Rule{},
		DisableTags:  p.DisableTags,
		EnableTags:   p.EnableTags,
		DisableTools: p.DisableTools,
		EnableTools:  p.EnableTools,
	}
	if p.Style != nil {
		policy.Style = *p.Style
	}
	for name, r := range p.Rules {
		policy.Rules[name] = tools.Rule{
			Off:         r.Enable != nil && !*r.Enable,
			Priority:    r.Priority,
			ModelTags:   r.When.ModelTags,
			DisableTags: r.DisableTags,
			EnableTags:  r.EnableTags,
		}
	}
	return policy
}

func parseOptions(text string) (options, error) {
	opts := options{Expose: "all", Store: "mem", Agent: tools.DefaultAgent, PatchMode: "atomic"}
	if text == "" {
		return opts, nil
	}
	if value := jsontext.Value(text); !value.IsValid() || value.Kind() != '{' {
		return opts, usageError{"options: one JSON object is needed, without duplicate names"}
	}
	if where, ok := nullMember(text); ok {
		return opts, usageError{"options: " + where + " must not be null"}
	}
	if err := json.Unmarshal([]byte(text), &opts, json.RejectUnknownMembers(true)); err != nil {
		return opts, usageError{"options: " + explain(err)}
	}
	switch {
	case opts.Expose != "all" && opts.Expose != "policy":
		return opts, usageError{"options: expose must be all or policy"}
	case opts.EditStyle != nil && !slices.Contains([]string{"replace", "line", "patch"}, *opts.EditStyle):
		return opts, usageError{"options: edit_style must be replace, line or patch"}
	case !slices.Contains([]string{"mem", "dir", "none"}, opts.Store):
		return opts, usageError{"options: store must be mem, dir or none"}
	case opts.Home != "" && !filepath.IsAbs(opts.Home):
		return opts, usageError{"options: home must be an absolute path"}
	case opts.PatchMode != "atomic" && opts.PatchMode != "sequential":
		return opts, usageError{"options: patch_mode must be atomic or sequential"}
	case opts.FrameLimit != nil && *opts.FrameLimit < 1:
		return opts, usageError{"options: frame_limit must be >= 1"}
	}
	return opts, opts.checkFaults()
}

// explain returns what is wrong with the JSON text in the terms of the text.
func explain(err error) string {
	var semantic *json.SemanticError
	var own usageError // of an option with words of its own
	if errors.As(err, &own) {
		return own.message
	}
	if !errors.As(err, &semantic) {
		return err.Error()
	}
	where := dotted(semantic.JSONPointer)
	if errors.Is(semantic.Err, json.ErrUnknownName) {
		return where + " is no option; there are " + strings.Join(optionNames(), ", ")
	}
	return fmt.Sprintf("%s must be %s", where, wanted(semantic.GoType))
}

// nullMember returns where a JSON text has a null that says nothing.
func nullMember(text string) (where string, ok bool) {
	for d := jsontext.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.ReadToken()
		switch {
		case err != nil: // the end: the text is valid
			return "", false
		case token.Kind() == 'n' && d.StackPointer() != "/tool_policy/default_shell_tool_style":
			return dotted(d.StackPointer()), true
		}
	}
}

// dotted returns a place in the options as messages have it.
func dotted(p jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
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
	cfg := tools.Config{
		Root:       root,
		Tools:      o.Tools,
		ModelTags:  o.ModelTags,
		Policy:     o.ToolPolicy.policy(),
		ExposeAll:  o.Expose == "all",
		Images:     o.Expose == "all",
		Discoverer: o.discoverer(),
		Workdirs:   o.workdirs(),
	}
	if o.Images != nil {
		cfg.Images = *o.Images
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
		cfg.ImportDir = o.ArtifactDir
		var err error
		if cfg.Spool, err = artifact.NewSpool(artifact.Options{Dir: o.ArtifactDir, Log: log}); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// artifacts returns the store of artifacts, nil for none, and the directory that
// it is in, if it is in one.
func (o options) artifacts() (store artifact.Store, dir string, err error) {
	switch o.Store {
	case "none":
		return nil, "", nil
	case "mem":
		return artifact.NewMemStore(), "", nil
	}
	if dir, err = os.MkdirTemp("", "toolbox-store-"); err != nil {
		return nil, "", err
	}
	store, err = artifact.NewDirStore(dir)
	return store, dir, err
}
