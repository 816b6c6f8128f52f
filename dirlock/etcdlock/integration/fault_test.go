package integration_test

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// faultyKV lets a test decide what becomes of the transactions of a client.
type faultyKV struct {
	clientv3.KV
	mu    sync.Mutex
	fault fault
}

// A fault stands for the commit of a transaction. The number of comparisons tells
// which one it is.
type fault func(ctx context.Context, kind int, commit commit) (*clientv3.TxnResponse, error)

type commit func(context.Context) (*clientv3.TxnResponse, error)

// Kinds of transactions.
const (
	reading  = 0
	settling = 1 // whether a change was stored
	storing  = 2
)

// errBroken is what a client says when a connection breaks while it waits for an
// answer.
var errBroken = status.Error(codes.Unavailable, "the connection is broken")

func (kv *faultyKV) Set(f fault) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	kv.fault = f
}

// Once is Set for the first transaction of a kind.
func (kv *faultyKV) Once(kind int, f fault) {
	done := false
	kv.Set(func(ctx context.Context, is int, commit commit) (*clientv3.TxnResponse, error) {
		if is != kind || done {
			return commit(ctx)
		}
		done = true
		return f(ctx, is, commit)
	})
}

func (kv *faultyKV) Txn(ctx context.Context) clientv3.Txn { return &faultyTxn{kv: kv, ctx: ctx} }

type faultyTxn struct {
	kv       *faultyKV
	ctx      context.Context
	compares []clientv3.Cmp
	then     []clientv3.Op
	orElse   []clientv3.Op
}

func (t *faultyTxn) If(compares ...clientv3.Cmp) clientv3.Txn {
	t.compares = compares
	return t
}

func (t *faultyTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = ops
	return t
}

func (t *faultyTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.orElse = ops
	return t
}

func (t *faultyTxn) Commit() (*clientv3.TxnResponse, error) {
	t.kv.mu.Lock()
	f := t.kv.fault
	t.kv.mu.Unlock()
	commit := func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return t.kv.KV.Txn(ctx).If(t.compares...).Then(t.then...).Else(t.orElse...).Commit()
	}
	if f == nil {
		return commit(t.ctx)
	}
	return f(t.ctx, len(t.compares), commit)
}
