package tools_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/guard"
)

// exposedBy returns the names of the tools that a configuration exposes.
func exposedBy(t *testing.T, cfg tools.Config) string {
	t.Helper()
	s, _ := openSession(t, cfg)
	var names []string
	for _, d := range s.Definitions() {
		name := d.Name
		if d.Internal != "" {
			name += "/" + d.Internal
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestPolicy(t *testing.T) {
	store := artifact.NewMemStore()
	chatGPT := []string{tools.TagChatGPT}
	own := named("own", nil)
	own.definition.Tags = []string{"own:tag"}
	for _, tt := range []struct {
		name string
		cfg  tools.Config
		want string
	}{
		{"P1 nothing said", tools.Config{}, "read ls find grep edit/replace shell workdir"},
		{"P1 the tag", tools.Config{ModelTags: []string{"shell:tool-style:codex"}}, "read ls find grep apply_patch shell workdir"},
		{"P1 the policy before the tag", tools.Config{ModelTags: []string{"shell:tool-style:codex"}, Policy: tools.Policy{Style: " edit "}}, "read ls find grep edit shell workdir"},
		{"P1 the tag before the model", tools.Config{ModelTags: append([]string{"shell:tool-style:replace"}, chatGPT...)}, "edit/replace shell_command/gpt_shell workdir"},
		{"P3 P4 a model with a dialect", tools.Config{ModelTags: chatGPT, Store: store}, "apply_patch shell_command/gpt_shell workdir export import"},
		{"P4 with the guard it can read", tools.Config{ModelTags: chatGPT, Guard: new(guard.Policy)}, "read ls find grep apply_patch shell_command/gpt_shell workdir"},
		{
			"P4 switched off by name",
			tools.Config{ModelTags: chatGPT, Policy: tools.Policy{Rules: map[string]tools.Rule{"builtin.chatgpt-shell": {Off: true}}}},
			"read ls find grep apply_patch shell_command/gpt_shell workdir",
		},
		{"P5 rules by priority, then name", tools.Config{Policy: tools.Policy{Rules: map[string]tools.Rule{
			"a": {Priority: 2, EnableTags: []string{"shell:list"}},
			"b": {Priority: 1, DisableTags: []string{"shell:*"}},
			"c": {Priority: 1, EnableTags: []string{"shell:exec"}},
		}}}, "ls shell"},
		{"P5 each disables before it enables", tools.Config{Policy: tools.Policy{
			DisableTags: []string{"shell:*"}, EnableTags: []string{"shell:search"}, DisableTools: []string{"grep"}, EnableTools: []string{"write"},
		}}, "find write"},
		{"P5 rules for models", tools.Config{ModelTags: []string{"size:small"}, Policy: tools.Policy{Rules: map[string]tools.Rule{
			"small": {ModelTags: []string{"size:*"}, DisableTags: []string{"shell:search"}},
			"other": {ModelTags: []string{"size:small", "vendor:x"}, DisableTags: []string{"*"}},
			"off":   {Off: true, DisableTags: []string{"*"}},
		}}}, "read ls edit/replace shell workdir"},
		{
			"P5 nothing without its base",
			tools.Config{Policy: tools.Policy{EnableTags: []string{"*"}, EnableTools: []string{"export", "apply_patch", "shell_command"}}},
			"read ls find grep edit/replace write shell workdir",
		},
		{"P5 the allow list", tools.Config{Tools: []string{"write", "edit", "export"}, Store: store}, "edit/replace write export"},
		{"P5 controls after the allow list", tools.Config{Tools: []string{"write", "edit"}, Policy: tools.Policy{DisableTools: []string{"edit"}, EnableTools: []string{"ls"}}}, "ls write"},
		{"P8", tools.Config{Tools: tools.CoreSet()}, "read edit/replace shell"},
		{"own tools have tags", tools.Config{Own: []tools.Tool{own}, Policy: tools.Policy{DisableTags: []string{"shell:*", "own:t*"}}}, ""},
		{
			"all",
			tools.Config{ExposeAll: true, Images: true, EditStyle: tools.EditLines},
			"read ls find grep edit apply_patch write shell shell_command/gpt_shell workdir export import read_image",
		},
		{
			"all of some",
			tools.Config{ExposeAll: true, Tools: []string{"shell_command", "apply_patch", "edit"}, ModelTags: []string{"shell:tool-style:codex"}},
			"edit/replace apply_patch shell_command/gpt_shell",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Root = t.TempDir()
			require.Equal(t, tt.want, exposedBy(t, tt.cfg))
		})
	}
}

func TestPolicyRefusesContradictions(t *testing.T) {
	for _, tt := range []struct {
		tags  []string
		style string
		want  string
	}{
		{[]string{"shell:tool-style:replace", "shell:tool-style:edit"}, "", "conflicting shell tool styles: edit, replace"},
		{[]string{"shell:tool-style:replace", "shell:tool-style:edit"}, "codex", "conflicting shell tool styles: edit, replace"},
		{[]string{"shell:tool-style:fuzzy"}, "edit", "unknown shell tool style: fuzzy"},
		{nil, "fuzzy\n", "unknown shell tool style: fuzzy"},
		{nil, "line", "unknown shell tool style: line"},
	} {
		_, err := tools.New(tools.Config{Root: t.TempDir(), NoSpool: true, ModelTags: tt.tags, Policy: tools.Policy{Style: tt.style}})
		var e *tools.PolicyError
		require.ErrorAs(t, err, &e)
		require.EqualError(t, err, tt.want)
	}
	_, err := tools.New(tools.Config{Root: t.TempDir(), NoSpool: true, Policy: tools.Policy{EnableTools: []string{"reed"}}})
	require.EqualError(t, err, "unknown tool: reed")
	_, err = tools.New(tools.Config{Root: t.TempDir(), NoSpool: true, EditStyle: tools.EditPatch, Policy: tools.Policy{Style: "edit"}})
	require.Error(t, err)
}

// TestAnyPolicyGivesAUsableSet tries all combinations of styles, tags and rules.
func TestAnyPolicyGivesAUsableSet(t *testing.T) {
	root := t.TempDir()
	for _, style := range []string{"", "replace", "edit", "codex"} {
		for _, tags := range [][]string{nil, {tools.TagChatGPT}, {"shell:tool-style:edit"}, {"shell:tool-style:codex", tools.TagChatGPT}} {
			for mask := range 16 {
				p := tools.Policy{Style: style}
				for i, list := range []*[]string{&p.DisableTags, &p.EnableTags, &p.DisableTools, &p.EnableTools} {
					if mask&(1<<i) != 0 {
						*list = [][]string{{"shell:*"}, {"shell:edit*", "shell:exec*"}, {"ls", "shell"}, {"edit", "apply_patch", "shell_command"}}[i]
					}
				}
				s, err := tools.New(tools.Config{Root: root, NoSpool: true, ModelTags: tags, Policy: p})
				require.NoError(t, err)
				editors, shells := 0, 0
				var names []string
				for _, d := range s.Definitions() {
					names = append(names, d.Name)
					if slices.Contains(d.Tags, "shell:edit") {
						editors++
					}
					if slices.Contains(d.Tags, "shell:exec") {
						shells++
					}
				}
				what := fmt.Sprint(style, tags, mask, names)
				require.LessOrEqual(t, editors, 1, what)
				require.LessOrEqual(t, shells, 1, what)
				slices.Sort(names)
				require.Len(t, slices.Compact(names), len(s.Definitions()), what)
				require.NoError(t, s.Close())
			}
		}
	}
}

func TestOnlyASetWithDirLockSpeaksOfIt(t *testing.T) {
	shells := []string{"shell", "shell_command"}
	for _, tt := range []struct {
		name  string
		cfg   tools.Config
		speak bool
	}{
		{"no locking", tools.Config{Tools: shells, ExposeAll: true}, false},
		{"locking, not for the model", tools.Config{Tools: shells, ExposeAll: true, Locks: dirlock.NewMemory()}, false},
		{"locking", tools.Config{Tools: append([]string{"dir_lock"}, shells...), ExposeAll: true, Locks: dirlock.NewMemory()}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := openSession(t, tt.cfg)
			for _, d := range s.Definitions() {
				if slices.Contains(shells, d.Name) {
					require.Equal(t, tt.speak, strings.Contains(d.Description, "dir_lock"), d.Name)
				}
			}
		})
	}
}

func TestOwnToolsAreJudgedByThemselves(t *testing.T) {
	var own []tools.Tool
	for _, name := range []string{"write", "apply_patch", "shell_command", "dir_lock", "export", "read_image"} {
		own = append(own, named(name, nil))
	}
	require.Equal(t, "read ls find grep edit/replace shell workdir write apply_patch shell_command dir_lock export read_image",
		exposedBy(t, tools.Config{Own: own}), "what ours would need, theirs do not")

	shell := named("shell", nil)
	_, err := tools.New(tools.Config{Root: t.TempDir(), Own: []tools.Tool{shell}})
	require.ErrorContains(t, err, "shell", "P6: two of one name")
	require.Equal(t, "read ls find grep edit/replace workdir shell",
		exposedBy(t, tools.Config{Own: []tools.Tool{shell}, Policy: tools.Policy{DisableTags: []string{"shell:exec"}}}), "one in the place of ours")
}

func TestAFileSystemHasTheToolsThatItCanServe(t *testing.T) {
	s, _ := newSessionFS(t, memFS{})
	var names []string
	for _, d := range s.Definitions() {
		names = append(names, d.Name)
	}
	require.Equal(t, []string{"read", "ls", "workdir"}, names)
}

func TestOutcomeErrIsAnError(t *testing.T) {
	require.NoError(t, tools.Succeed(framing.Result{}, tools.Display{}).Err())
	failed := &framing.Error{Code: framing.CodeBusy}
	require.Equal(t, failed, tools.Fail(t.Context(), failed, tools.Display{}).Err())
}
