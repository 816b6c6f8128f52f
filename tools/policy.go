package tools

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/taukit/taukit/escape"
)

// Tags of models that the choice of tools knows.
const (
	// TagChatGPT is for models that are trained on shell_command and apply_patch.
	// They get these two, workdir and dir_lock in place of all our other tools but
	// those for artifacts; see [Policy].
	TagChatGPT = "shell:chatgpt"
	// TagStyle and then "replace", "edit" or "codex" is for models that are trained
	// on exact texts, line numbers or patches.
	TagStyle = "shell:tool-style:"

	chatGPTRule = "builtin.chatgpt-shell"
)

// A Policy says which of the default tools a model gets. The zero value leaves
// them as they are. In every list of tags, an entry is a tag, or the beginning of
// tags and a "*".
//
// It is applied in this order: a rule that is built in, which gives models with
// [TagChatGPT] the tools that they are trained on, under the name
// "builtin.chatgpt-shell"; the Rules by priority, then by name; the list
// [Config].Tools; then the other fields as they stand here. Each one disables
// before it enables. Nothing enables a tool that the configuration does not have:
// read_image without images, artifact tools without a store, dir_lock without
// locking, another editor or shell than the chosen one.
type Policy struct {
	// Style is how the model edits: "replace", "edit" (line numbers) or "codex"
	// (patches). Blank leaves it to the tags of the model.
	Style string
	Rules map[string]Rule // by name

	DisableTags, EnableTags   []string // of tools
	DisableTools, EnableTools []string // names
}

// A Rule enables and disables tools for some models.
type Rule struct {
	Off                     bool     // the rule does nothing
	Priority                int      // lower ones come first
	ModelTags               []string // the model has them all; none means every model
	DisableTags, EnableTags []string // of tools
}

// A PolicyError says that a Config contradicts itself in the choice of tools.
type PolicyError struct{ message string }

// Error returns the message.
func (e *PolicyError) Error() string { return e.message }

// styles are the names of the styles in policies and tags.
var styles = map[string]EditStyle{"replace": EditReplace, "edit": EditLines, "codex": EditPatch}

// style returns how the model edits.
func (cfg Config) style() (EditStyle, error) {
	tagged, err := taggedStyle(cfg.ModelTags)
	if err != nil {
		return "", err
	}
	named := strings.TrimSpace(cfg.Policy.Style)
	switch {
	case named != "" && cfg.EditStyle != "":
		return "", &PolicyError{"both an edit style and one in the policy"}
	case named != "" && styles[named] == "":
		return "", unknownStyle(named)
	case slices.Contains(cfg.ModelTags, TagChatGPT):
		return cmp.Or(cfg.EditStyle, styles[named], tagged, EditPatch), nil
	default:
		return cmp.Or(cfg.EditStyle, styles[named], tagged, EditReplace), nil
	}
}

// taggedStyle returns the style that the tags of a model name, if any does.
func taggedStyle(tags []string) (EditStyle, error) {
	var names []string
	for _, tag := range tags {
		if name, ok := strings.CutPrefix(tag, TagStyle); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(names) == 0:
		return "", nil
	case len(names) > 1:
		shown, _ := escape.Field(strings.Join(names, ", "))
		return "", &PolicyError{"conflicting shell tool styles: " + shown}
	case styles[names[0]] == "":
		return "", unknownStyle(names[0])
	}
	return styles[names[0]], nil
}

func unknownStyle(name string) error {
	shown, _ := escape.Field(name)
	return &PolicyError{"unknown shell tool style: " + shown}
}

// A choice is which of some tools are enabled, in the order of registration.
type choice []candidate

type candidate struct {
	Definition
	based   bool // it may be enabled at all
	enabled bool
}

func (c *choice) add(d Definition, based, enabled bool) {
	*c = append(*c, candidate{d, based, based && enabled})
}

// set enables or disables the tools that match.
func (c choice) set(enabled bool, matches func(d Definition) bool) {
	for i := range c {
		if matches(c[i].Definition) {
			c[i].enabled = enabled && c[i].based
		}
	}
}

// tagged sets the tools that have one of the tags.
func (c choice) tagged(patterns []string, enabled bool) {
	c.set(enabled, func(d Definition) bool {
		return slices.ContainsFunc(d.Tags, func(tag string) bool { return matchesTag(patterns, tag) })
	})
}

// named sets the tools that have one of the names.
func (c choice) named(names []string, enabled bool) {
	c.set(enabled, func(d Definition) bool { return slices.Contains(names, d.Name) })
}

// only enables the tools that have one of the names, and no others.
func (c choice) only(names []string) {
	c.set(false, func(Definition) bool { return true })
	c.named(names, true)
}

func (c choice) exposes(name string) bool {
	return slices.ContainsFunc(c, func(t candidate) bool { return t.enabled && t.Name == name })
}

// check refuses names that no tool has.
func (c choice) check(lists ...[]string) error {
	for _, name := range slices.Concat(lists...) {
		if !slices.ContainsFunc(c, func(t candidate) bool { return t.Name == name }) {
			shown, _ := escape.Field(name)
			return &PolicyError{"unknown tool: " + shown}
		}
	}
	return nil
}

// matchesTag reports whether one of the patterns is the tag or begins it.
func matchesTag(patterns []string, tag string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(tag, prefix)
		}
		return tag == pattern
	})
}

// apply applies the rules and the controls.
func (p Policy) apply(c choice, cfg Config, editor []string) {
	if slices.Contains(cfg.ModelTags, TagChatGPT) && !p.Rules[chatGPTRule].Off {
		c.tagged([]string{"shell:*"}, false)
		c.tagged(append(editor, "shell:exec:shell_command", "shell:workdir", "shell:lock"), true)
		if cfg.Guard != nil { // or no file could ever be changed
			c.tagged([]string{"shell:read"}, true)
		}
	}
	for _, name := range p.order() {
		if r := p.Rules[name]; r.applies(cfg.ModelTags) {
			c.tagged(r.DisableTags, false)
			c.tagged(r.EnableTags, true)
		}
	}
	if cfg.Tools != nil {
		c.only(cfg.Tools)
	}
	c.tagged(p.DisableTags, false)
	c.tagged(p.EnableTags, true)
	c.named(p.DisableTools, false)
	c.named(p.EnableTools, true)
}

// order returns the names of the rules in the order in which they are applied.
func (p Policy) order() []string {
	return slices.SortedFunc(maps.Keys(p.Rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.Rules[a].Priority, p.Rules[b].Priority), cmp.Compare(a, b))
	})
}

func (r Rule) applies(modelTags []string) bool {
	return !r.Off && !slices.ContainsFunc(r.ModelTags, func(pattern string) bool {
		return !slices.ContainsFunc(modelTags, func(tag string) bool { return matchesTag([]string{pattern}, tag) })
	})
}
