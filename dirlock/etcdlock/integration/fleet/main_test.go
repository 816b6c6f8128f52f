package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test binary is the program of the agents, too.
func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) == "" {
		os.Exit(m.Run())
	}
	if err := work(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestFleet(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	var out strings.Builder
	require.NoError(t, fleet(t.Context(), &out))
	t.Log("\n" + out.String())
	require.Contains(t, out.String(), "carol has the lock, and is killed\n")
	require.Contains(t, out.String(), "10 entries, none lost\n")
}

// TestVerifyFindsWhatIsLost: it would tell.
func TestVerifyFindsWhatIsLost(t *testing.T) {
	path := t.TempDir() + "/ledger"
	for text, want := range map[string]string{
		"1 alice\n2 bob\nEND\n":          "",
		"1 alice\nEND\n":                 `entry "2 bob" is lost`,
		"1 alice\n2 bob\n2 carol\nEND\n": `entry 3 is "2 carol"`,
		"1 alice\n2 bob\n":               `the last line is "2 bob"`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		o := &observer{out: &strings.Builder{}, entries: map[string]bool{"2 bob": true}}
		err := o.verify(path)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}
