package integration_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/taukit/taukit/dirlock/etcdlock"
	"github.com/taukit/taukit/dirlock/etcdlock/integration/internal/embedded"
)

// shared is the server of all tests that do not harm theirs. Each has a scope of
// its own.
var shared *embedded.Server

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "etcdlock-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		shared, err = embedded.Start(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code = m.Run()
	shared.Stop()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// connect returns a client that is closed when the test ends.
func connect(t testing.TB, addr string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

var scopes atomic.Int64

// newScope returns a name that no other test has.
func newScope(t testing.TB) string {
	return fmt.Sprintf("%s %d", strings.ReplaceAll(t.Name(), "/", " "), scopes.Add(1))
}

func newBackend(t testing.TB, client *clientv3.Client, opts etcdlock.Options) *etcdlock.Backend {
	t.Helper()
	if opts.Root == "" {
		opts.Root = "/"
	}
	if opts.Scope == "" {
		opts.Scope = newScope(t)
	}
	b, err := etcdlock.New(client, opts)
	require.NoError(t, err)
	return b
}
