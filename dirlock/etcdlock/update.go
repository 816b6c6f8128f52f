package etcdlock

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/taukit/taukit/dirlock"
)

// Update makes a change as one transaction, and tries for [UpdateTimeout] if
// others are faster.
//
// If the answer to the transaction is lost, it finds out whether the change was
// stored. It may do so for some time after ctx has ended, a TTL at most: if the
// server does not tell within that time, the session is lost.
func (s *session) Update(ctx context.Context, update func(*dirlock.Table) (bool, error)) error {
	updating, end := s.within(ctx, UpdateTimeout)
	defer end()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-updating.Done():
		return s.explain(ctx, updating.Err())
	}
	for retry := (backoff{}); ; {
		now, err := s.read(updating)
		if err == nil {
			changed, refusal := update(now.table)
			if refusal != nil || !changed && !now.reaped {
				return refusal
			}
			err = s.store(updating, now)
		}
		if err == nil {
			return nil
		}
		if !transient(err) || !retry.sleep(updating) {
			return s.explain(ctx, err)
		}
	}
}

// store replaces the table, if nothing has changed since it was read. After an
// error it has not, and will not.
func (s *session) store(ctx context.Context, now snapshot) error {
	now.table.NextGeneration()
	data, err := s.tree.encode(now.table)
	if err != nil {
		return err
	}
	if len(data) > MaxTableBytes {
		return fmt.Errorf("the table would exceed %d bytes", MaxTableBytes)
	}
	attempt, cancel := context.WithTimeout(ctx, s.attempt)
	defer cancel()
	resp, err := s.client.Txn(attempt).If(
		clientv3.Compare(clientv3.ModRevision(s.tableKey), "=", now.tableRev),
		clientv3.Compare(clientv3.ModRevision(s.key), "=", now.ownRev),
	).Then(
		clientv3.OpPut(s.tableKey, string(data)),
		clientv3.OpPut(s.key, s.record(s.updates+1), clientv3.WithIgnoreLease()),
	).Commit()
	switch {
	case err == nil && !resp.Succeeded:
		return errConflict
	case err != nil && refused(err):
		return err
	case err != nil:
		stored, lost := s.settle(now.ownRev)
		if lost != nil {
			return lost
		}
		if !stored {
			return err
		}
	case now.tableRev == 0:
		_ = s.sameTable(resp.Header.Revision, resp.Header.Revision) // it is new
	}
	s.updates++
	return nil
}

// settle finds out whether a change was stored whose answer was lost. The change
// may still be on its way. But it depends on the revision of the instance's key,
// which nobody else writes: so settle writes it too, unless that has been done,
// and then reads there what came first. An error is the loss of the session.
func (s *session) settle(ownRev int64) (stored bool, err error) {
	ctx, cancel := context.WithTimeout(s.life, s.validity().ttl)
	defer cancel()
	for retry := (backoff{}); ; {
		stored, err = s.settleOnce(ctx, ownRev)
		switch {
		case err == nil:
			return stored, nil
		case refused(err) || !retry.sleep(ctx):
			return false, s.lose(dirlock.ReasonUnreachable)
		}
	}
}

func (s *session) settleOnce(ctx context.Context, ownRev int64) (stored bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.attempt)
	defer cancel()
	resp, err := s.client.Txn(ctx).If(
		clientv3.Compare(clientv3.ModRevision(s.key), "=", ownRev),
	).Then(
		clientv3.OpPut(s.key, "", clientv3.WithIgnoreValue(), clientv3.WithIgnoreLease()),
	).Else(
		clientv3.OpGet(s.key),
	).Commit()
	if err != nil || resp.Succeeded {
		return false, err
	}
	kvs := resp.Responses[0].GetResponseRange().Kvs
	if len(kvs) == 0 || kvs[0].CreateRevision != s.created {
		return false, s.gone()
	}
	var own record
	if err := json.Unmarshal(kvs[0].Value, &own); err != nil {
		return false, s.lose(dirlock.ReasonMissing) // somebody else has written it
	}
	return own.Updates > s.updates, nil // if not, an earlier attempt to settle came first
}
