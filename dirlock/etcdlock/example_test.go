package etcdlock_test

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/etcdlock"
)

// On each host that has the tree, wherever it is mounted there.
func Example() {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            []string{"etcd1:2379", "etcd2:2379", "etcd3:2379"},
		DialKeepAliveTime:    5 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	backend, err := etcdlock.New(client, etcdlock.Options{Root: "/mnt/project", Scope: "project"})
	if err != nil {
		fmt.Println(err)
		return
	}

	// It may now be the Locks of a tools.Config, or used directly:
	ctx := context.Background()
	locks, err := dirlock.New(ctx, backend, dirlock.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Close(ctx)
	g, err := locks.LockAuto(ctx, dirlock.Request{Owner: "alice", Dirs: []string{"/mnt/project/src"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Release()

	// All is prepared. Is the lock still held, by all that is known?
	if err := g.Check(ctx); err != nil {
		fmt.Println("nothing is written:", err)
		return
	}
	fmt.Println("written")
}
