package dirlock_test

import (
	"testing"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/locktest"
)

func TestMemory(t *testing.T) {
	locktest.Run(t, func(*testing.T) dirlock.Backend { return dirlock.NewMemory() })
}
