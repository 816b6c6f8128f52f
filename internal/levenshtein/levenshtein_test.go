package levenshtein

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"target_fiel", "target_file", 2}, {"é", "e", 1}, {"日本", "日本語", 1},
	} {
		require.Equal(t, tt.want, distance([]rune(tt.a), []rune(tt.b)))
		require.Equal(t, tt.want, distance([]rune(tt.b), []rune(tt.a)))
	}
}

func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"makefiel", []string{"makefile", "readme"}, "makefile"},
		{"aa", []string{"ab", "ac"}, ""},
		{"aa", []string{"ab", "ac", "aa"}, "aa"},
		{"main.go", []string{"README.md"}, ""},
		{"x", nil, ""},
		{"abcdefghi", []string{"abcdefxyz"}, "abcdefxyz"},
		{"abcdefgh", []string{"abcdexyz"}, ""},
	} {
		got, ok := Nearest(tt.name, tt.candidates)
		require.Equal(t, tt.want != "", ok)
		if ok {
			require.Equal(t, tt.want, got)
		}
	}
}
