//go:build unix

package dirlock_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
)

func TestOverlap(t *testing.T) {
	for _, tt := range []struct {
		a, b    string
		overlap bool
	}{
		{"/w/a", "/w/a", true},
		{"/w", "/w/a", true},
		{"/w/a/b/c", "/w/a", true},
		{"/", "/w", true},
		{"/", "/", true},
		{"/w/a", "/w/ab", false},
		{"/w/a", "/w/b", false},
		{"/w/a/c", "/w/b/c", false},
		{"/W", "/w", false},
	} {
		require.Equal(t, tt.overlap, dirlock.Overlap(tt.a, tt.b), "%v", tt)
		require.Equal(t, tt.overlap, dirlock.Overlap(tt.b, tt.a), "%v", tt)
	}
	require.True(t, dirlock.Covers("/w", "/w/a"))
	require.False(t, dirlock.Covers("/w/a", "/w"))
}

func TestNormalize(t *testing.T) {
	for _, tt := range []struct{ in, want []string }{
		{nil, nil},
		{[]string{"/b"}, []string{"/b"}},
		{[]string{"/b/c", "/z", "/a", "/b/c"}, []string{"/a", "/z", "/b/c"}},
		{[]string{"/a/b", "/a", "/a/b/c", "/ab"}, []string{"/a", "/ab"}},
		{[]string{"/a", "/", "/b/c"}, []string{"/"}},
		{[]string{"/a-b", "/a/b"}, []string{"/a-b", "/a/b"}},
	} {
		require.Equal(t, tt.want, dirlock.Normalize(tt.in))
	}
}

func TestNormalizeOfVeryMany(t *testing.T) {
	var dirs []string
	for n := range dirlock.MaxDirs {
		dirs = append(dirs, fmt.Sprintf("/w/a/d%d/e", n))
	}
	require.Len(t, dirlock.Normalize(dirs), dirlock.MaxDirs)
	require.Equal(t, []string{"/w"}, dirlock.Normalize(append(dirs, "/w/b")))
	require.Equal(t, []string{"/"}, dirlock.Normalize(append(dirs, "/x")))
}

// TestNormalizeKeepsWhatOverlaps is I10.
func TestNormalizeKeepsWhatOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	path := func() string {
		p := ""
		for range 1 + r.IntN(4) {
			p += "/" + []string{"a", "b", "ab", "a-"}[r.IntN(4)]
		}
		return p
	}
	for range 2000 {
		var dirs []string
		for range r.IntN(12) {
			dirs = append(dirs, path())
		}
		before := slices.Clone(dirs)
		got := dirlock.Normalize(dirs)
		require.Equal(t, before, dirs)
		require.Equal(t, got, dirlock.Normalize(got))
		r.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
		require.Equal(t, got, dirlock.Normalize(dirs))
		for range 10 {
			p := path()
			overlaps := func(d string) bool { return dirlock.Overlap(d, p) }
			require.Equal(t, slices.ContainsFunc(dirs, overlaps), slices.ContainsFunc(got, overlaps))
			covers := func(d string) bool { return dirlock.Covers(d, p) }
			require.Equal(t, slices.ContainsFunc(dirs, covers), slices.ContainsFunc(got, covers))
		}
	}
}

// FuzzOverlap compares Overlap with a comparison of components.
func FuzzOverlap(f *testing.F) {
	f.Add("/w/a", "/w/ab")
	f.Add("/", "/x")
	f.Add("", "x")
	f.Add("/w/a/b", "/w/a")
	f.Fuzz(func(t *testing.T, a, b string) {
		overlap := dirlock.Overlap(a, b)
		require.Equal(t, overlap, dirlock.Overlap(b, a))
		if a == "" || b == "" || filepath.Clean("/"+a) != a || filepath.Clean("/"+b) != b {
			return
		}
		split := func(s string) []string {
			return strings.FieldsFunc(s, func(r rune) bool { return r == '/' })
		}
		as, bs := split(a), split(b)
		n := min(len(as), len(bs))
		require.Equal(t, slices.Equal(as[:n], bs[:n]), overlap)
		for _, dir := range dirlock.Normalize([]string{a, b, a}) {
			require.Contains(t, []string{a, b}, dir)
		}
	})
}
