//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/locktest"
)

func newFile(t testing.TB) *dirlock.File {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "state"), nil)
}

func openFile(t testing.TB, dir string, clock dirlock.Clock) *dirlock.File {
	t.Helper()
	f, err := dirlock.NewFile(dirlock.FileOptions{Dir: dir, Clock: clock})
	require.NoError(t, err)
	return f
}

func newManager(t testing.TB, backend dirlock.Backend) *dirlock.Manager {
	t.Helper()
	m, err := dirlock.New(t.Context(), backend, dirlock.Options{Identify: pathOnly})
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

func TestFile(t *testing.T) {
	locktest.Run(t, func(t *testing.T) dirlock.Backend { return newFile(t) })
}

// twoFiles attaches each instance through a File of its own, as processes would.
type twoFiles struct {
	t   *testing.T
	dir string
}

func (f twoFiles) Attach(ctx context.Context) (dirlock.Session, error) {
	return openFile(f.t, f.dir, nil).Attach(ctx)
}

func TestFileWithoutWakeUps(t *testing.T) {
	locktest.Run(t, func(t *testing.T) dirlock.Backend { return twoFiles{t, filepath.Join(t.TempDir(), "state")} })
}

func generation(t *testing.T, s dirlock.Session) (n uint64) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(table *dirlock.Table) error {
		n = table.Generation()
		return nil
	}))
	return n
}

func TestScenario28IdlePollsWriteNothing(t *testing.T) {
	clock := locktest.NewClock()
	f := openFile(t, filepath.Join(t.TempDir(), "state"), clock)
	s, err := f.Attach(t.Context())
	require.NoError(t, err)
	m := newManager(t, f)
	_, err = m.LockManual(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	waits, failed := make(chan dirlock.Wait, 1), make(chan error, 1)
	go func() {
		req := request("B", "/w")
		req.OnWait = func(w dirlock.Wait) { waits <- w }
		_, err := m.LockAuto(ctx, req)
		failed <- err
	}()
	<-waits
	before := generation(t, s)
	registry := filepath.Join(f.Dir(), "registry.json")
	info, err := os.Stat(registry)
	require.NoError(t, err)
	const timers = 3 // of the waiter, and of the two sessions, that look for their loss
	for range 30 {
		clock.AwaitTimers(timers)
		clock.Advance(dirlock.PollMax)
	}
	clock.AwaitTimers(timers)
	require.Equal(t, before, generation(t, s))
	again, err := os.Stat(registry)
	require.NoError(t, err)
	require.True(t, os.SameFile(info, again))
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	require.NoError(t, s.Close(t.Context()))
}

func TestScenario28DiskFullOnRelease(t *testing.T) {
	f := newFile(t)
	m, other := newManager(t, f), newManager(t, f)
	for _, step := range []string{"before write", "before rename"} {
		g, err := m.LockAuto(t.Context(), request("A", "/w"))
		require.NoError(t, err)
		f.SetFault(func(at string) error {
			if at == step {
				return errStore
			}
			return nil
		})
		g.Release()
		_, err = m.LockManual(t.Context(), request("A", "/x"))
		require.ErrorIs(t, err, errStore)
		f.SetFault(nil)
		s, err := other.Snapshot(t.Context())
		require.NoError(t, err)
		require.Len(t, s.Held, 1, "not yet")
		next, err := m.LockAuto(t.Context(), request("A", "/x"))
		require.NoError(t, err)
		next.Release()
		g, err = other.LockAuto(t.Context(), request("B", "/w"))
		require.NoError(t, err)
		g.Release()
	}
}

func TestScenario27GarbageInTheRegistry(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for _, garbage := range []string{"", "\x00garbage", `{"version":2}`, strings.Repeat(" ", dirlock.MaxRegistryBytes+1)} {
		f := openFile(t, dir, nil)
		m, err := dirlock.New(t.Context(), f, dirlock.Options{Identify: pathOnly})
		require.NoError(t, err)
		held, err := m.LockManual(t.Context(), request("A", "/w"))
		require.NoError(t, err)
		registry := filepath.Join(dir, "registry.json")
		require.NoError(t, os.WriteFile(registry, []byte(garbage), 0o600))

		_, err = m.LockAuto(t.Context(), request("A", "/x"))
		require.ErrorIs(t, err, dirlock.ErrBackend)
		require.ErrorIs(t, err, dirlock.ErrTable)
		_, err = dirlock.New(t.Context(), openFile(t, dir, nil), dirlock.Options{})
		require.ErrorIs(t, err, dirlock.ErrBackend, "a peer lives")
		require.Error(t, m.Close(t.Context()))

		m, err = dirlock.New(t.Context(), f, dirlock.Options{Identify: pathOnly})
		require.NoError(t, err, "none does")
		again, err := m.LockManual(t.Context(), request("A", "/w"))
		require.NoError(t, err)
		require.NotEqual(t, held.Token.Epoch, again.Token.Epoch)
		bad, err := os.ReadFile(registry + ".bad")
		require.NoError(t, err)
		require.Equal(t, garbage, string(bad))
		require.NoError(t, m.Close(t.Context()))
	}
}

func TestTheStateDirectoryIsRemoved(t *testing.T) {
	f := newFile(t)
	m := newManager(t, f)
	_, err := m.LockManual(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	g, err := m.LockAuto(t.Context(), request("B", "/x"))
	require.NoError(t, err)
	ctx := g.Context()
	require.NoError(t, os.RemoveAll(f.Dir()))
	err = g.Check(t.Context())
	require.ErrorIs(t, err, dirlock.ErrLost)
	requireReason(t, err, dirlock.ReasonMissing)
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), dirlock.ErrLost)
	g.Release()

	_, err = m.LockAuto(t.Context(), request("A", "/w"))
	require.ErrorIs(t, err, dirlock.ErrLost)
	requireReason(t, err, dirlock.ReasonMissing)
	next, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	next.Release()
}

func TestTheLeaseIsRemoved(t *testing.T) {
	f := newFile(t)
	m, other := newManager(t, f), newManager(t, f)
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	entries, err := filepath.Glob(filepath.Join(f.Dir(), "instances", "*"))
	require.NoError(t, err)
	for _, path := range entries {
		require.NoError(t, os.Remove(path))
	}
	require.ErrorIs(t, g.Check(t.Context()), dirlock.ErrLost)
	g.Release()
	_, err = other.LockAuto(t.Context(), request("B", "/x"))
	require.ErrorIs(t, err, dirlock.ErrBackend)
}

func TestARegistryThatWouldBeTooLargeIsNotStored(t *testing.T) {
	f := newFile(t)
	m := newManager(t, f)
	long := "/" + strings.Repeat("x", 4000)
	var err error
	var g *dirlock.Guard
	for n := 0; err == nil; n++ {
		var dirs []string
		for i := range dirlock.MaxDirs {
			dirs = append(dirs, fmt.Sprintf("%s/%d-%d", long, n, i))
		}
		g, err = m.LockAuto(t.Context(), request("A", dirs...))
		if err == nil {
			defer g.Release()
		}
	}
	require.ErrorIs(t, err, dirlock.ErrBackend)
	info, err := os.Stat(filepath.Join(f.Dir(), "registry.json"))
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(dirlock.MaxRegistryBytes))
	_, err = os.Stat(filepath.Join(f.Dir(), "registry.json.tmp"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

var errCrash = errors.New("crash")

// TestCrashesAtAnyStep is I13: an instance dies before or after any step of a
// store. The others go on, with tables that keep the rules.
func TestCrashesAtAnyStep(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	crashes := map[string]int{}
	for range 60 {
		dir := filepath.Join(t.TempDir(), "state")
		survivor := newManager(t, openFile(t, dir, nil))
		for range 4 {
			crashed := crashSoon(t, dir, r)
			crashes[crashed]++
			// What the dead instance had is gone, whatever it was.
			g, err := survivor.LockAuto(t.Context(), request("S", "/"))
			require.NoError(t, err, crashed)
			require.NoError(t, g.Check(t.Context()))
			g.Release()
		}
		s, err := survivor.Snapshot(t.Context())
		require.NoError(t, err)
		require.Empty(t, s)
		require.NoError(t, survivor.Close(t.Context()))
		left, err := filepath.Glob(filepath.Join(dir, "instances", "*"))
		require.NoError(t, err)
		require.LessOrEqual(t, len(left), 4)
		next := newManager(t, openFile(t, dir, nil))
		left, err = filepath.Glob(filepath.Join(dir, "instances", "*"))
		require.NoError(t, err)
		require.Len(t, left, 1, "the sweep of a new instance")
		require.NoError(t, next.Close(t.Context()))
	}
	for _, step := range []string{"before write", "after write", "before rename", "after rename", "before remove", "after remove"} {
		require.NotZero(t, crashes[step], step)
	}
}

// crashSoon runs an instance until it crashes at a step, and returns that.
func crashSoon(t *testing.T, dir string, r *rand.Rand) (at string) {
	t.Helper()
	f := openFile(t, dir, nil)
	s, err := f.Attach(t.Context())
	require.NoError(t, err)
	victim, err := f.Attach(t.Context()) // has a lock, and dies first
	require.NoError(t, err)
	claim := func(s dirlock.Session, n int) error {
		return s.Update(t.Context(), func(table *dirlock.Table) (bool, error) {
			h := dirlock.Holder{Instance: s.ID(), Agent: "A"}
			c := dirlock.Claim{Holder: h, Manual: n%2 == 0, Dirs: []dirlock.Dir{{Path: "/w/" + string(rune('a'+n))}}}
			v := table.Acquire(c, 0, dirlock.Limits{MaxWaiters: 10, MaxHeld: 100})
			require.Equal(t, dirlock.Granted, v.State)
			return true, nil
		})
	}
	require.NoError(t, claim(victim, 20))
	dirlock.Die(victim)
	countdown := r.IntN(12)
	f.SetFault(func(step string) error {
		if countdown--; countdown < 0 {
			at = step
			return errCrash
		}
		return nil
	})
	for n := 0; at == "" && n < 20; n++ {
		_ = claim(s, n)
	}
	dirlock.Die(s)
	return at
}
