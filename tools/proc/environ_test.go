package proc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/tools/proc"
)

func TestEnviron(t *testing.T) {
	base := []string{"A=1", "B=2", "A=3", "AWS_KEY=x", "AWS=y", "C=", "bad", "", "D=a=b"}
	for _, tt := range []struct {
		name string
		set  map[string]string
		drop []string
		want []string
	}{
		{"the last counts", nil, nil, []string{"A=3", "AWS=y", "AWS_KEY=x", "B=2", "C=", "D=a=b"}},
		{"names and prefixes are dropped", nil, []string{"B", "AWS_*", "X*"}, []string{"A=3", "AWS=y", "C=", "D=a=b"}},
		{"all are dropped", map[string]string{"E": "1"}, []string{"*"}, []string{"E=1"}},
		{"set comes after drop", map[string]string{"A": "9", "AWS_KEY": "z"}, []string{"AWS*"}, []string{"A=9", "AWS_KEY=z", "B=2", "C=", "D=a=b"}},
		{"empty removes", map[string]string{"A": "", "C": "", "none": ""}, nil, []string{"AWS=y", "AWS_KEY=x", "B=2", "D=a=b"}},
	} {
		require.Equal(t, tt.want, proc.Environ(base, tt.set, tt.drop), tt.name)
	}
}

func TestLookup(t *testing.T) {
	env := []string{"A=1", "A=2", "B="}
	value, ok := proc.Lookup(env, "A")
	require.True(t, ok)
	require.Equal(t, "2", value)
	value, ok = proc.Lookup(env, "B")
	require.True(t, ok)
	require.Empty(t, value)
	_, ok = proc.Lookup(env, "C")
	require.False(t, ok)
}

// FuzzEnviron checks that each name is there once, with the value that counts.
func FuzzEnviron(f *testing.F) {
	f.Add("A=1\nB=2\nA=3", "A", "", "B*")
	f.Add("=C:=x\n==\nx", "", "v", "*")
	f.Fuzz(func(t *testing.T, base, name, value, drop string) {
		if strings.ContainsAny(name, "=\n") || name == "" {
			return
		}
		env := proc.Environ(strings.Split(base, "\n"), map[string]string{name: value}, []string{drop})
		require.True(t, slices.IsSorted(names(t, env)))
		require.Len(t, slices.Compact(names(t, env)), len(env))
		got, ok := proc.Lookup(env, name)
		require.Equal(t, value != "", ok)
		require.Equal(t, value, got)
		require.Equal(t, env, proc.Environ(env, nil, nil))
	})
}

func names(t *testing.T, env []string) (list []string) {
	t.Helper()
	for _, entry := range env {
		i := strings.Index(entry[1:], "=")
		require.GreaterOrEqual(t, i, 0)
		list = append(list, entry[:1+i])
	}
	return list
}
