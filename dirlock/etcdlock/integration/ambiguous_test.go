package integration_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/etcdlock"
)

// attach returns a session that is closed when the test ends.
func attach(t *testing.T, b dirlock.Backend) dirlock.Session {
	t.Helper()
	s, err := b.Attach(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })
	return s
}

// acquire returns a change of the table that takes a lock for a session.
func acquire(s dirlock.Session) func(*dirlock.Table) (bool, error) {
	return func(t *dirlock.Table) (bool, error) {
		c := dirlock.Claim{Holder: dirlock.Holder{Instance: s.ID(), Agent: "A"}, Manual: true, Dirs: []dirlock.Dir{{Path: "/w"}}}
		v := t.Acquire(c, 0, dirlock.Limits{MaxWaiters: 10, MaxHeld: 10})
		return v.State == dirlock.Granted, nil
	}
}

// held returns how many locks there are, by what another session sees.
func held(t *testing.T, s dirlock.Session) (n int) {
	t.Helper()
	require.NoError(t, s.View(context.Background(), func(table *dirlock.Table) error {
		n = len(table.Snapshot(0).Held)
		return nil
	}))
	return n
}

// TestAmbiguousChange loses a request, or an answer to it, in all ways. A change
// of which Update says that it was not stored never is; one that was stored is not
// made twice.
func TestAmbiguousChange(t *testing.T) {
	background := context.Background()
	var late commit // a request that is still on its way
	faults := map[string]func(*faultyKV, func()){
		"a request is lost": func(kv *faultyKV, then func()) {
			kv.Once(storing, func(context.Context, int, commit) (*clientv3.TxnResponse, error) {
				then()
				return nil, errBroken
			})
		},
		"a request is late": func(kv *faultyKV, then func()) {
			kv.Once(storing, func(_ context.Context, _ int, commit commit) (*clientv3.TxnResponse, error) {
				then()
				late = commit
				return nil, errBroken
			})
		},
		"a request comes while it is settled": func(kv *faultyKV, then func()) {
			kv.Set(func(ctx context.Context, kind int, commit commit) (*clientv3.TxnResponse, error) {
				switch {
				case kind == storing && late == nil:
					then()
					late = commit
					return nil, errBroken
				case kind == settling:
					_, _ = late(background)
				}
				return commit(ctx)
			})
		},
		"an answer is lost": func(kv *faultyKV, then func()) {
			kv.Once(storing, func(_ context.Context, _ int, commit commit) (*clientv3.TxnResponse, error) {
				_, _ = commit(background)
				then()
				return nil, errBroken
			})
		},
		"an answer is lost, and then what settles it": func(kv *faultyKV, then func()) {
			lost := 0
			kv.Set(func(ctx context.Context, kind int, commit commit) (*clientv3.TxnResponse, error) {
				if kind == reading || lost == 5 {
					return commit(ctx)
				}
				lost++
				if lost%2 == 1 {
					_, _ = commit(background)
				}
				then()
				return nil, errBroken
			})
		},
		"a request is lost, and then answers that settle it": func(kv *faultyKV, then func()) {
			lost := 0
			kv.Set(func(ctx context.Context, kind int, commit commit) (*clientv3.TxnResponse, error) {
				if kind == reading || lost == 5 {
					return commit(ctx)
				}
				if lost++; lost > 1 {
					_, _ = commit(background)
				}
				then()
				return nil, errBroken
			})
		},
		"no answer comes": func(kv *faultyKV, then func()) {
			kv.Once(storing, func(ctx context.Context, _ int, commit commit) (*clientv3.TxnResponse, error) {
				_, _ = commit(background)
				then()
				<-ctx.Done()
				return nil, ctx.Err()
			})
		},
		"others write after an answer is lost": func(kv *faultyKV, then func()) {
			kv.Once(storing, func(_ context.Context, _ int, commit commit) (*clientv3.TxnResponse, error) {
				_, _ = commit(background)
				other := attach(t, newBackend(t, connect(t, shared.Addr()), etcdlock.Options{Scope: t.Name(), TTL: etcdlock.MinTTL}))
				require.NoError(t, other.Update(background, func(*dirlock.Table) (bool, error) { return true, nil }))
				then()
				return nil, errBroken
			})
		},
	}
	client := connect(t, shared.Addr())
	kv := &faultyKV{KV: client.KV}
	client.KV = kv
	observer := connect(t, shared.Addr())
	cause := errors.New("changed my mind")
	for name, arrange := range faults {
		for _, cancelled := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				opts := etcdlock.Options{Scope: t.Name()[len("TestAmbiguousChange/"):], TTL: etcdlock.MinTTL}
				if name == "others write after an answer is lost" {
					opts.Scope = "TestAmbiguousChange"
				}
				s, other := attach(t, newBackend(t, client, opts)), attach(t, newBackend(t, observer, opts))
				t.Cleanup(func() { kv.Set(nil) })
				ctx, cancel := context.WithCancelCause(t.Context())
				late = nil
				arrange(kv, func() {
					if cancelled {
						cancel(cause)
					}
				})
				err := s.Update(ctx, acquire(s))
				if late != nil {
					resp, lateErr := late(background)
					require.NoError(t, lateErr)
					require.False(t, resp.Succeeded, "it has been made impossible")
				}
				if err == nil {
					require.Equal(t, 1, held(t, other))
				} else {
					require.True(t, cancelled)
					require.ErrorIs(t, err, cause)
					require.Zero(t, held(t, other))
				}
				require.NoError(t, s.Err(), "the session goes on")
				require.NoError(t, s.Renew(t.Context()))
			})
		}
	}
}

// TestUnsettledChange is of one that nobody can tell about: the session is lost
// rather than wrong.
func TestUnsettledChange(t *testing.T) {
	for name, answer := range map[string]error{
		"nobody answers":     errBroken,
		"the server refuses": rpctypes.ErrNoSpace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := connect(t, shared.Addr())
			kv := &faultyKV{KV: client.KV}
			client.KV = kv
			s := attach(t, newBackend(t, client, etcdlock.Options{TTL: etcdlock.MinTTL}))
			kv.Set(func(ctx context.Context, kind int, commit commit) (*clientv3.TxnResponse, error) {
				switch kind {
				case storing:
					return nil, errBroken
				case settling:
					return nil, answer
				}
				return commit(ctx)
			})
			began := time.Now()
			err := s.Update(t.Context(), acquire(s))
			require.Less(t, time.Since(began), etcdlock.MinTTL+2*time.Second)
			var e *dirlock.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, dirlock.CodeLost, e.Code)
			require.Equal(t, dirlock.ReasonUnreachable, e.Reason)
			<-s.Lost()
			require.ErrorIs(t, s.Renew(t.Context()), dirlock.ErrLost)
		})
	}
}

// TestConnectionBreaksBeforeTheAnswer is the same by way of a real connection:
// the request gets to the server, and nothing comes back.
func TestConnectionBreaksBeforeTheAnswer(t *testing.T) {
	p := newProxy(t, shared.Addr())
	opts := etcdlock.Options{Scope: newScope(t)}
	s := attach(t, newBackend(t, connect(t, p.Addr()), opts))
	observer := connect(t, shared.Addr())
	stored := observer.Watch(t.Context(), "taukit/dirlock/v1/"+opts.Scope+"/table")
	calls := 0
	change := acquire(s)
	done := make(chan error)
	go func() {
		done <- s.Update(t.Context(), func(table *dirlock.Table) (bool, error) {
			calls++
			p.Mute() // after it was read, and before it is stored
			return change(table)
		})
	}()
	<-stored
	p.Restore()
	require.NoError(t, <-done)
	require.Equal(t, 1, calls)
	require.Equal(t, 1, held(t, attach(t, newBackend(t, observer, opts))))
}

// TestConnectionBreaksBeforeTheRequest: nothing gets to the server, at first.
func TestConnectionBreaksBeforeTheRequest(t *testing.T) {
	p := newProxy(t, shared.Addr())
	opts := etcdlock.Options{Scope: newScope(t)}
	s := attach(t, newBackend(t, connect(t, p.Addr()), opts))
	var once sync.Once
	change := acquire(s)
	require.NoError(t, s.Update(t.Context(), func(table *dirlock.Table) (bool, error) {
		once.Do(func() {
			p.Cut()
			time.AfterFunc(50*time.Millisecond, p.Restore)
		})
		return change(table)
	}))
	require.Equal(t, 1, held(t, attach(t, newBackend(t, connect(t, shared.Addr()), opts))))
}

// TestCrashAtEveryStep is I13: an instance dies before or after any transaction.
// Its lease ends, and then others get what it may have had.
func TestCrashAtEveryStep(t *testing.T) {
	client := connect(t, shared.Addr())
	kv, lease := &faultyKV{KV: client.KV}, &countedLease{Lease: client.Lease}
	client.KV, client.Lease = kv, lease
	observer := connect(t, shared.Addr())
	for _, step := range []int{reading, storing, settling} {
		for _, after := range []bool{false, true} {
			opts := etcdlock.Options{Scope: newScope(t)}
			kv.Set(nil)
			s, err := newBackend(t, client, opts).Attach(t.Context())
			require.NoError(t, err)
			other := attach(t, newBackend(t, observer, opts))
			ctx, cancel := context.WithCancel(t.Context())
			dead := false
			kv.Set(func(ctx context.Context, kind int, commit commit) (*clientv3.TxnResponse, error) {
				switch {
				case dead:
					return nil, errBroken
				case kind == step:
					dead = true
					if after {
						_, _ = commit(ctx)
					}
					cancel()
				case kind == storing: // of which the answer is lost, so that it is settled
					_, _ = commit(ctx)
				default:
					return commit(ctx)
				}
				return nil, errBroken
			})
			died := make(chan error)
			go func() { died <- s.Update(ctx, acquire(s)) }()
			<-ctx.Done()
			_, err = observer.Revoke(t.Context(), lease.granted)
			require.NoError(t, err)
			require.NoError(t, other.Update(t.Context(), acquire(other)), "step %d, after: %v", step, after)
			require.Equal(t, 1, held(t, other))
			kv.Set(nil)
			require.Error(t, <-died)
			require.NoError(t, s.Close(t.Context()))
		}
	}
}

// TestRefusedRelease is R33: what the server refuses to release is released with
// the next change.
func TestRefusedRelease(t *testing.T) {
	client := connect(t, shared.Addr())
	kv := &faultyKV{KV: client.KV}
	client.KV = kv
	opts := etcdlock.Options{Scope: newScope(t)}
	m := newManager(t, newBackend(t, client, opts))
	g := lock(t, m, "A", "/w")
	refusals := 0
	kv.Once(storing, func(context.Context, int, commit) (*clientv3.TxnResponse, error) {
		refusals++
		return nil, rpctypes.ErrNoSpace
	})
	g.Release()
	require.Equal(t, 1, refusals)
	other := attach(t, newBackend(t, connect(t, shared.Addr()), opts))
	require.Equal(t, 1, held(t, other))
	lock(t, m, "B", "/x").Release()
	require.Zero(t, held(t, other))
}
