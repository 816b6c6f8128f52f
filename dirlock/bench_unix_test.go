//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/internal/ratio"
)

const pairs = 100 // of lock and unlock, in one measurement

// BenchmarkMemory takes and releases a lock on a directory that nobody else uses,
// relative to a mutex around an insertion into a map and a deletion ("x-base").
func BenchmarkMemory(b *testing.B) {
	for _, load := range loads {
		b.Run(fmt.Sprintf("held=%d,waiters=%d,owners=%d", load.held, load.waiters, load.owners), func(b *testing.B) {
			m := loaded(b, dirlock.NewMemory(), load, nil)
			dir, err := dirlock.Canonical(b.TempDir(), ".")
			require.NoError(b, err)
			benchLock(b, m, dir, load.held)
		})
	}
}

// BenchmarkTable is BenchmarkMemory without the calls to the system that find the
// identities of directories.
func BenchmarkTable(b *testing.B) {
	paths := func(dir string) dirlock.Dir { return dirlock.Dir{Path: dir} }
	for _, load := range loads {
		b.Run(fmt.Sprintf("held=%d,waiters=%d,owners=%d", load.held, load.waiters, load.owners), func(b *testing.B) {
			m := loaded(b, dirlock.NewMemory(), load, paths)
			benchLock(b, m, "/work/project/pkg", load.held)
		})
	}
}

// A load is what else is in a table: locks, waiters, and how many of these own a
// lock.
type load struct{ held, waiters, owners int }

var loads = []load{{0, 0, 0}, {100, 10, 0}, {10_000, 1000, 0}, {10_000, 1000, 1}, {10_000, 1000, 1000}}

// loaded returns a Manager with a load elsewhere.
func loaded(b *testing.B, backend dirlock.Backend, l load, identify func(string) dirlock.Dir) *dirlock.Manager {
	m, err := dirlock.New(b.Context(), backend, dirlock.Options{MaxHeld: l.held + l.owners + 10, MaxWaiters: l.waiters + 10, Identify: identify})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, m.Close(context.Background())) })
	for n := range l.owners {
		req := dirlock.Request{Owner: dirlock.Owner(fmt.Sprint("waiter", n)), Dirs: []string{fmt.Sprint("/work/own/", n)}}
		_, err := m.LockManual(b.Context(), req)
		require.NoError(b, err)
	}
	for n := range l.held {
		req := dirlock.Request{Owner: "holder", Dirs: []string{fmt.Sprintf("/work/held/d%d/e%d", n%100, n)}}
		_, err := m.LockManual(b.Context(), req)
		require.NoError(b, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all, queued sync.WaitGroup
	b.Cleanup(func() {
		cancel()
		all.Wait()
	})
	queued.Add(l.waiters)
	for n := range l.waiters {
		req := dirlock.Request{Owner: dirlock.Owner(fmt.Sprint("waiter", n)), Dirs: []string{fmt.Sprintf("/work/held/d%d", n%100)}}
		req.OnWait = func(dirlock.Wait) { queued.Done() }
		all.Go(func() { _, _ = m.LockAuto(ctx, req) })
	}
	queued.Wait()
	return m
}

func benchLock(b *testing.B, m *dirlock.Manager, dir string, held int) {
	ctx := b.Context()
	req := dirlock.Request{Owner: "bench", Dirs: []string{dir}}
	var mu sync.Mutex
	set := map[string]int{}
	for n := range held {
		set[fmt.Sprintf("/work/held/d%d/e%d", n%100, n)] = n
	}
	ratio.Run(b, func() {
		for range pairs {
			mu.Lock()
			set[dir] = 1
			mu.Unlock()
			mu.Lock()
			delete(set, dir)
			mu.Unlock()
		}
	}, func() {
		for range pairs {
			g, err := m.LockAuto(ctx, req)
			if err != nil {
				b.Fatal(err)
			}
			g.Release()
		}
	})
}

// BenchmarkFile takes and releases a lock in a registry with other locks,
// relative to what cannot be avoided for that: twice the lock of a file, reading
// a file of the size of the registry, writing one, and a rename ("x-base").
func BenchmarkFile(b *testing.B) {
	for _, held := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("held=%d", held), func(b *testing.B) {
			backend, err := dirlock.NewFile(dirlock.FileOptions{Dir: filepath.Join(b.TempDir(), "state")})
			require.NoError(b, err)
			m := loaded(b, backend, load{held: held}, nil)
			dir, err := dirlock.Canonical(b.TempDir(), ".")
			require.NoError(b, err)
			info, err := os.Stat(filepath.Join(backend.Dir(), "registry.json"))
			require.NoError(b, err)
			size := int(info.Size())
			bare := filepath.Join(b.TempDir(), "bare")
			require.NoError(b, os.WriteFile(bare, make([]byte, size), 0o600))
			b.ReportMetric(float64(size), "registry-bytes")
			req := dirlock.Request{Owner: "bench", Dirs: []string{dir}}
			ratio.Run(b, func() {
				bareUpdate(b, bare, size)
				bareUpdate(b, bare, size)
			}, func() {
				g, err := m.LockAuto(b.Context(), req)
				if err != nil {
					b.Fatal(err)
				}
				g.Release()
			})
		})
	}
}

func bareUpdate(b *testing.B, path string, size int) {
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err == nil {
		err = os.WriteFile(path+".tmp", data[:size], 0o600)
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		b.Fatal(err)
	}
	lock.Close()
}
