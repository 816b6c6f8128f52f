package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/taukit/taukit/dirlock"
)

var (
	errClosed   = errors.New("the session is closed")
	errConflict = errors.New("other instances have changed the table in the meantime")
)

// session is an instance of a [Backend].
type session struct {
	*Backend
	id      string
	key     string // of the instance
	lease   clientv3.LeaseID
	created int64         // the revision of the key
	attempt time.Duration // for one question to the server

	life context.Context // ends with the session, with the reason as its cause
	end  context.CancelCauseFunc
	lost chan struct{}
	done chan struct{} // closed when keepAlive has returned

	turn    chan struct{} // holds a value while a change is under way; with it:
	updates uint64        // changes that were stored

	mu    sync.Mutex
	valid validity
	table int64 // the revision at which the table was created; 0 if that is not known
	err   error // of the loss
}

func newSession(b *Backend, lease clientv3.LeaseID, v validity) *session {
	s := &session{
		Backend: b,
		id:      newID(),
		lease:   lease,
		attempt: v.ttl / 3,
		lost:    make(chan struct{}),
		done:    make(chan struct{}),
		turn:    make(chan struct{}, 1),
		valid:   v,
	}
	s.key = b.instKeys + s.id
	s.life, s.end = context.WithCancelCause(context.Background())
	return s
}

func (s *session) ID() string { return s.id }

// Stamp is the wall clock: it is all that hosts share. See [dirlock.Watch].
func (s *session) Stamp(t time.Time) int64 { return t.UnixMilli() }

func (s *session) Lost() <-chan struct{} { return s.lost }

func (s *session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// lose ends the session, unless it has ended, and returns why it has.
func (s *session) lose(reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() == nil {
		s.err = &dirlock.Error{Code: dirlock.CodeLost, Msg: dirlock.ErrLost.Msg, Reason: reason}
		s.end(s.err)
		close(s.lost)
	}
	return context.Cause(s.life)
}

// View looks at one revision of the table, which it does not store: what
// instances have left that are dead is only removed from what view sees.
func (s *session) View(ctx context.Context, view func(*dirlock.Table) error) error {
	viewing, end := s.within(ctx, UpdateTimeout)
	defer end()
	for retry := (backoff{}); ; {
		now, err := s.read(viewing)
		if err == nil {
			return view(now.table)
		}
		if !transient(err) || !retry.sleep(viewing) {
			return s.explain(ctx, err)
		}
	}
}

// Close removes what the instance has, and revokes its lease. If it cannot, the
// lease runs out.
func (s *session) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, CloseTimeout)
	defer cancel()
	// If this fails and the lease is revoked, others will do it.
	_ = s.Update(ctx, func(t *dirlock.Table) (bool, error) {
		return t.Reap(func(id string) bool { return id != s.id }, s.Stamp(s.clock.Now())), nil
	})
	ended := s.life.Err() != nil // lost, or closed before
	s.endNow()
	<-s.done
	if ended {
		return nil
	}
	return s.revoke(ctx)
}

func (s *session) endNow() {
	s.mu.Lock() // so that it is not lost and closed at once
	defer s.mu.Unlock()
	s.end(errClosed)
}

// revoke ends the lease, and the key of the instance with it.
func (s *session) revoke(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, CloseTimeout)
	defer cancel()
	_, err := s.client.Revoke(ctx, s.lease)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return nil
	}
	return err
}

// A snapshot is the store at one revision.
type snapshot struct {
	revision int64
	table    *dirlock.Table // without what instances had that are dead
	reaped   bool           // there was such
	tableRev int64          // at which the table was stored; 0 if it was not
	ownRev   int64          // at which the key of the instance was
}

// read asks the server once, for its latest revision. The session is lost if the
// instance is not there.
func (s *session) read(ctx context.Context) (snapshot, error) {
	if err := ctx.Err(); err != nil {
		return snapshot{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.attempt)
	defer cancel()
	resp, err := s.client.Txn(ctx).Then(
		clientv3.OpGet(s.tableKey),
		clientv3.OpGet(s.instKeys, clientv3.WithPrefix(), clientv3.WithKeysOnly()),
	).Commit()
	if err != nil {
		return snapshot{}, err
	}
	now := snapshot{revision: resp.Header.Revision}
	alive := map[string]bool{}
	for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
		alive[string(kv.Key[len(s.instKeys):])] = true
		if string(kv.Key) == s.key && kv.CreateRevision == s.created {
			now.ownRev = kv.ModRevision
		}
	}
	if now.ownRev == 0 {
		return snapshot{}, s.gone()
	}
	now.table = dirlock.NewTable()
	created := int64(0)
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		now.tableRev = kvs[0].ModRevision
		if now.table, err = s.tree.decode(kvs[0].Value); err != nil {
			return snapshot{}, fmt.Errorf("etcd key %q: %w", s.tableKey, err)
		}
		created = kvs[0].CreateRevision
	}
	if !s.sameTable(now.revision, created) {
		return snapshot{}, s.lose(dirlock.ReasonMissing)
	}
	now.reaped = now.table.Reap(func(id string) bool { return alive[id] }, s.Stamp(s.clock.Now()))
	return now, nil
}

// sameTable reports whether a table is the one that the instance has had its
// locks in. In another one they are gone, and their numbers may be those of
// others. The arguments are the revision of the look, which may be older than
// the table, and that at which what it saw was created.
func (s *session) sameTable(revision, created int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table == 0 {
		s.table = created
	}
	return s.table == created || revision < s.table
}

// gone is the loss of a session whose key is not there: its lease has ended, or
// somebody has removed one or the other.
func (s *session) gone() error {
	if s.validity().left(readClock(s.clock)) > 0 {
		return s.lose(dirlock.ReasonMissing)
	}
	return s.lose(dirlock.ReasonExpired)
}

// A record is the value of the key of an instance.
type record struct {
	Host    string `json:"host"`
	Program string `json:"program"`
	Updates uint64 `json:"updates"` // of the table by this instance
}

func (s *session) record(updates uint64) string {
	r := record{Updates: updates}
	r.Host, r.Program = hostAndProgram()
	data, err := json.Marshal(r)
	if err != nil {
		panic(err) // its strings are valid UTF-8
	}
	return string(data)
}

// during returns a context that ends with ctx or with the session.
func (s *session) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if s.life.Err() != nil {
		cancel() // now, not soon
	}
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// within is during for a limited time.
func (s *session) within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := s.during(ctx)
	ctx, cancel := context.WithTimeout(ctx, limit)
	return ctx, func() {
		cancel()
		end()
	}
}

// explain returns why something has failed: the session has ended, or the context
// of the caller, or else err.
func (s *session) explain(ctx context.Context, err error) error {
	switch {
	case s.life.Err() != nil:
		return context.Cause(s.life)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer from etcd: %w", err)
	default:
		return err
	}
}

// transient reports whether the same question may be answered a moment later.
func transient(err error) bool {
	if errors.Is(err, errConflict) || errors.Is(err, context.DeadlineExceeded) { // that of one attempt
		return true
	}
	code := errorCode(err)
	return code == codes.Unavailable || code == codes.Internal
}

// refused reports whether err is the answer of a server that has changed nothing
// and will not.
func refused(err error) bool {
	var answer rpctypes.EtcdError
	if !errors.As(err, &answer) {
		return false // it may be made by the client, or on the way
	}
	switch answer.Code() {
	case codes.InvalidArgument, codes.ResourceExhausted, codes.FailedPrecondition,
		codes.PermissionDenied, codes.Unauthenticated, codes.NotFound:
		return true
	default:
		return false
	}
}

func errorCode(err error) codes.Code {
	var answer rpctypes.EtcdError
	if errors.As(err, &answer) {
		return answer.Code()
	}
	return status.Code(err)
}

// backoff delays attempts, so that those who collide do not do so again. Its zero
// value is ready.
type backoff struct{ bound time.Duration }

// sleep returns whether there may be another attempt.
func (b *backoff) sleep(ctx context.Context) bool {
	b.bound = min(max(2*b.bound, RetryMin), RetryMax)
	timer := time.NewTimer(rand.N(b.bound))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
