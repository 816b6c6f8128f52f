package integration_test

import (
	"testing"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/etcdlock"
)

// BenchmarkLock is an automatic lock that nobody else wants: taken, checked,
// released. The server syncs nothing to disk.
func BenchmarkLock(b *testing.B) {
	m, err := dirlock.New(b.Context(), newBackend(b, connect(b, shared.Addr()), etcdlock.Options{}), dirlock.Options{Identify: pathOnly})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g, err := m.LockAuto(b.Context(), request("A", "/w"))
		if err != nil {
			b.Fatal(err)
		}
		if err := g.Check(b.Context()); err != nil {
			b.Fatal(err)
		}
		g.Release()
	}
	if err := m.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
