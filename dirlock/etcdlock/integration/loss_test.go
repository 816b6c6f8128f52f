package integration_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/etcdlock"
	"github.com/taukit/taukit/dirlock/etcdlock/integration/internal/embedded"
	"github.com/taukit/taukit/dirlock/locktest"
)

// pathOnly is how paths are identified that need not be there.
func pathOnly(dir string) dirlock.Dir { return dirlock.Dir{Path: dir} }

func newManager(t *testing.T, b dirlock.Backend) *dirlock.Manager {
	t.Helper()
	m, err := dirlock.New(t.Context(), b, dirlock.Options{Identify: pathOnly})
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

func request(agent dirlock.Owner, dirs ...string) dirlock.Request {
	return dirlock.Request{Owner: agent, Dirs: dirs}
}

func lock(t *testing.T, m *dirlock.Manager, agent dirlock.Owner, dirs ...string) *dirlock.Guard {
	t.Helper()
	g, err := m.LockAuto(t.Context(), request(agent, dirs...))
	require.NoError(t, err)
	return g
}

// lockLater makes a request that has to wait, and returns what it will get.
func lockLater(t *testing.T, m *dirlock.Manager, agent dirlock.Owner, dirs ...string) <-chan *dirlock.Guard {
	t.Helper()
	waits, granted := make(chan struct{}), make(chan *dirlock.Guard, 1)
	req := request(agent, dirs...)
	req.OnWait = func(dirlock.Wait) { close(waits) }
	go func() {
		g, err := m.LockAuto(t.Context(), req)
		if err != nil {
			t.Errorf("%s waited in vain: %v", agent, err)
			g = &dirlock.Guard{}
		}
		granted <- g
	}()
	select {
	case <-waits:
	case <-granted:
		t.Fatalf("%s did not wait", agent)
	}
	return granted
}

func requireLost(t *testing.T, err error, reason string) {
	t.Helper()
	var e *dirlock.Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, dirlock.ErrLost)
	require.Equal(t, reason, e.Reason)
}

// TestScenario31ACutConnection: who is cut off has lost its locks before others
// get them.
func TestScenario31ACutConnection(t *testing.T) {
	for name, cut := range map[string]func(*proxy){"ended": (*proxy).Cut, "silent": (*proxy).Silence} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const ttl = etcdlock.MinTTL
			p := newProxy(t, shared.Addr())
			opts := etcdlock.Options{Scope: newScope(t), TTL: ttl}
			a := newManager(t, newBackend(t, connect(t, p.Addr()), opts))
			b := newManager(t, newBackend(t, connect(t, shared.Addr()), opts))
			_, err := a.LockManual(t.Context(), request("A", "/m"))
			require.NoError(t, err)
			g := lock(t, a, "A", "/w")
			waiting := lockLater(t, b, "B", "/w/x")

			began := time.Now()
			cut(p)
			<-g.Context().Done()
			require.Less(t, time.Since(began), ttl-etcdlock.MinMargin+time.Second, "a slow machine is no failure")
			requireLost(t, context.Cause(g.Context()), dirlock.ReasonExpired)
			requireLost(t, g.Check(t.Context()), dirlock.ReasonExpired)
			select {
			case <-waiting:
				t.Fatal("B got it before A has lost it")
			default:
			}
			other := <-waiting
			t.Logf("granted after %v", time.Since(began))
			require.Equal(t, g.Token().Epoch, other.Token().Epoch)
			require.Greater(t, other.Token().Number, g.Token().Number)
			require.NoError(t, other.Check(t.Context()))
			other.Release()
			g.Release()

			p.Restore() // A goes on as a new instance, without its manual lock
			_, err = a.LockAuto(t.Context(), request("A", "/m/x"))
			requireLost(t, err, dirlock.ReasonExpired)
			lock(t, a, "A", "/m/x").Release()
			require.Zero(t, len(snapshot(t, b).Held))
		})
	}
}

func snapshot(t *testing.T, m *dirlock.Manager) dirlock.Snapshot {
	t.Helper()
	s, err := m.Snapshot(t.Context())
	require.NoError(t, err)
	return s
}

// A toldWatcher tells of each watch that the server has begun.
type toldWatcher struct {
	clientv3.Watcher
	begun chan struct{}
}

func watched(client *clientv3.Client) <-chan struct{} {
	w := &toldWatcher{client.Watcher, make(chan struct{}, 100)}
	client.Watcher = w
	return w.begun
}

func (w *toldWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	c := w.Watcher.Watch(ctx, key, opts...)
	w.begun <- struct{}{}
	return c
}

// TestACutThatHeals loses nothing.
func TestACutThatHeals(t *testing.T) {
	p := newProxy(t, shared.Addr())
	opts := etcdlock.Options{Scope: newScope(t)}
	client := connect(t, p.Addr())
	watch := watched(client)
	a := newManager(t, newBackend(t, client, opts))
	b := newManager(t, newBackend(t, connect(t, shared.Addr()), opts))
	g := lock(t, b, "B", "/w")
	waiting := lockLater(t, a, "A", "/w")
	<-watch
	held := lock(t, a, "A", "/x")
	p.Cut()
	g.Release() // which A cannot see yet
	p.Restore()
	(<-waiting).Release()
	require.NoError(t, held.Check(t.Context()))
	held.Release()
}

// TestScenario33RestartOfTheServer: within the TTL nothing is lost, and who waits
// goes on.
func TestScenario33RestartOfTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, err := embedded.Start(t.Context(), dir)
	require.NoError(t, err)
	p := newProxy(t, server.Addr())
	opts := etcdlock.Options{Scope: newScope(t)}
	a := newManager(t, newBackend(t, connect(t, p.Addr()), opts))
	client := connect(t, p.Addr())
	watch := watched(client)
	b := newManager(t, newBackend(t, client, opts))
	g := lock(t, a, "A", "/w")
	waiting := lockLater(t, b, "B", "/w")
	<-watch

	began := time.Now()
	p.Cut() // else it would wait for the watch to end
	server.Stop()
	server, err = embedded.Start(t.Context(), dir)
	require.NoError(t, err)
	defer server.Stop()
	p.RestoreTo(server.Addr())
	t.Logf("restarted in %v", time.Since(began))

	require.NoError(t, g.Check(t.Context()))
	require.NoError(t, g.Context().Err())
	g.Release()
	other := <-waiting
	require.Greater(t, other.Token().Number, g.Token().Number)
	other.Release()
	require.NoError(t, a.Close(t.Context()))
	require.NoError(t, b.Close(t.Context()))
}

// TestScenario33CompactionUnderAWatch: what the watch has missed is gone, so it
// looks at the table.
func TestScenario33CompactionUnderAWatch(t *testing.T) {
	p := newProxy(t, shared.Addr())
	opts := etcdlock.Options{Scope: newScope(t)}
	direct := connect(t, shared.Addr())
	a := newManager(t, newBackend(t, direct, opts))
	client := connect(t, p.Addr())
	watch := watched(client)
	b := newManager(t, newBackend(t, client, opts))
	g := lock(t, a, "A", "/w")
	waiting := lockLater(t, b, "B", "/w")
	<-watch
	p.Cut()
	g.Release()
	lock(t, a, "A", "/x").Release()
	got, err := direct.Get(t.Context(), "any")
	require.NoError(t, err)
	_, err = direct.Compact(t.Context(), got.Header.Revision)
	require.NoError(t, err)
	p.Restore()
	(<-waiting).Release()
}

// TestScenario33RacingInstances: of many that want to change the table at once,
// each does so once.
func TestScenario33RacingInstances(t *testing.T) {
	const instances, rounds = 8, 5
	opts := etcdlock.Options{Scope: newScope(t)}
	clients := []*clientv3.Client{connect(t, shared.Addr()), connect(t, shared.Addr())}
	counter, last := 0, uint64(0) // not protected by anything else
	var all sync.WaitGroup
	for n := range instances {
		m := newManager(t, newBackend(t, clients[n%2], opts))
		all.Go(func() {
			for range rounds {
				g, err := m.LockAuto(t.Context(), request("A", "/w"))
				if err != nil {
					t.Error(err)
					return
				}
				if number := g.Token().Number; number <= last {
					t.Errorf("token %d after %d", number, last)
				} else {
					last = number
				}
				counter++
				g.Release()
			}
		})
	}
	all.Wait()
	require.Equal(t, instances*rounds, counter)
}

// TestScenario34WallClockAhead: by the wall clock the lease is over, by the
// monotonic clock it is not. Check asks the server.
func TestScenario34WallClockAhead(t *testing.T) {
	clock := locktest.NewClock()
	client := connect(t, shared.Addr())
	renewals := &countedLease{Lease: client.Lease}
	client.Lease = renewals
	b := newBackend(t, client, etcdlock.Options{Clock: clock})
	m, err := dirlock.New(t.Context(), b, dirlock.Options{Identify: pathOnly, Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	g := lock(t, m, "A", "/w")
	require.NoError(t, g.Check(t.Context()))
	require.Zero(t, renewals.count)
	clock.SetWall(time.Hour)
	require.NoError(t, g.Check(t.Context()))
	require.Equal(t, 1, renewals.count)
	require.NoError(t, g.Check(t.Context()), "and now it is known")
	require.Equal(t, 1, renewals.count)

	clock.SetWall(time.Hour)
	_, err = client.Revoke(t.Context(), renewals.granted) // while it slept
	require.NoError(t, err)
	requireLost(t, g.Check(t.Context()), dirlock.ReasonExpired)
	<-g.Context().Done()
	g.Release()
	lock(t, m, "A", "/w").Release()
}

type countedLease struct {
	clientv3.Lease
	granted clientv3.LeaseID
	count   int
}

func (l *countedLease) Grant(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	resp, err := l.Lease.Grant(ctx, ttl)
	if err == nil {
		l.granted = resp.ID
	}
	return resp, err
}

func (l *countedLease) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	l.count++
	return l.Lease.KeepAliveOnce(ctx, id)
}

// TestRemovedInstance: somebody has removed the key of an instance.
func TestRemovedInstance(t *testing.T) {
	client := connect(t, shared.Addr())
	opts := etcdlock.Options{Scope: newScope(t)}
	a, b := newManager(t, newBackend(t, client, opts)), newManager(t, newBackend(t, client, opts))
	g := lock(t, a, "A", "/w")
	waiting := lockLater(t, b, "B", "/w")
	id := snapshot(t, a).Held[0].Instance
	_, err := client.Delete(t.Context(), "taukit/dirlock/v1/"+opts.Scope+"/inst/"+id)
	require.NoError(t, err)
	(<-waiting).Release() // at once
	requireLost(t, g.Check(t.Context()), dirlock.ReasonMissing)
	g.Release()
	lock(t, a, "A", "/w").Release()
}

// TestRemovedTable: somebody has removed the table. The locks are lost, no token
// comes again, and no number in the new table is taken for one of the old.
func TestRemovedTable(t *testing.T) {
	client := connect(t, shared.Addr())
	opts := etcdlock.Options{Scope: newScope(t)}
	a, b := newManager(t, newBackend(t, client, opts)), newManager(t, newBackend(t, client, opts))
	g := lock(t, a, "A", "/w")
	_, err := client.Delete(t.Context(), "taukit/dirlock/v1/"+opts.Scope+"/table")
	require.NoError(t, err)
	requireLost(t, g.Check(t.Context()), dirlock.ReasonMissing)
	other := lock(t, b, "B", "/w")
	require.NotEqual(t, g.Token().Epoch, other.Token().Epoch)
	g.Release()
	require.NoError(t, other.Check(t.Context()))
	other.Release()
}

// TestGarbageInTheTable fails closed, until somebody removes it.
func TestGarbageInTheTable(t *testing.T) {
	client := connect(t, shared.Addr())
	opts := etcdlock.Options{Scope: newScope(t)}
	key := "taukit/dirlock/v1/" + opts.Scope + "/table"
	m := newManager(t, newBackend(t, client, opts))
	for _, garbage := range []string{"", "\x00\xff", "{}", `{"version":2}`} {
		_, err := client.Put(t.Context(), key, garbage)
		require.NoError(t, err)
		_, err = m.LockAuto(t.Context(), request("A", "/w"))
		require.ErrorIs(t, err, dirlock.ErrBackend)
		require.ErrorIs(t, err, dirlock.ErrTable)
		require.ErrorContains(t, err, key)
		got, err := client.Get(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, garbage, string(got.Kvs[0].Value))
	}
	_, err := client.Delete(t.Context(), key)
	require.NoError(t, err)
	lock(t, m, "A", "/w").Release()
}

// TestTableThatIsTooLarge: nothing is stored of it.
func TestTableThatIsTooLarge(t *testing.T) {
	m := newManager(t, newBackend(t, connect(t, shared.Addr()), etcdlock.Options{}))
	long := make([]byte, dirlock.MaxPathBytes-4)
	for i := range long {
		long[i] = 'x'
	}
	var dirs []string
	for i := range dirlock.MaxDirs {
		dirs = append(dirs, "/"+string(rune('a'+i/26))+string(rune('a'+i%26))+string(long))
	}
	lock(t, m, "A", dirs[:100]...).Release()
	_, err := m.LockAuto(t.Context(), request("A", dirs...))
	require.ErrorIs(t, err, dirlock.ErrBackend)
	require.Empty(t, snapshot(t, m).Held)
}

// TestOutsideTheRoot: what is not in the tree cannot be locked.
func TestOutsideTheRoot(t *testing.T) {
	m := newManager(t, newBackend(t, connect(t, shared.Addr()), etcdlock.Options{Root: t.TempDir()}))
	_, err := m.LockAuto(t.Context(), request("A", "/"))
	require.ErrorIs(t, err, dirlock.ErrBackend)
	require.ErrorContains(t, err, "outside the shared root")
	require.Empty(t, snapshot(t, m).Held)
}

// TestTwoRoots: hosts that have the tree elsewhere lock the same directories.
func TestTwoRoots(t *testing.T) {
	client := connect(t, shared.Addr())
	opts := etcdlock.Options{Scope: newScope(t), Root: t.TempDir()}
	a := newManager(t, newBackend(t, client, opts))
	first := lock(t, a, "A", opts.Root+"/x")
	here := opts.Root
	opts.Root = t.TempDir()
	b := newManager(t, newBackend(t, client, opts))
	lock(t, b, "B", opts.Root+"/y").Release()
	waiting := lockLater(t, b, "B", opts.Root+"/x/deeper")
	require.Equal(t, []string{here + "/x/deeper"}, snapshot(t, a).Waiting[0].Dirs)
	first.Release()
	(<-waiting).Release()
}

// TestCloseWithoutAServer does not take long, and ends what there is.
func TestCloseWithoutAServer(t *testing.T) {
	p := newProxy(t, shared.Addr())
	s, err := newBackend(t, connect(t, p.Addr()), etcdlock.Options{}).Attach(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), acquire(s)))
	p.Silence()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	require.ErrorIs(t, s.Close(ctx), context.DeadlineExceeded)
	require.Less(t, time.Since(began), etcdlock.CloseTimeout)
	require.NoError(t, s.Close(t.Context()), "it is over already")
	require.Error(t, s.Update(t.Context(), acquire(s)))
	require.NoError(t, s.Err(), "which is no loss")
}

// TestCloseEndsAllGoroutines of sessions; those of the client are the caller's.
func TestCloseEndsAllGoroutines(t *testing.T) {
	client := connect(t, shared.Addr())
	_, err := client.Get(t.Context(), "any")
	require.NoError(t, err)
	before := goleak.IgnoreCurrent()
	opts := etcdlock.Options{Scope: newScope(t)}
	a, b := newManager(t, newBackend(t, client, opts)), newManager(t, newBackend(t, client, opts))
	g := lock(t, a, "A", "/w")
	waiting := lockLater(t, b, "B", "/w")
	g.Release()
	(<-waiting).Release()
	require.NoError(t, a.Close(t.Context()))
	require.NoError(t, b.Close(t.Context()))
	goleak.VerifyNone(t, before)
	left, err := client.Get(t.Context(), "taukit/dirlock/v1/"+opts.Scope+"/inst/", clientv3.WithPrefix())
	require.NoError(t, err)
	require.Empty(t, left.Kvs)
}
