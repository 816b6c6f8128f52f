package discovery

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func FuzzParseSkill(f *testing.F) {
	for _, s := range []string{
		"---\nname: build\ndescription: How to build\n---\nbody\n", "---\n---", "---\ndescription: |\n  a\n  b\ntags: [a, b]\n---\n",
		"---\na: &a [*a]\ndescription: *a\n---\n", "---\n{description: d, x: [1\n]}\n---\n", "---\n? a\n: b\n---\n", "---\ndescription: d\nx:\n\n\n  - y\n...\n---\n", "---\r\n\ufeff---",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSkill(data[:min(len(data), MaxFrontMatterBytes+1)], "fallback")
		if err != nil {
			require.Zero(t, s)
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, len(err.Error()), 400)
			return
		}
		require.Regexp(t, `^[a-z0-9-]+$`, s.Name)
		require.NotEmpty(t, strings.TrimSpace(s.Description))
		for k, v := range s.Fields() {
			require.NotContains(t, []string{"name", "description"}, k)
			require.LessOrEqual(t, len(v), 3*MaxFrontMatterBytes)
			require.True(t, utf8.ValidString(v) || len(v) > 0)
		}
	})
}
