//go:build linux || darwin

package proc

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/shellrec"
)

// On a busy machine, the window for output may be over before anybody has looked
// at an end-of-file that was there in time (R12).
func TestAnEndThatCameInTimeIsSeen(t *testing.T) {
	for name, open := range map[string]bool{"at end": false, "held open": true} {
		t.Run(name, func(t *testing.T) {
			out, ends, err := openOutputs(os.Pipe)
			require.NoError(t, err)
			defer ends.close()
			bell, err := newBell()
			require.NoError(t, err)
			got := ""
			tree := &tree{
				c:     Command{Output: func(_ shellrec.Stream, p []byte) { got += string(p) }},
				out:   out,
				bell:  bell,
				buf:   make([]byte, readSize),
				state: ended,
				until: time.Now().Add(-time.Second),
			}
			defer tree.close()
			_, err = ends[shellrec.Stdout].WriteString("x")
			require.NoError(t, err)
			out[shellrec.Stdout].owed = 1
			if !open {
				ends.close()
			}
			for !tree.over() {
				tree.turn()
			}
			require.Equal(t, open, tree.open())
			require.Equal(t, "x", got)
		})
	}
}
