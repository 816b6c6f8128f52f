package etcdlock

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/taukit/taukit/dirlock"
)

func TestOptions(t *testing.T) {
	root := t.TempDir()
	good := Options{Root: root, Scope: "x"}
	with := func(change func(*Options)) Options {
		opts := good
		change(&opts)
		return opts
	}
	for name, opts := range map[string]Options{
		"no scope":         with(func(o *Options) { o.Scope = "" }),
		"a scope in one":   with(func(o *Options) { o.Scope = "x/inst" }),
		"a long scope":     with(func(o *Options) { o.Scope = strings.Repeat("x", MaxScopeBytes+1) }),
		"no root":          with(func(o *Options) { o.Root = "" }),
		"a relative root":  with(func(o *Options) { o.Root = "." }),
		"a root not there": with(func(o *Options) { o.Root = filepath.Join(root, "x") }),
		"a short TTL":      with(func(o *Options) { o.TTL = 4 * time.Second }),
		"an odd TTL":       with(func(o *Options) { o.TTL = 5500 * time.Millisecond }),
		"a negative TTL":   with(func(o *Options) { o.TTL = -1 }),
	} {
		_, err := New(&clientv3.Client{}, opts)
		require.ErrorContains(t, err, "etcdlock: ", name)
	}
	b, err := New(&clientv3.Client{}, good)
	require.NoError(t, err)
	require.Equal(t, DefaultTTL, b.ttl)
	_, err = New(nil, good)
	require.Error(t, err)
	_, err = New(&clientv3.Client{}, with(func(o *Options) { o.Root = filepath.Join(root, "x") }))
	require.ErrorIs(t, err, &dirlock.Error{Code: dirlock.CodeNotFound})
}
