package integration_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/etcdlock"
	"github.com/taukit/taukit/dirlock/locktest"
)

// TestScenario30EveryScenario runs what every backend must pass, with two clients
// of one server.
func TestScenario30EveryScenario(t *testing.T) {
	t.Parallel() // to the tests that wait for a lease to end
	first, second := connect(t, shared.Addr()), connect(t, shared.Addr())
	locktest.Run(t, func(t *testing.T) dirlock.Backend {
		opts := etcdlock.Options{Scope: newScope(t)}
		return &alternating{backends: []dirlock.Backend{newBackend(t, first, opts), newBackend(t, second, opts)}}
	})
}

// alternating attaches to one backend after the other.
type alternating struct {
	backends []dirlock.Backend
	attached atomic.Int64
}

func (a *alternating) Attach(ctx context.Context) (dirlock.Session, error) {
	n := int(a.attached.Add(1))
	s, err := a.backends[n%len(a.backends)].Attach(ctx)
	return timeless{s}, err
}

// timeless is a session whose lease the clock of the scenarios does not concern:
// they let hours pass in no time, and the server does not.
type timeless struct{ dirlock.Session }

func (timeless) ValidUntil() time.Time { return time.Now().Add(1000 * time.Hour) }
