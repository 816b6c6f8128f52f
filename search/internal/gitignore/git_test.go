package gitignore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gitVerdicts asks git for the verdicts of ignore files, each in a directory of
// its own, on paths in it. A path that ends in a slash is a directory.
func gitVerdicts(t *testing.T, rules []string, paths [][]string) []map[string]Verdict {
	t.Helper()
	dir := t.TempDir()
	git := func(stdin string, args ...string) []byte {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "core.excludesFile=/dev/null"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
			err = nil // no path is ignored
		}
		require.NoError(t, err)
		return out
	}
	git("", "init", "-q")
	var stdin strings.Builder
	verdicts := make([]map[string]Verdict, len(rules))
	for i, text := range rules {
		verdicts[i] = make(map[string]Verdict)
		sub := fmt.Sprint("tree", i)
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, sub, ".gitignore"), []byte(text), 0o600))
		for _, path := range paths[i] {
			stdin.WriteString(sub + "/" + path + "\x00")
		}
	}
	out := git(stdin.String(), "check-ignore", "--no-index", "-z", "--stdin", "-v", "-n")
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for ; len(fields) >= 4; fields = fields[4:] {
		sub, path, _ := strings.Cut(fields[3], "/")
		i, err := strconv.Atoi(strings.TrimPrefix(sub, "tree"))
		require.NoError(t, err)
		switch pattern := fields[2]; {
		case fields[0] == "":
			verdicts[i][path] = None
		case pattern == "":
			// An empty rule matches the empty name behind the slash of a
			// directory, which no walk asks about.
		case strings.HasPrefix(pattern, "!"):
			verdicts[i][path] = Include
		default:
			verdicts[i][path] = Ignore
		}
	}
	return verdicts
}

// verdict is the answer of git check-ignore: the verdict on the path, unless a
// directory above it is ignored.
func verdict(l *List, path string) Verdict {
	path, dir := strings.CutSuffix(path, "/")
	for i := range len(path) {
		if path[i] == '/' && l.Match(path[:i], true) == Ignore {
			return Ignore
		}
	}
	return l.Match(path, dir)
}

func requireGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

func TestVerdictsAreThoseOfGit(t *testing.T) {
	requireGit(t)
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{
		"a", "b", "c", "ab", "/", "*", "**", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[[:alpha:]]", "[[:space:]]", "[[:nope:]]",
		"[[:]", "[a", "[a\\]]", "[\\a-c]", "[--0]", "[+-a]", "\\", "\\*", "\\a", " ", "\t", "#", "!", "{a,b}", "é", "\xff", "**/", "/**", "/**/", "x.log", "*.log", "[[:punct:]-a]", "[a-", "-",
	}
	names := []string{"a", "b", "c", "ab", "abc", "aab", "x.log", " ", "a ", "b\t", "#", "!a", "[a", "*", "\\", "{a,b}", "é", "-", "]", "a-b", ".", "a\xff", "A", "^"}
	var texts []string
	var asked [][]string
	for range 200 {
		var rules strings.Builder
		for range 1 + r.IntN(6) {
			for range 1 + r.IntN(5) {
				rules.WriteString(pieces[r.IntN(len(pieces))])
			}
			rules.WriteString([]string{"\n", "\n", "\n", "\r\n", " \n", "/\n", "\r\r\n"}[r.IntN(7)])
		}
		text := rules.String()
		if r.IntN(4) == 0 {
			text = strings.TrimRight(text, "\r\n")
		}
		if r.IntN(10) == 0 {
			text = "\ufeff" + text
		}
		var paths []string
		for range 120 {
			var elements []string
			for range 1 + r.IntN(4) {
				name := names[r.IntN(len(names))]
				if name == "." {
					name = "..."
				}
				elements = append(elements, name)
			}
			path := strings.Join(elements, "/")
			if r.IntN(4) == 0 {
				path += "/"
			}
			paths = append(paths, path)
		}
		texts = append(texts, text)
		asked = append(asked, paths)
	}
	checked := 0
	for i, verdicts := range gitVerdicts(t, texts, asked) {
		list := Parse([]byte(texts[i]))
		for path, want := range verdicts {
			got := verdict(list, path)
			if got != want && (got == Ignore) == (want == Ignore) && strings.Contains(path, "/") {
				continue // git names the rule of a directory above
			}
			if got != want && strings.HasSuffix(path, "/") && list.Match(path, true) == want {
				continue // git also asks about the path with its slash, as no walk does
			}
			require.Equal(t, want, got, "rules %q, path %q", texts[i], path)
			checked++
		}
	}
	require.Greater(t, checked, 10_000)
}

func TestNastyRules(t *testing.T) {
	for _, tt := range []struct {
		rule, rules, path string
		want              Verdict
	}{
		{"a comment", "#a\n", "#a", None},
		{"an escaped comment", "\\#a\n", "#a", Ignore},
		{"an escaped exclamation mark", "\\!a\n", "!a", Ignore},
		{"the last line that matches", "*.log\n!b.log\n", "b.log", Include},
		{"trailing spaces", "a  \n", "a", Ignore},
		{"an escaped trailing space", "a\\ \n", "a ", Ignore},
		{"a trailing tab stays", "a\t\n", "a", None},
		{"CR before LF", "a\r\n", "a", Ignore},
		{"CR before the end", "a\r", "a", Ignore},
		{"byte order mark", "\ufeffa\n", "a", Ignore},
		{"a slash at the start anchors", "/a\n", "b/a", None},
		{"a slash in the middle anchors", "a/b\n", "c/a/b", None},
		{"no slash: at any depth", "b\n", "c/a/b", Ignore},
		{"a trailing slash: directories", "a/\n", "a", None},
		{"a trailing slash: directories, at any depth", "a/\n", "b/a/", Ignore},
		{"* stops at a slash", "a/*\n", "a/b/c", None},
		{"? is no slash", "a?b/c\n", "a/b/c", None},
		{"a class is no slash", "a[/]b/c\n", "a/b/c", None},
		{"**/ is also nothing", "**/b\n", "b", Ignore},
		{"/**/ is also nothing", "a/**/b\n", "a/b", Ignore},
		{"/**/ is many", "a/**/b\n", "a/x/y/b", Ignore},
		{"/** is what is below", "a/**\n", "a", None},
		{"/** is all that is below", "a/**\n", "a/b/c", Ignore},
		{"other ** is *", "a**c/d\n", "abc/d", Ignore},
		{"other ** stops at a slash", "x/a**c\n", "x/a/c", None},
		{"the text before is compared by itself", "a**/b\n", "ab", Ignore},
		{"braces are literal", "{a,b}\n", "a", None},
		{"an unfinished class", "[a\n", "[a", None},
		{"a trailing backslash", "a\\\n", "a\\", None},
		{"bytes, not runes", "?\n", "é", None},
		{"two bytes", "??\n", "é", Ignore},
		{"NUL ends a line", "a\x00b\n", "a", Ignore},
		{"nothing", "\n\r\n!\n/\n//\n", "a", None},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			path, dir := strings.CutSuffix(tt.path, "/")
			require.Equal(t, tt.want, Parse([]byte(tt.rules)).Match(path, dir))
		})
	}
}

func TestMatchingTimeIsBounded(t *testing.T) {
	for _, pattern := range []string{
		strings.Repeat("*a", 2000) + "b",
		strings.Repeat("**/a/", 1000) + "b",
		"x" + strings.Repeat("/**/*a*", 1000) + "/b",
	} {
		l := Parse([]byte(pattern))
		require.False(t, l.Empty())
		path := "x/" + strings.Repeat("a/", 1000) + strings.Repeat("a", 1000)
		require.Equal(t, None, l.Match(path, false)) // within the time of the test
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("*.log\n!a.log\n/b/**/c\n[a-c]?\\*\n"), "b/x/c")
	f.Add([]byte("[[:alpha:]-z]\n**"), "a")
	f.Fuzz(func(t *testing.T, rules []byte, path string) {
		l := Parse(rules)
		l.Match(path, false)
		// A later line that matches everything decides.
		all := Parse(append(bytes.Clone(rules), "\n!*\n"...))
		if path != "" && !strings.Contains(path, "/") {
			require.Equal(t, Include, all.Match(path, false), fmt.Sprintf("%q %q", rules, path))
		}
	})
}
