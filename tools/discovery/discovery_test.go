package discovery_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/discovery"
	"github.com/taukit/taukit/tools/workspace"
)

// tree makes files below a new directory, which is a repository, and returns its
// canonical path. A name that ends in a slash is a directory.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(files[name]), 0o644))
	}
	return root
}

func skill(description string) string { return "---\ndescription: " + description + "\n---\nbody\n" }

func project(t testing.TB, dir string, opts discovery.Options) discovery.Scope {
	t.Helper()
	scope, err := discovery.New(opts).Project(t.Context(), dir)
	require.NoError(t, err)
	return scope
}

func user(t testing.TB, home string) discovery.Scope {
	t.Helper()
	scope, err := discovery.New(discovery.Options{Home: home}).User(t.Context())
	require.NoError(t, err)
	return scope
}

type described interface {
	Instructions() []discovery.Instruction
	Skills() []discovery.Skill
	Diagnostics() []discovery.Diagnostic
}

func instructions(root string, s described) []string {
	paths := []string{}
	for _, i := range s.Instructions() {
		paths = append(paths, relative(root, i.Path))
	}
	return paths
}

func skills(root string, s described) []string {
	found := []string{}
	for _, k := range s.Skills() {
		found = append(found, k.Name+" "+relative(root, k.Path))
	}
	return found
}

func diagnostics(root string, s described) []string {
	found := []string{}
	for _, d := range s.Diagnostics() {
		found = append(found, strings.TrimSuffix(d.Code+" "+relative(root, d.Path)+" "+relative(root, d.Other), " "))
	}
	return found
}

func relative(root, path string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, root), string(filepath.Separator)))
}

func TestD2D3InstructionsInTheirOrder(t *testing.T) {
	root := tree(t, map[string]string{
		"AGENTS.md": "m", "AGENTS.a.md": "a", "AGENTS.Z.md": "z", "AGENTS..md": "dots", "AGENTS.txt": "no", "AGENTS.x.md.bak": "no", "XAGENTS.md": "no",
		".agents.local/AGENTS.md": "l", ".agents/AGENTS.md": "no", "p/AGENTS.team.md": "pt", "p/AGENTS.md": "p\r\n", "p/.agents.local/AGENTS.x.md": "pl", "p/q/AGENTS.md": "below",
	})
	scope := project(t, filepath.Join(root, "p"), discovery.Options{})
	require.Equal(t, []string{
		"AGENTS.md", "AGENTS..md", "AGENTS.Z.md", "AGENTS.a.md", ".agents.local/AGENTS.md",
		"p/AGENTS.md", "p/AGENTS.team.md", "p/.agents.local/AGENTS.x.md",
	}, instructions(root, scope))
	require.Empty(t, scope.Diagnostics())
	require.Equal(t, "p\r\n", scope.Instructions()[5].Text, "D9: unchanged")
}

func TestD2WhatIsSkipped(t *testing.T) {
	root := tree(t, map[string]string{
		"AGENTS.md": " \n\t\u00a0\n", "AGENTS.b.md": "\xff\xfe", "AGENTS.c.md": "c\n", "AGENTS.d.md/": "",
		"AGENTS.max.md": strings.Repeat("x", discovery.MaxInstructionFileBytes), "AGENTS.over.md": strings.Repeat("x", discovery.MaxInstructionFileBytes+1),
		".agents.local": "a file", "AGENTS.nul.md": "a\x00b",
	})
	scope := project(t, root, discovery.Options{})
	require.Equal(t, []string{"AGENTS.c.md", "AGENTS.max.md", "AGENTS.nul.md"}, instructions(root, scope))
	require.Equal(t, []string{
		framing.CodeNotDirectory + " .agents.local",
		framing.CodeTooLarge + " AGENTS.over.md", framing.CodeIsDirectory + " AGENTS.d.md", framing.CodeInvalidUTF8 + " AGENTS.b.md",
	}, diagnostics(root, scope)[:4], "blank is no diagnostic")
}

func TestD3D5UserRoots(t *testing.T) {
	home := tree(t, map[string]string{
		".agents/AGENTS.md": "3", ".agents.local/AGENTS.md": "4", ".config/agents/AGENTS.md": "1", ".config/agents.local/AGENTS.md": "2", "AGENTS.md": "no",
		".agents/skills/a.md": skill("legacy"), ".agents.local/skills/a.md": skill("legacy local"), ".config/agents/skills/a.md": skill("xdg"), ".config/agents.local/skills/a.md": skill("xdg local"),
		".agents/skills/b.md": skill("b"), ".agents.local/skills/b.md": skill("b local"), ".config/agents/skills/c.md": skill("c"), ".agents.local/skills/c.md": skill("c"),
	})
	scope := user(t, home)
	require.Equal(t, []string{".config/agents/AGENTS.md", ".config/agents.local/AGENTS.md", ".agents/AGENTS.md", ".agents.local/AGENTS.md"}, instructions(home, scope))
	require.Equal(t, []string{"a .config/agents.local/skills/a.md", "b .agents.local/skills/b.md", "c .config/agents/skills/c.md"}, skills(home, scope))
	require.Equal(t, []string{
		"DISCOVERY_SHADOWED .config/agents/skills/a.md .config/agents.local/skills/a.md",
		"DISCOVERY_SHADOWED .agents.local/skills/a.md .config/agents.local/skills/a.md",
		"DISCOVERY_SHADOWED .agents.local/skills/c.md .config/agents/skills/c.md",
		"DISCOVERY_SHADOWED .agents/skills/a.md .config/agents.local/skills/a.md",
		"DISCOVERY_SHADOWED .agents/skills/b.md .agents.local/skills/b.md",
	}, diagnostics(home, scope))

	require.Equal(t, discovery.Scope{}, user(t, ""))
	require.Equal(t, discovery.Scope{}, user(t, filepath.Join(home, "missing")))
	_, err := discovery.New(discovery.Options{Home: "relative"}).User(t.Context())
	require.ErrorIs(t, err, fs.ErrInvalid)
}

func TestD4TheWayUp(t *testing.T) {
	files := map[string]string{"AGENTS.md": "above", "h/AGENTS.md": "home", "h/p/AGENTS.md": "p", "h/p/q/AGENTS.md": "q"}
	for _, tt := range []struct {
		name, git, home, dir string
		want                 []string
	}{
		{"to .git", "h/p/", "", "h/p/q", []string{"h/p/AGENTS.md", "h/p/q/AGENTS.md"}},
		{"to .git in the workdir", "h/p/q/", "", "h/p/q", []string{"h/p/q/AGENTS.md"}},
		{"below home", "", "h", "h/p/q", []string{"h/p/AGENTS.md", "h/p/q/AGENTS.md"}},
		{"home is a repository", "h/", "h", "h/p/q", []string{"h/p/AGENTS.md", "h/p/q/AGENTS.md"}},
		{"in home", "", "h", "h", []string{"h/AGENTS.md"}},
		{"home is elsewhere", "", "h/p/q", "h/p", []string{"AGENTS.md", "h/AGENTS.md", "h/p/AGENTS.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, files)
			if tt.git != "" {
				require.NoError(t, os.WriteFile(filepath.Join(root, tt.git, ".git"), []byte("gitdir: x\n"), 0o644))
			}
			opts := discovery.Options{}
			if tt.home != "" {
				opts.Home = filepath.Join(root, tt.home)
			}
			require.Equal(t, tt.want, instructions(root, project(t, filepath.Join(root, tt.dir), opts)))
		})
	}
}

func TestD5Skills(t *testing.T) {
	root := tree(t, map[string]string{
		".agents/skills/build/SKILL.md":         "---\nname: build\ndescription: How to build\n---\nbody\n",
		".agents/skills/file.md":                skill("one file"),
		".agents/skills/other-name/SKILL.md":    "---\nname: named\ndescription: >\n  two\n  lines\n---\n",
		".agents/skills/group/inner/SKILL.md":   skill("in a group"),
		".agents/skills/group/x.md":             skill("no skill: only SKILL.md counts below"),
		".agents/skills/a/b/c/d/SKILL.md":       skill("four levels"),
		".agents/skills/a/b/c/d2/e/SKILL.md":    skill("five levels"),
		".agents/skills/build/nested/SKILL.md":  skill("below a skill"),
		".agents/skills/.hidden/SKILL.md":       skill("hidden"),
		".agents/skills/notes.txt":              "no",
		".agents/skills/Upper/SKILL.md":         skill("the name is no name"),
		".agents/skills/Upper2/SKILL.md":        "---\nname: lower\ndescription: d\n---",
		".agents.local/skills/local.md":         skill("local"),
		"p/.agents/skills/build/SKILL.md":       skill("more specific"),
		"p/.agents.local/skills/file/SKILL.md":  skill("more specific"),
		"p/q/.agents/skills/invisible/SKILL.md": skill("below"),
	})
	scope := project(t, filepath.Join(root, "p"), discovery.Options{})
	require.Equal(t, []string{
		"build p/.agents/skills/build/SKILL.md", "d .agents/skills/a/b/c/d/SKILL.md", "file p/.agents.local/skills/file/SKILL.md",
		"inner .agents/skills/group/inner/SKILL.md", "local .agents.local/skills/local.md", "lower .agents/skills/Upper2/SKILL.md",
		"named .agents/skills/other-name/SKILL.md",
	}, skills(root, scope))
	require.Equal(t, []string{
		"DISCOVERY_FRONT_MATTER .agents/skills/Upper/SKILL.md",
		"DISCOVERY_LIMIT .agents/skills/a/b/c/d2",
		"DISCOVERY_SHADOWED .agents/skills/build/SKILL.md p/.agents/skills/build/SKILL.md",
		"DISCOVERY_SHADOWED .agents/skills/file.md p/.agents.local/skills/file/SKILL.md",
	}, diagnostics(root, scope))
	named, ok := scope.Skill("named")
	require.True(t, ok)
	require.Equal(t, "two lines\n", named.Description)
	_, ok = scope.Skill("invisible")
	require.False(t, ok)
}

func TestD5FrontMatter(t *testing.T) {
	long := strings.Repeat("#", discovery.MaxFrontMatterBytes-len("---\ndescription: d\n")-len("\n---"))
	for name, tt := range map[string]struct{ file, reason string }{
		"plain":                {"---\ndescription: d\n---\n", ""},
		"CRLF":                 {"---\r\ndescription: d\r\n---\r\n", ""},
		"BOM":                  {"\ufeff---\ndescription: d\n---\n", ""},
		"no end of line":       {"---\ndescription: d\n---", ""},
		"closes at the limit":  {"---\ndescription: d\n" + long + "\n---\nbody", ""},
		"closes behind it":     {"---\ndescription: d\n" + long + "#\n---\nbody", "front matter does not close within 65536 bytes"},
		"a number":             {"---\nname: 1\ndescription: 2.50\n---\n", ""},
		"an alias":             {"---\nx: &a d\ndescription: *a\n---\n", ""},
		"invalid UTF-8 behind": {"---\ndescription: d\n---\n\xff", ""},
		"empty":                {"", "it has no front matter"},
		"no front matter":      {"# title\n---\n", "it has no front matter"},
		"not closed":           {"---\ndescription: d\n", "front matter does not close within 65536 bytes"},
		"only a fence":         {"---", "front matter does not close within 65536 bytes"},
		"nothing in it":        {"---\n---\n", "description is missing"},
		"only a comment":       {"---\n# description: d\n---\n", "description is missing"},
		"no description":       {"---\nname: x\n---\n", "description is missing"},
		"null":                 {"---\ndescription:\n---\n", "description is missing"},
		"blank":                {"---\ndescription: ' '\n---\n", "description is missing"},
		"a list":               {"---\ndescription: [d]\n---\n", "description is missing"},
		"no mapping":           {"---\n- a\n---\n", "front matter is not a mapping"},
		"a name with a slash":  {"---\nname: ../x\ndescription: d\n---\n", "name must consist of a-z, 0-9 and -"},
		"an empty name":        {"---\nname: ''\ndescription: d\n---\n", "name must consist of a-z, 0-9 and -"},
		"a list of names":      {"---\nname: [x]\ndescription: d\n---\n", "name must consist of a-z, 0-9 and -"},
		"twice":                {"---\ndescription: d\ndescription: e\n---\n", "front matter has the key description twice"},
		"a key that is a list": {"---\n? [a]\n: b\ndescription: d\n---\n", "front matter has a key that is not a scalar"},
		"invalid UTF-8":        {"---\ndescription: \xff\n---\n", "front matter is not valid UTF-8"},
		"not YAML":             {"---\ndescription: d: e\n---\n", "front matter is not YAML: mapping values are not allowed in this context"},
		"a tab":                {"---\n\tdescription: d\n---\n", "front matter is not YAML: found character that cannot start any token"},
		"deep":                 {"---\nx: " + strings.Repeat("[", 30_000) + "\n---\n", "front matter is not YAML: exceeded max depth of 10000"},
		"laughs":               {laughs(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{".agents/skills/x.md": tt.file})
			scope := project(t, root, discovery.Options{})
			if tt.reason == "" {
				require.Empty(t, scope.Diagnostics())
				require.Len(t, scope.Skills(), 1)
				return
			}
			require.Empty(t, scope.Skills())
			require.Len(t, scope.Diagnostics(), 1)
			require.Equal(t, discovery.CodeFrontMatter, scope.Diagnostics()[0].Code)
			require.Contains(t, scope.Diagnostics()[0].Reason, tt.reason)
			require.NotContains(t, scope.Diagnostics()[0].Reason, "\n")
		})
	}
}

// laughs is front matter that would be huge with its aliases expanded.
func laughs() string {
	b := new(strings.Builder)
	b.WriteString("---\ndescription: d\na: &a [x, x]\n")
	for c := 'b'; c < 'z'; c++ {
		fmt.Fprintf(b, "%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 20), c-1)
	}
	return b.String() + "---\n"
}

func TestD5OtherKeysAreText(t *testing.T) {
	root := tree(t, map[string]string{".agents/skills/x.md": "---\nname: x\nlicense: MIT\ntools:\n  - read\n  - shell # both\nargs: {a: 1}\ndescription: d\nempty:\nversion: 1.10\nmeta:\n  deep:\n    - [1, 2]\n---\n"})
	s, _ := project(t, root, discovery.Options{}).Skill("x")
	var got []string
	for k, v := range s.Fields() {
		got = append(got, k+"="+v)
	}
	require.Equal(t, []string{"license=MIT", "tools=  - read\n  - shell # both", "args={a: 1}", "empty=", "version=1.10", "meta=  deep:\n    - [1, 2]"}, got)
	for range s.Fields() {
		break
	}
}

func TestD6D7D8Join(t *testing.T) {
	root := tree(t, map[string]string{
		"home/.agents/AGENTS.md": "u", "home/.agents/skills/a.md": skill("user a"), "home/.agents/skills/b.md": skill("user b"), "home/.agents/skills/bad.md": "",
		"p/AGENTS.md": "p", "p/.agents/skills/a.md": skill("project a"), "p/.agents/skills/c.md": skill("project c"),
	})
	u, p := user(t, filepath.Join(root, "home")), project(t, filepath.Join(root, "p"), discovery.Options{})
	s := discovery.Join(3, filepath.Join(root, "p"), u, p)
	require.EqualValues(t, 3, s.Revision)
	require.Equal(t, []string{"home/.agents/AGENTS.md", "p/AGENTS.md"}, instructions(root, s))
	require.Equal(t, []string{"a p/.agents/skills/a.md", "b home/.agents/skills/b.md", "c p/.agents/skills/c.md"}, skills(root, s))
	require.Equal(t, []string{"DISCOVERY_FRONT_MATTER home/.agents/skills/bad.md", "DISCOVERY_SHADOWED home/.agents/skills/a.md p/.agents/skills/a.md"}, diagnostics(root, s))
	require.False(t, s.Degraded)

	s.Instructions()[0].Text = "changed"
	s.Skills()[0].Name = "changed"
	s.Diagnostics()[0].Path = "changed"
	require.Equal(t, s, discovery.Join(3, filepath.Join(root, "p"), u, p), "immutable, and so are the scopes")

	d := discovery.Degrade(4, filepath.Join(root, "q"), u, "permission denied")
	require.True(t, d.Degraded)
	require.Equal(t, "permission denied", d.Reason)
	require.Equal(t, []string{"home/.agents/AGENTS.md"}, instructions(root, d))
	require.Equal(t, []string{"a home/.agents/skills/a.md", "b home/.agents/skills/b.md"}, skills(root, d))
}

func TestD2ACanonicalPathCountsOnceInASnapshot(t *testing.T) {
	root := tree(t, map[string]string{".agents/AGENTS.md": "both"})
	home := user(t, root)
	within := project(t, filepath.Join(root, ".agents"), discovery.Options{})
	require.Equal(t, []string{".agents/AGENTS.md"}, instructions(root, within))
	require.Equal(t, []string{".agents/AGENTS.md"}, instructions(root, discovery.Join(1, root, home, within)))
}

func TestNewScope(t *testing.T) {
	given := []discovery.Instruction{{Path: "/a", Text: "a"}, {Path: "/a", Text: "again"}, {Path: "/b", Text: "b"}}
	s := discovery.NewScope(given, []discovery.Skill{{Name: "z", Path: "/1"}, {Name: "a", Path: "/2"}, {Name: "z", Path: "/3"}}, []discovery.Diagnostic{{Code: "OWN", Path: "/d"}})
	given[0].Text = "changed"
	require.Equal(t, []discovery.Instruction{{Path: "/a", Text: "a"}, {Path: "/b", Text: "b"}}, s.Instructions())
	require.Equal(t, []string{"a 2", "z 1"}, skills("", s))
	require.Equal(t, []string{"DISCOVERY_SHADOWED 3 1", "OWN d"}, diagnostics("", s))
}

func TestLimits(t *testing.T) {
	files := map[string]string{}
	for i := range discovery.MaxSkills + 5 {
		files[fmt.Sprintf(".agents/skills/s%04d/SKILL.md", i)] = skill("d")
	}
	for i := range 18 {
		files[fmt.Sprintf("AGENTS.%02d.md", i)] = strings.Repeat("x", discovery.MaxInstructionFileBytes)
	}
	files["p/AGENTS.md"] = "inner"
	files["p/.agents/skills/inner.md"] = skill("the more specific are kept")
	root := tree(t, files)
	scope := project(t, filepath.Join(root, "p"), discovery.Options{})
	require.Len(t, scope.Skills(), discovery.MaxSkills)
	got := instructions(root, scope)
	require.Len(t, got, 16)
	require.Equal(t, []string{"AGENTS.17.md", "p/AGENTS.md"}, got[14:], "the more specific are kept")
	require.Equal(t, []string{"DISCOVERY_LIMIT .agents/skills/s0999", "DISCOVERY_LIMIT AGENTS.02.md"}, diagnostics(root, scope), "each is told once")
	_, ok := scope.Skill("inner")
	require.True(t, ok)

	joined := discovery.Join(1, root, scope, project(t, filepath.Join(root, "p"), discovery.Options{}))
	require.Len(t, joined.Skills(), discovery.MaxSkills)

	var many []discovery.Diagnostic
	for i := range discovery.MaxDiagnostics + 10 {
		many = append(many, discovery.Diagnostic{Path: fmt.Sprint(i)})
	}
	told := discovery.NewScope(nil, nil, many).Diagnostics()
	require.Len(t, told, discovery.MaxDiagnostics)
	require.Equal(t, discovery.Diagnostic{Code: discovery.CodeLimit, Path: "999", Reason: "11 more were skipped"}, told[len(told)-1])

	var small []discovery.Instruction
	for i := range discovery.MaxInstructions + 5 {
		small = append(small, discovery.Instruction{Path: fmt.Sprint(i), Text: "x"})
	}
	kept := discovery.NewScope(small, nil, nil)
	require.Equal(t, small[5:], kept.Instructions())
	require.Equal(t, []string{"DISCOVERY_LIMIT 4"}, diagnostics("", kept))
}

// An opened FS counts what is opened.
type opened struct {
	discovery.FS
	files atomic.Int64
}

func (o *opened) Open(ctx context.Context, name string) (workspace.File, error) {
	o.files.Add(1)
	return o.FS.Open(ctx, name)
}

func TestNoMoreInstructionsAreOpenedThanMayBe(t *testing.T) {
	files := map[string]string{"p/AGENTS.md": "inner"}
	for i := range 2 * discovery.MaxInstructions {
		files[fmt.Sprintf("AGENTS.%04d.md", i)] = " "
	}
	root := tree(t, files)
	fsys := &opened{FS: hostFS{}}
	scope := project(t, filepath.Join(root, "p"), discovery.Options{FS: fsys})
	require.Equal(t, []string{"p/AGENTS.md"}, instructions(root, scope))
	require.Equal(t, []string{"DISCOVERY_LIMIT AGENTS.1000.md"}, diagnostics(root, scope))
	require.LessOrEqual(t, fsys.files.Load(), int64(discovery.MaxInstructions))
}

// A hostFS is the file system of the host.
type hostFS struct{ workspace.OS }

func (hostFS) Resolve(_ context.Context, name string) (string, fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", nil, err
	}
	canonical, err := filepath.EvalSymlinks(name)
	return canonical, info, err
}

func TestProjectErrors(t *testing.T) {
	root := tree(t, map[string]string{"f": ""})
	for dir, want := range map[string]error{
		filepath.Join(root, "missing"): workspace.ErrNotFound,
		filepath.Join(root, "f"):       workspace.ErrNotDirectory,
		"relative":                     fs.ErrInvalid,
	} {
		_, err := discovery.New(discovery.Options{}).Project(t.Context(), dir)
		require.ErrorIs(t, err, want)
	}
}

func TestCancellation(t *testing.T) {
	root := tree(t, map[string]string{"AGENTS.md": "x", ".agents/skills/a.md": skill("d")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := discovery.New(discovery.Options{Home: root})
	_, err := f.Project(ctx, root)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.User(ctx)
	require.ErrorIs(t, err, context.Canceled)

	for steps := 1; ; steps++ { // at every step of a scan
		ctx, cancel := context.WithCancel(t.Context())
		var left atomic.Int64
		left.Store(int64(steps))
		_, err := discovery.New(discovery.Options{FS: cancelling{func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}}}).Project(ctx, root)
		cancel()
		if left.Load() > 0 {
			require.NoError(t, err)
			require.Greater(t, steps, 8)
			return
		}
		if err != nil { // the last steps may be the end of it
			require.ErrorIs(t, err, context.Canceled)
		}
	}
}

// cancelling is the file system of the host, told of each step.
type cancelling struct{ step func() }

func (c cancelling) Open(ctx context.Context, name string) (workspace.File, error) {
	c.step()
	return workspace.OS{}.Open(ctx, name)
}

func (c cancelling) OpenDir(ctx context.Context, name string) (workspace.Dir, error) {
	c.step()
	return workspace.OS{}.OpenDir(ctx, name)
}

func (c cancelling) Canonical(ctx context.Context, name string) (string, error) {
	c.step()
	return workspace.OS{}.Canonical(ctx, name)
}

func (c cancelling) Resolve(_ context.Context, name string) (string, fs.FileInfo, error) {
	c.step()
	info, err := os.Stat(name)
	return name, info, err
}
