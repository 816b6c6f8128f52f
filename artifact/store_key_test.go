package artifact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

const helloKey = "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

func TestKeys(t *testing.T) {
	key := artifact.KeyOf([]byte("hello\n"))
	require.EqualValues(t, helloKey, key)
	require.Equal(t, "<tau-artifact:"+helloKey+">", key.Reference())
	h := artifact.NewHasher()
	_, _ = h.Write([]byte("hel"))
	_, _ = h.Write([]byte("lo\n"))
	require.Equal(t, key, h.Key())
	require.Equal(t, "<tau-artifact:"+helloKey+"> (mime_type: image/png)", artifact.Mention(key, "image/png"))
	require.Equal(t, key.Reference(), artifact.Mention(key, ""))
}

func TestK1OnlyTheTwoExactFormsParse(t *testing.T) {
	for _, s := range []string{helloKey, "<tau-artifact:" + helloKey + ">"} {
		key, err := artifact.ParseReference(s)
		require.NoError(t, err)
		require.EqualValues(t, helloKey, key)
	}
	_, err := artifact.ParseKey("<tau-artifact:" + helloKey + ">")
	require.ErrorIs(t, err, artifact.ErrReference)
	for _, s := range []string{
		"", " ", "sha256:", "sha256:abc", "<tau-artifact:>", helloKey + "0", helloKey[:70],
		strings.ToUpper(helloKey), "sha256:" + strings.ToUpper(helloKey[7:]), " " + helloKey, helloKey + " ", helloKey + "\n",
		"<tau-artifact:" + helloKey, helloKey + ">", "tau-artifact:" + helloKey + ">",
		"<tau-artifact:<tau-artifact:" + helloKey + ">>", "<tau-artifact: " + helloKey + ">",
		"sha1:" + helloKey[7:], "sha512:" + helloKey[7:], helloKey[7:], "/etc/passwd", "sha256:" + strings.Repeat("\u0660", 32),
		"sha256:" + strings.Repeat("../", 21) + "a",
	} {
		key, err := artifact.ParseReference(s)
		require.ErrorIs(t, err, artifact.ErrReference, "%q", s)
		require.Empty(t, key)
	}
}

func FuzzParseReference(f *testing.F) {
	for _, s := range []string{helloKey, "<tau-artifact:" + helloKey + ">", "sha256:abc", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := artifact.ParseReference(s)
		if err != nil {
			require.Empty(t, key)
			require.ErrorIs(t, err, artifact.ErrReference)
		} else {
			require.True(t, s == string(key) || s == key.Reference())
		}
		key = artifact.KeyOf([]byte(s))
		for _, form := range []string{string(key), key.Reference()} {
			got, err := artifact.ParseReference(form)
			require.NoError(t, err)
			require.Equal(t, key, got)
		}
	})
}

func TestI5Suffix(t *testing.T) {
	for _, tt := range []struct{ filename, mediaType, want string }{
		{"report", "application/pdf", "-report.pdf"},
		{"report.final", "application/pdf", "-report.final"},
		{"../../etc/passwd", "", "-passwd"},
		{"a b\nc.txt", "", "-a_b_c.txt"},
		{"...", "image/png", ".png"},
		{"", "IMAGE/PNG; x=1", ".png"},
		{`C:\tmp\x.PNG`, "", "-x.PNG"},
		{"résumé.pdf", "", "-r_sum_.pdf"},
		{"-rf", "", "-rf"},
		{"dir/", "", ""},
		{"x", "foo/bar", "-x"},
		{"", "", ""},
		{"../../x.sh", "", "-x.sh"},
		{"x", " image/jpeg ;q", "-x.jpg"},
		{strings.Repeat("n", 10_000), "application/json", "-" + strings.Repeat("n", 100) + ".json"},
		{strings.Repeat("é", 99) + "x", "", "-x"},
		{strings.Repeat("é", 100) + "x", "text/csv", ".csv"},
		{"photo\u202egpj.exe", "", "-photo_gpj.exe"}, // right-to-left override
		{"a\x00b\x1b[31m\x7f", "", "-a_b__31m"},
		{"CON", "", "-CON"},
		{"nul.txt", "", "-nul.txt"},
		{"COM1.", "", "-COM1"},
		{"aux:stream", "", "-aux_stream"},
		{"\xff\xfe", "", ""},
		{"a\xffb", "", "-a_b"},
		{"..", "", ""},
		{".bashrc", "", "-bashrc"},
		{"~", "", ""},
		{"$(id)`;", "", "-id"},
		{"*", "text/plain", ".txt"},
	} {
		require.Equal(t, tt.want, artifact.SuggestSuffix(tt.filename, tt.mediaType), "%q %q", tt.filename, tt.mediaType)
	}
}

func FuzzSuggestSuffix(f *testing.F) {
	f.Add("report", "application/pdf")
	f.Add("../../etc/passwd", "")
	f.Add("\u202e...\xff", "image/png; x")
	f.Fuzz(func(t *testing.T, filename, mediaType string) {
		suffix := artifact.SuggestSuffix(filename, mediaType)
		require.Equal(t, suffix, artifact.SuggestSuffix(filename, mediaType))
		require.LessOrEqual(t, len(suffix), 1+artifact.MaxSuffixChars+1+4)
		require.Empty(t, strings.Trim(suffix, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"))
		if suffix != "" {
			require.Contains(t, "-.", suffix[:1])
			require.NotContains(t, "-._", suffix[len(suffix)-1:])
			require.NotContains(t, "-._", suffix[1:2])
		}
	})
}

func TestX5X6Hints(t *testing.T) {
	for _, tt := range []struct {
		path, declared string
		want           artifact.Hints
	}{
		{"hello.txt", "", artifact.Hints{Filename: "hello.txt", MediaType: "text/plain"}},
		{"d/data.bin", "", artifact.Hints{Filename: "data.bin"}},
		{"a.png", " application/x-thing ", artifact.Hints{Filename: "a.png", MediaType: "application/x-thing"}},
		{"A.JPEG", " \t", artifact.Hints{Filename: "A.JPEG", MediaType: "image/jpeg"}},
		{"d/", "", artifact.Hints{}},
		{".", "", artifact.Hints{}},
		{"d/..", "", artifact.Hints{}},
		{"a\nsize: 9.txt", "", artifact.Hints{Filename: "a\nsize: 9.txt", MediaType: "text/plain"}},
		{"\xff.png", "", artifact.Hints{MediaType: "image/png"}},
		{"x.tar.ZIP", "", artifact.Hints{Filename: "x.tar.ZIP", MediaType: "application/zip"}},
		{".svg", "", artifact.Hints{Filename: ".svg", MediaType: "image/svg+xml"}},
		{"x.html/y", "", artifact.Hints{Filename: "y"}},
		{strings.Repeat("é", 200), strings.Repeat("t", 300), artifact.Hints{Filename: strings.Repeat("é", 127), MediaType: strings.Repeat("t", 255)}},
	} {
		require.Equal(t, tt.want, artifact.HintsOf(tt.path, tt.declared), "%q", tt.path)
	}
	for ext, want := range map[string]string{
		"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "svg": "image/svg+xml",
		"pdf": "application/pdf", "json": "application/json", "txt": "text/plain", "html": "text/html", "csv": "text/csv", "zip": "application/zip",
		"exe": "", "": "", "PNG": "image/png",
	} {
		require.Equal(t, want, artifact.MediaTypeByName("d.gif/x."+ext), ext)
	}
	require.Empty(t, artifact.MediaTypeByName("png"))
}

func FuzzHintsOf(f *testing.F) {
	f.Add("a/b.png", " x ")
	f.Fuzz(func(t *testing.T, path, declared string) {
		h := artifact.HintsOf(path, declared)
		require.LessOrEqual(t, len(h.Filename), artifact.MaxHintBytes)
		require.LessOrEqual(t, len(h.MediaType), artifact.MaxHintBytes)
		require.True(t, utf8.ValidString(h.Filename))
		require.True(t, strings.Contains(path, h.Filename))
		require.NotContains(t, h.Filename, "/")
		if utf8.ValidString(declared) {
			require.True(t, utf8.ValidString(h.MediaType))
		}
	})
}
