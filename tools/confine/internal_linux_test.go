package confine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestLayers(t *testing.T) {
	ro := func(path string) layer { return layer{path, true} }
	rw := func(path string) layer { return layer{path, false} }
	tests := []struct {
		name               string
		readOnly, writable []string
		want               []layer
	}{
		{"none", nil, nil, []layer{}},
		{"writable alone changes nothing", nil, []string{"/a"}, []layer{}},
		{"one in another", []string{"/a/b", "/a"}, nil, []layer{ro("/a")}},
		{"a name that begins alike", []string{"/a", "/a-b", "/ab"}, nil, []layer{ro("/a"), ro("/a-b"), ro("/ab")}},
		{"twice", []string{"/a", "/a"}, nil, []layer{ro("/a")}},
		{"both", []string{"/a"}, []string{"/a"}, []layer{ro("/a")}},
		{"three deep", []string{"/a/b/c", "/a"}, []string{"/a/b"}, []layer{ro("/a"), rw("/a/b"), ro("/a/b/c")}},
		{"root", []string{"/", "/a"}, []string{"/b"}, []layer{ro("/"), rw("/b")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, layers(test.readOnly, test.writable))
		})
	}
}

func TestParseMount(t *testing.T) {
	m, ok := parseMount(`36 35 98:0 /a\040b /mnt\012\011\134x rw,noatime master:1 shared:2 - ext3 /dev/root rw` + "\n")
	require.True(t, ok)
	require.Equal(t, mount{36, "98:0", "ext3", "/a b", "/mnt\n\t\\x"}, m)
	m, ok = parseMount("36 35 0:5 / / rw - tmpfs\\040x none rw")
	require.True(t, ok)
	require.Equal(t, "/", m.root)
	for _, line := range []string{"", "36 35 98:0 / / rw", "x 35 98:0 / / rw - a b c", "36 35 - a b"} {
		_, ok := parseMount(line)
		require.False(t, ok, line)
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add(`\040`)
	f.Add(`\`)
	f.Add(`\777\04`)
	f.Fuzz(func(t *testing.T, s string) {
		require.LessOrEqual(t, len(unescape(s)), len(s))
	})
}

func TestOrderRoundTrip(t *testing.T) {
	for _, o := range []order{
		{argv: []string{}, env: []string{}},
		{
			layers: []layer{{"/a b\n", true}, {"/c", false}}, dir: "/d", path: "sh",
			argv: []string{"", "x\xff", ""}, env: []string{"A=", "B=\n"},
		},
	} {
		data, err := encode(o)
		require.NoError(t, err)
		got, ok := parseOrder(data)
		require.True(t, ok)
		require.Equal(t, o, got)
	}
	_, err := encode(order{argv: []string{"a\x00b"}})
	require.ErrorIs(t, err, unix.EINVAL)
}

func FuzzParseOrder(f *testing.F) {
	f.Add([]byte("1\x00true\x00/a\x00/d\x00sh\x001\x00sh\x00A=1"))
	f.Add([]byte("9\x00"))
	f.Add([]byte("0\x00\x00\x00-1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, ok := parseOrder(data); ok {
			require.LessOrEqual(t, len(o.argv)+len(o.env), len(data)+1)
		}
	})
}

func TestReportRoundTrip(t *testing.T) {
	r := report{op: "mount", dir: "/a\n", errno: unix.EPERM}
	got, ok := parseReport(r.encode())
	require.True(t, ok)
	require.Equal(t, r, got)
	_, ok = parseReport(nil)
	require.False(t, ok)
}
