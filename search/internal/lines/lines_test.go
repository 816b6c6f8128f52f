package lines

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/lineio"
)

func check(t testing.TB, data []byte) {
	t.Helper()
	text := New(data)
	at := 0
	starts := []int{0}
	for l := range lineio.Lines(data) {
		require.Equal(t, at, text.Start(at, 0))
		end := text.End(at)
		require.Equal(t, string(l.Text), string(data[at:end]), "%q", data)
		require.Equal(t, end, End(data, at))
		for i := at; i <= end && i < len(data); i++ {
			require.Equal(t, at, text.Start(i, 0), "%q %d", data, i)
			require.Equal(t, at, text.Start(i, at))
			require.Equal(t, end, text.End(i))
		}
		next := text.After(end)
		require.Equal(t, at+len(l.Text)+len(l.End.Bytes()), next)
		for k, start := range starts {
			want := len(starts) - 1 - k
			require.Equal(t, want, text.Count(start, at))
			if l.End != lineio.None {
				require.Equal(t, want+1, text.Count(start, next))
			}
		}
		if at = next; at < len(data) {
			starts = append(starts, at)
		}
	}
	require.Equal(t, len(data), at)

	// Whatever follows, what is before Last is lines of their own.
	last := Last(data)
	for _, follows := range []string{"", "\n", "x", "\r"} {
		longer := append(data[:len(data):len(data)], follows...)
		require.True(t, last == len(longer) || last == 0 || New(longer).Start(last, 0) == last && (longer[last] != '\n' || longer[last-1] != '\r'), "%q", longer)
	}
	if rest := data[last:]; len(rest) > 0 {
		require.Less(t, End(rest, 0), len(rest)+1)
		require.True(t, End(rest, 0) >= len(rest)-1, "a complete line is left: %q", rest)
	}
}

func TestLinesAreThoseOfLineio(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		data := make([]byte, r.IntN(12))
		for i := range data {
			data[i] = "a\n\r"[r.IntN(3)]
		}
		check(t, data)
	}
	long := make([]byte, 3000)
	for i := range long {
		long[i] = 'a'
	}
	long[2990] = '\r'
	check(t, long)
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\n\n\r\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 200 {
			check(t, data)
		}
	})
}
