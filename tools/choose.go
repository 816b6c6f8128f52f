package tools

import (
	"slices"

	"github.com/taukit/taukit/tools/workspace"
)

// An EditStyle is a way for a model to say what it wants to change.
type EditStyle string

// The styles.
const (
	EditReplace EditStyle = "replace" // exact texts: the tool edit of [NewEdit]
	EditLines   EditStyle = "line"    // line numbers: the tool edit of [NewLineEdit]
	EditPatch   EditStyle = "patch"   // patches: the tool apply_patch
)

// CoreSet returns the names of the tools that the least of agents needs.
func CoreSet() []string { return []string{"read", "edit", "shell"} }

// Names returns the names of all tools of this package, in the order of
// registration.
func Names() []string {
	var names []string
	for _, t := range (Config{}).builtin(Env{}, EditReplace) {
		names = append(names, t.Definition().Name)
	}
	return names
}

// builtin returns the tools of this package in the order of registration.
func (cfg Config) builtin(env Env, style EditStyle) []Tool {
	edit := NewEdit(env)
	if style == EditLines {
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
		NewWorkdir(env),
		NewDirLock(env),
		NewExport(env),
		NewImport(env),
		NewReadImage(env),
	}
}

// choose returns the tools to expose, in the order of registration.
func (cfg Config) choose(env Env) ([]Tool, error) {
	ws := env.Workspace
	style, err := cfg.style()
	if err != nil {
		return nil, err
	}
	var c choice
	for _, t := range cfg.builtin(Env{}, style) {
		d := t.Definition()
		c.add(d, cfg.hasBase(d, style) && canUse(ws, d), d.Name != "write" || cfg.ExposeAll)
	}
	for _, t := range cfg.Own {
		c.add(t.Definition(), true, true)
	}
	if err := c.check(cfg.Tools, cfg.Policy.DisableTools, cfg.Policy.EnableTools); err != nil {
		return nil, err
	}
	switch {
	case !cfg.ExposeAll:
		cfg.Policy.apply(c, cfg, editorTags(style))
	case cfg.Tools != nil:
		c.only(cfg.Tools)
	}
	cfg.Shell.DirLock = c.exposes("dir_lock")
	var chosen []Tool
	for i, t := range append(cfg.builtin(env, style), cfg.Own...) {
		if c[i].enabled {
			chosen = append(chosen, t)
		}
	}
	return chosen, nil
}

// editorTags are the tags of the editor for a style.
func editorTags(style EditStyle) []string {
	switch style {
	case EditLines:
		return []string{"shell:edit:line"}
	case EditPatch:
		return []string{"shell:edit:apply_patch"}
	default:
		return []string{"shell:edit:replace"}
	}
}

// hasBase reports whether the configuration has what one of our tools needs.
func (cfg Config) hasBase(d Definition, style EditStyle) bool {
	chatGPT := slices.Contains(cfg.ModelTags, TagChatGPT)
	switch {
	case d.Name == "dir_lock" && cfg.Locks == nil, d.Name == "read_image" && !cfg.Images:
		return false
	case cfg.ExposeAll:
		return true
	}
	switch d.Name {
	case "edit":
		return style != EditPatch
	case "apply_patch":
		return style == EditPatch
	case "shell":
		return !chatGPT
	case "shell_command":
		return chatGPT
	case "export", "import", "read_image":
		return cfg.Store != nil
	default:
		return true
	}
}

// canUse reports whether a file system has what one of our tools needs.
func canUse(ws *workspace.Workspace, d Definition) bool {
	switch d.Name {
	case "find", "grep", "shell", "shell_command":
		return ws.OnHost()
	case "edit", "apply_patch", "write":
		return ws.Writable()
	default:
		return true
	}
}
