package illformed

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
)

// replace is the loop that every user of Len writes.
func replace(s string) string {
	var out []byte
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = Len(s)
			out = append(out, Replacement...)
		} else {
			out = append(out, s[:n]...)
		}
		s = s[n:]
	}
	return string(out)
}

func TestLenByMaximalSubpart(t *testing.T) {
	for in, want := range map[string]string{
		"\xff\xfe":         "\ufffd\ufffd",
		"\xe2\x82A":        "\ufffdA",
		"\xe2\x82":         "\ufffd",
		"\xf0\x9f\x98":     "\ufffd",
		"\xf0\x9f\x98A":    "\ufffdA",
		"\xf0\x80\x80":     "\ufffd\ufffd\ufffd",
		"\xed\xa0\x80":     "\ufffd\ufffd\ufffd",
		"\xc0\xaf":         "\ufffd\ufffd",
		"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		"\xe2\xe2\x82\xac": "\ufffd€",
		"\x80":             "\ufffd",
		"\xc2":             "\ufffd",
		"\ufffd":           "\ufffd",
	} {
		require.Equal(t, want, replace(in), "%x", in)
	}
}

func TestIncomplete(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a": 0, "€": 0, "a\xe2": 1, "a\xe2\x82": 2, "\xf0\x9f\x98": 3,
		"\xe2\xff": 0, "\xed\xa0": 0, "\x80\x80\x80": 0, "\xf5": 0, "\xc2": 1, "\xf0\x9f\x98\x80": 0,
	} {
		require.Equal(t, want, Incomplete(in), "%x", in)
	}
}

// FuzzLen compares with the decoder of golang.org/x/text, an independent
// implementation of the same practice.
func FuzzLen(f *testing.F) {
	f.Add("a\xffb")
	f.Add("\xe2\x82\xf0\x9f\x98\xed\xa0\x80\xc0\xaf")
	f.Fuzz(func(t *testing.T, s string) {
		want, err := unicode.UTF8.NewDecoder().String(s)
		require.NoError(t, err)
		require.Equal(t, want, replace(s))

		n := Incomplete(s)
		require.True(t, n == 0 || Len(s[len(s)-n:]) == n)
	})
}
