package tools

import "slices"

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
	style, err := cfg.style()
	if err != nil {
		return nil, err
	}
	all := append(cfg.builtin(Env{}, style), cfg.Own...)
	if err := checkNames(all, cfg.Tools, cfg.Policy.DisableTools, cfg.Policy.EnableTools); err != nil {
		return nil, err
	}
	c := choice{tools: all, enabled: map[string]bool{}, based: cfg.based(style)}
	for _, t := range all {
		d := t.Definition()
		c.set(d, d.Name != "write" || cfg.ExposeAll)
	}
	switch {
	case !cfg.ExposeAll:
		cfg.Policy.apply(&c, cfg, editorTags(style))
	case cfg.Tools != nil:
		clear(c.enabled)
		c.named(cfg.Tools, true)
	}
	cfg.Shell.DirLock = c.enabled["dir_lock"]
	all = append(cfg.builtin(env, style), cfg.Own...)
	return slices.DeleteFunc(all, func(t Tool) bool { return !c.enabled[t.Definition().Name] }), nil
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

// based returns what tells whether the configuration has what a tool needs.
func (cfg Config) based(style EditStyle) func(d Definition) bool {
	shell := "shell"
	if slices.Contains(cfg.ModelTags, TagChatGPT) {
		shell = "shell_command"
	}
	return func(d Definition) bool {
		switch d.Name {
		case "dir_lock":
			return cfg.Locks != nil
		}
		if cfg.ExposeAll {
			return true
		}
		switch d.Name {
		case "edit":
			return style != EditPatch
		case "apply_patch":
			return style == EditPatch
		case "shell", "shell_command":
			return d.Name == shell
		case "export", "import":
			return cfg.Store != nil
		case "read_image":
			return cfg.Store != nil && cfg.Images
		default:
			return true
		}
	}
}
