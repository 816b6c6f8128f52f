package tools

import (
	"fmt"
	"slices"

	"github.com/taukit/taukit/escape"
)

// An EditStyle is a way for a model to say what it wants to change.
type EditStyle string

// The styles.
const (
	EditReplace EditStyle = "replace" // exact texts: the tool edit of [NewEdit]
	EditLines   EditStyle = "line"    // line numbers: the tool edit of [NewLineEdit]
	EditPatch   EditStyle = "patch"   // patches: the tool apply_patch
)

// Names returns the names of all tools of this package, in the order of
// registration.
func Names() []string {
	var names []string
	for _, t := range (Config{}).builtin(Env{}) {
		names = append(names, t.Definition().Name)
	}
	return names
}

// builtin returns the tools of this package in the order of registration.
func (cfg Config) builtin(env Env) []Tool {
	edit := NewEdit(env)
	if cfg.EditStyle == EditLines {
		edit = NewLineEdit(env)
	}
	return []Tool{
		NewRead(env),
		NewLs(env),
		NewFind(env),
		NewGrep(env),
		edit,
		NewApplyPatch(env, cfg.PatchMode),
		NewWrite(env),
		NewShell(env, cfg.Shell),
		NewShellCommand(env, cfg.Shell),
	}
}

// choose returns the tools to expose.
func (cfg Config) choose(env Env) ([]Tool, error) {
	ours := cfg.builtin(env)
	if cfg.Tools != nil {
		return exposed(append(ours, cfg.Own...), cfg.Tools)
	}
	return append(slices.DeleteFunc(ours, func(t Tool) bool {
		name := t.Definition().Name
		return name == "write" || name == "shell_command" || cfg.EditStyle == EditPatch && name == "edit" ||
			cfg.EditStyle != EditPatch && name == "apply_patch"
	}), cfg.Own...), nil
}

// exposed returns the tools that have one of the names.
func exposed(tools []Tool, names []string) ([]Tool, error) {
	var list []Tool
	missing := slices.Clone(names)
	for _, t := range tools {
		if name := t.Definition().Name; slices.Contains(names, name) {
			list = append(list, t)
			missing = slices.DeleteFunc(missing, func(n string) bool { return n == name })
		}
	}
	if len(missing) > 0 {
		shown, _ := escape.Field(missing[0])
		return nil, fmt.Errorf("unknown tool: %s", shown)
	}
	return list, nil
}
