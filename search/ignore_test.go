package search

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIgnoreRulesOfAWalk(t *testing.T) {
	for _, tt := range []struct {
		rule, root, base string
		files            []string
		want             string // without the ignore files
	}{
		{
			"without a repository", "", "",
			[]string{".gitignore", "*.log\nout/\n", "a.log", "", "a", "", "out/b", "", "sub/c.log", ""},
			"a",
		},
		{
			".rgignore before .ignore before .gitignore", "", "",
			[]string{".gitignore", "*.log\n", ".ignore", "!keep.log\nallowed\n", ".rgignore", "!allowed\nblocked\n", "keep.log", "", "drop.log", "", "allowed", "", "blocked", ""},
			"allowed keep.log",
		},
		{
			"the kind decides before the depth", "", "",
			[]string{".rgignore", "a\n", "sub/.gitignore", "!a\n", "sub/a", "", "sub/b", ""},
			"sub/b",
		},
		{
			"a deeper file decides", "", "",
			[]string{".gitignore", "*.gen\nbuild/\n", "sub/.gitignore", "!b.gen\n", "a.gen", "", "sub/b.gen", "", "sub/c.gen", "", "build/.gitignore", "!*\n", "build/d", ""},
			"sub/b.gen",
		},
		{
			"the exclude file of the repository", "", "",
			[]string{".git/info/exclude", "x\n/sub/y\n", "x", "", "sub/x", "", "sub/y", "", "sub/z/y", ""},
			"sub/z/y",
		},
		{
			".gitignore before the exclude file", "", "",
			[]string{".git/info/exclude", "x\n", ".gitignore", "!x\n", "x", ""},
			"x",
		},
		{
			"ancestors up to the repository", "r/sub", "",
			[]string{".gitignore", "a\n", "r/.git/HEAD", "", "r/.gitignore", "b\n", "r/.git/info/exclude", "/sub/d\n", "r/sub/a", "", "r/sub/b", "", "r/sub/c", "", "r/sub/d", ""},
			"a c",
		},
		{
			"ancestors up to the base without a repository", "w/sub", "w",
			[]string{".gitignore", "a\n", "w/.gitignore", "b\n", "w/sub/a", "", "w/sub/b", ""},
			"a",
		},
		{
			"no ancestors without either", "w/sub", "",
			[]string{".gitignore", "a\n", "w/.gitignore", "b\n", "w/sub/a", "", "w/sub/b", ""},
			"a b",
		},
		{
			"no ancestors when the base is elsewhere", "w", "v",
			[]string{".gitignore", "a\n", "w/a", "", "v/x", ""},
			"a",
		},
		{
			"the repository before the base", "w/r/sub", "w",
			[]string{"w/.gitignore", "a\n", "w/r/.git/HEAD", "", "w/r/.gitignore", "b\n", "w/r/sub/a", "", "w/r/sub/b", ""},
			"a",
		},
		{
			"the base in a repository", "r/w/sub", "r/w",
			[]string{"r/.git/HEAD", "", "r/.gitignore", "a\n", "r/w/sub/a", "", "r/w/sub/b", ""},
			"b",
		},
		{
			"a nested repository", "", "",
			[]string{".git/HEAD", "", ".gitignore", "a\n", ".ignore", "b\n", ".git/info/exclude", "c\n", "n/.git/info/exclude", "d\n", "n/a", "", "n/b", "", "n/c", "", "n/d", "", "n/e", ""},
			"n/a n/c n/e",
		},
		{
			"a nested repository that is ignored", "", "",
			[]string{".gitignore", "n/\n", "n/.git/HEAD", "", "n/a", ""},
			"",
		},
		{
			"a linked work tree", "t", "",
			[]string{"t/.git", "gitdir: ../r/.git/worktrees/t\n", "r/.git/worktrees/t/commondir", "../..\n", "r/.git/info/exclude", "x\n", "t/x", "", "t/y", ""},
			"y",
		},
		{
			"a submodule", "s", "",
			[]string{"s/.git", "gitdir: ../m\n", "m/info/exclude", "x\n", "s/x", "", "s/y", ""},
			"y",
		},
		{
			"an ignored root", "node_modules", "",
			[]string{".git/HEAD", "", ".gitignore", "node_modules/\n*.js\n", "node_modules/m/i.js", "", "node_modules/.gitignore", "x\n", "node_modules/x", ""},
			"m/i.js",
		},
		{
			"a root below an ignored directory", "node_modules/m", "",
			[]string{".git/HEAD", "", ".gitignore", "node_modules/\n*.js\n", "node_modules/m/i.js", ""},
			"i.js",
		},
		{
			"a root of which everything is ignored", "dist", "",
			[]string{".git/HEAD", "", ".gitignore", "dist/**\n*.js\n", "dist/app.js", ""},
			"app.js",
		},
		{
			"a root of which everything is ignored, to the base", "dist", ".",
			[]string{".gitignore", "dist/*\n", "dist/app.js", ""},
			"app.js",
		},
		{
			"an ignore file that is a directory or a link counts not", "", "",
			[]string{".ignore/x", "a\n", "a", ""},
			".ignore/x a",
		},
		{
			"a too large ignore file is empty", "", "",
			[]string{".gitignore", "a\n" + strings.Repeat("#", MaxIgnoreBytes), "a", ""},
			"a",
		},
		{
			"an ignore file of 4 MiB", "", "",
			[]string{".gitignore", "a\n" + strings.Repeat("#", MaxIgnoreBytes-2), "a", "", "b", ""},
			"b",
		},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			noUser(t)
			top := tree(t, tt.files...)
			o := WalkOptions{Root: filepath.Join(top, tt.root)}
			if tt.base != "" {
				o.Base = filepath.Join(top, tt.base)
			}
			paths := slices.DeleteFunc(walk(t, o), func(path string) bool {
				return slices.Contains(ignoreNames[:], filepath.Base(path))
			})
			require.Equal(t, tt.want, strings.Join(paths, " "))
		})
	}
}

func TestIgnoreModes(t *testing.T) {
	noUser(t)
	top := tree(t, ".git/HEAD", "", ".gitignore", "a\n", "sub/.gitignore", "b\n", "sub/a", "", "sub/b", "", "sub/c", "")
	for mode, want := range map[IgnoreMode]string{
		AllIgnores: ".gitignore c",
		BelowRoot:  ".gitignore a c",
		NoIgnores:  ".gitignore a b c",
	} {
		require.Equal(t, want, strings.Join(walk(t, WalkOptions{Root: filepath.Join(top, "sub"), Ignores: mode}), " "))
	}
}

func TestIgnoreFileOfTheUser(t *testing.T) {
	for _, tt := range []struct {
		rule string
		home []string
		want string
	}{
		{"none", nil, "a b sub/a"},
		{"the default", []string{".config/git/ignore", "/a\n"}, "b sub/a"},
		{"core.excludesFile", []string{".gitconfig", "[user]\n\tname = x\n[core]\n\texcludesFile = ~/my # comment\n", "my", "b\n", ".config/git/ignore", "/a\n"}, "a sub/a"},
		{"~/.gitconfig after the one in .config", []string{".config/git/config", "[core]\nexcludesfile=~/no\n", ".gitconfig", "[Core] ExcludesFile=\"~/my\"\n", "my", "b\n", "no", "a\n"}, "a sub/a"},
		{"another section", []string{".gitconfig", "[core \"x\"]\nexcludesFile = ~/my\n", "my", "b\n"}, "a b sub/a"},
		{"a relative value", []string{".gitconfig", "[core]\nexcludesFile = a\n"}, "a b sub/a"},
		{"an empty value", []string{".gitconfig", "[core]\nexcludesFile =\n", ".config/git/ignore", "a\n"}, "a b sub/a"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Setenv("HOME", tree(t, tt.home...))
			t.Setenv("XDG_CONFIG_HOME", "")
			root := tree(t, "a", "", "b", "", "sub/a", "")
			require.Equal(t, tt.want, strings.Join(walk(t, WalkOptions{Root: root}), " "))
		})
	}
	t.Run("$XDG_CONFIG_HOME", func(t *testing.T) {
		t.Setenv("HOME", tree(t, ".config/git/ignore", "a\n"))
		t.Setenv("XDG_CONFIG_HOME", tree(t, "git/ignore", "b\n"))
		require.Equal(t, "a", strings.Join(walk(t, WalkOptions{Root: tree(t, "a", "", "b", "")}), " "))
	})
}

func TestRelativeDirectoriesOfTheUserDoNotCount(t *testing.T) {
	t.Chdir(tree(t, ".gitconfig", "[core]\nexcludesFile=/from/gitconfig\n", "git/config", "[core]\nexcludesFile=/from/config\n"))
	config := tree(t)
	require.Equal(t, filepath.Join(config, "git", "ignore"), userIgnoreFile("", config), "not ./.gitconfig")
	require.Equal(t, filepath.Join(config, "git", "ignore"), userIgnoreFile(".", config))
	require.Empty(t, userIgnoreFile("", "."))
	require.Empty(t, userIgnoreFile("", ""))
}

func TestAnIgnoreFileThatIsALinkDoesNotCount(t *testing.T) {
	noUser(t)
	root := tree(t, "rules", "a\n", "a", "", "sub/a", "")
	for _, name := range ignoreNames {
		require.NoError(t, os.Symlink(filepath.Join(root, "rules"), filepath.Join(root, name)))
	}
	require.Equal(t, "a rules sub/a", strings.Join(walk(t, WalkOptions{Root: root}), " "))
	require.Equal(t, "a", strings.Join(walk(t, WalkOptions{Root: root + "/sub", Base: root}), " "), "above the root")
}

func TestARepositoryMayBeALink(t *testing.T) {
	noUser(t)
	for rule, target := range map[string]string{"a directory": "g", "a file": "pointer", "of a linked work tree": "g/worktrees/t"} {
		t.Run(rule, func(t *testing.T) {
			top := tree(t, ".gitignore", "a\n", "g/info/exclude", "x\n", "pointer", "gitdir: g\n", "g/worktrees/t/commondir", "../..\n", "r/sub/a", "", "r/sub/x", "", "r/sub/y", "")
			require.NoError(t, os.Symlink(filepath.Join(top, target), filepath.Join(top, "r", ".git")))
			for _, o := range []WalkOptions{{Root: top + "/r/sub", Base: top}, {Root: top + "/r"}} {
				got := strings.ReplaceAll(strings.Join(walk(t, o), " "), "sub/", "")
				require.Equal(t, "a y", got)
			}
		})
	}
}

func TestConfigSyntax(t *testing.T) {
	for config, want := range map[string]string{
		"[core]\nexcludesFile = a b  \n":             "a b",
		"[core]\nexcludesFile = \" a \" ; c\n":       " a ",
		"[core]\nexcludesFile = a\\\\b\\\"c\\tx\n":   "a\\b\"c\tx",
		"[core]\nexcludesFile = a\\\nb\n":            "ab",
		"[core]\r\nexcludesFile = a\\\r\nb\r\n":      "ab",
		"[core]\nexcludesFile = a\nexcludesFile=b":   "b",
		"[core] excludesFile=x":                      "x",
		"[ CORE ]\n EXCLUDESFILE\t=\tx":              "x",
		"[a]\n[core]\n[b]\nexcludesFile=x\n":         "",
		"[core]\n# c \\\nexcludesFile = b\n":         "b",
		"[core]\nexcludesFile=a ;\\\nexcludesFile=b": "b",
		"[core]\nexcludesFile = \"a#\\\n#b\" # c\n":  "a##b",
		"[core]\nexcludesFile = a\\\\\nother = x\n":  "a\\",
		"# [core]\nexcludesFile=x\n":                 "",
		"[core]\n#excludesFile=x\n":                  "",
		"[core]\nexcludesFile = \"a#b\"c\n":          "a#bc",
		"[core]\nother = \"[core]\"\nexcludesFile":   "",
	} {
		value, _ := excludesFile(config)
		require.Equal(t, want, value, config)
	}
}

func TestParseIgnore(t *testing.T) {
	l, err := ParseIgnore(strings.NewReader("*.log\n!keep.log\nout/\n"))
	require.NoError(t, err)
	require.Equal(t, Ignore, l.Match("x/a.log", false))
	require.Equal(t, Include, l.Match("keep.log", false))
	require.Equal(t, None, l.Match("out", false))
	require.Equal(t, Ignore, l.Match("out", true))

	l, err = ParseIgnore(strings.NewReader("a\n" + strings.Repeat("#", MaxIgnoreBytes)))
	require.NoError(t, err)
	require.Equal(t, None, l.Match("a", false), "a file that is too large counts as empty")

	broken := errors.New("broken")
	_, err = ParseIgnore(brokenReader{broken})
	require.ErrorIs(t, err, broken)
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

func TestWalkAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	noUser(t)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(name, "") // to be set again when the test is over
		require.NoError(t, os.Unsetenv(name))
	}
	r := rand.New(rand.NewPCG(41, 42))
	names := []string{"a", "b", "c", "ab", "x.log", "y.log"}
	pieces := []string{"a", "b", "*", "**", "/", "?", "[ab]", ".log", "c", "**/", "/**", "!", "x"}
	ignored := 0
	for range 8 {
		var files []string
		seen := map[string]bool{}
		for range 60 {
			var path []string
			for range r.IntN(4) {
				path = append(path, "d"+names[r.IntN(len(names))])
			}
			file := strings.Join(append(path, names[r.IntN(len(names))]), "/")
			if !seen[file] {
				seen[file] = true
				files = append(files, file, "")
			}
			if r.IntN(6) == 0 {
				rules := ""
				for range 1 + r.IntN(4) {
					rules += pick(r, pieces, 1+r.IntN(4)) + []string{"\n", "/\n", " \n"}[r.IntN(3)]
				}
				ignore := strings.Join(append(path, ".gitignore"), "/")
				files = append(files, ignore, rules)
			}
		}
		root := tree(t, files...)
		git := exec.Command("git", "-C", root, "init", "-q")
		require.NoError(t, git.Run())
		if r.IntN(2) == 0 {
			require.NoError(t, os.WriteFile(root+"/.git/info/exclude", []byte(pick(r, pieces, 3)+"\n"), 0o600))
		}
		out, err := exec.Command("git", "-C", root, "ls-files", "-z", "--others", "--exclude-standard").Output()
		require.NoError(t, err)
		want := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
		got := walk(t, WalkOptions{Root: root})
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(t, fmt.Sprintf("%q", want), fmt.Sprintf("%q", got))
		ignored += len(seen) - len(got)
	}
	require.Greater(t, ignored, 30)
}
