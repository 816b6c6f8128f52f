package etcdlock

import (
	"context"

	"github.com/go-json-experiment/json"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Wait looks at the table once, and from that revision on watches it and the
// instances. It goes on when the server is gone for a time, and when the
// revision was compacted.
func (s *session) Wait(ctx context.Context, verdicts uint64) error {
	waiting, end := s.during(ctx)
	defer end()
	for retry := (backoff{}); ; {
		now, err := s.read(waiting)
		if err == nil {
			if now.reaped || now.table.Verdicts() != verdicts {
				return nil
			}
			var woken bool
			if woken, err = s.watch(waiting, now.revision+1, verdicts); woken {
				return nil
			}
		}
		if err != nil && !transient(err) || !retry.sleep(waiting) {
			return s.explain(ctx, err)
		}
	}
}

// watch returns whether there was a reason to wake. Otherwise the watch has ended,
// and is to be begun anew.
func (s *session) watch(ctx context.Context, from int64, verdicts uint64) (woken bool, err error) {
	// A member of a cluster that has lost the others would stay silent.
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for resp := range s.client.Watch(ctx, s.keys, clientv3.WithPrefix(), clientv3.WithRev(from)) {
		if resp.CompactRevision != 0 {
			return false, nil
		}
		if err := resp.Err(); err != nil {
			return false, err
		}
		for _, event := range resp.Events {
			if s.wakes(event, verdicts) {
				return true, nil
			}
		}
	}
	return false, ctx.Err()
}

// wakes reports whether an event is a reason to look again: an instance has died,
// or the table is gone or has other verdicts.
func (s *session) wakes(event *clientv3.Event, verdicts uint64) bool {
	if event.Type == clientv3.EventTypeDelete {
		return true
	}
	if string(event.Kv.Key) != s.tableKey {
		return false
	}
	var table struct {
		Verdicts uint64 `json:"verdicts"`
	}
	err := json.Unmarshal(event.Kv.Value, &table)
	return err != nil || table.Verdicts != verdicts
}
