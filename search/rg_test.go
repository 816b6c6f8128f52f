package search

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGrepAgreesWithRipgrep compares files and lines on trees of ASCII with line
// ends of LF, about which both programs have the same rules.
func TestGrepAgreesWithRipgrep(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("rg is not installed")
	}
	noUser(t)
	r := rand.New(rand.NewPCG(61, 62))
	names := []string{"a", "b", "x.log", "y.txt", ".hidden", "z.go"}
	rules := []string{"*.log\n", "a\n", "!a\n", "d/\n", "/x.log\n", "**/b\n", "d/**\n", "!*.txt\n", "*\n", "y.*\n"}
	words := []string{"needle", "func", "err", "foo", "bar42", "(", ".", " ", "x1"}
	patterns := []string{"needle", "^func", `\berr\b`, "foo|bar", `[a-z]+\d+`, "x", `\w+ \w+`, "(?i)NEEDLE", "err$", `fo{2}.*e`}
	total := 0
	for range 6 {
		var files []string
		for range 25 {
			dir := []string{"", "d/", "e/", "d/e/", "e/d/", ".h/"}[r.IntN(6)]
			if r.IntN(6) == 0 {
				name := []string{".gitignore", ".ignore", ".rgignore"}[r.IntN(3)]
				files = append(files, dir+name, pick(r, rules, 1+r.IntN(3)))
				continue
			}
			text := ""
			for range r.IntN(12) {
				text += pick(r, words, r.IntN(6)) + "\n"
			}
			files = append(files, dir+names[r.IntN(len(names))], text)
		}
		root := tree(t, files...)
		for _, pattern := range patterns {
			out, _ := exec.Command(rg, "--hidden", "--no-require-git", "--no-config", "--glob=!.git", "--no-heading", "--line-number", "--null", "--color=never", "-e", pattern, root).Output()
			var want []string
			for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
				if line != "" {
					want = append(want, strings.TrimPrefix(strings.ReplaceAll(line, "\x00", ":"), root+"/"))
				}
			}
			var got []string
			o := GrepOptions{WalkOptions: WalkOptions{Root: root}, Pattern: mustCompile(t, pattern)}
			for m, err := range Grep(t.Context(), o) {
				require.NoError(t, err)
				for _, l := range m.Lines {
					got = append(got, fmt.Sprintf("%s:%d:%s", m.Path, l.Number, l.Text))
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, want, got, pattern)
			total += len(got)
		}
	}
	require.Greater(t, total, 300)
}
