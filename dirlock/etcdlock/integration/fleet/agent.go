package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/taukit/taukit/dirlock/etcdlock"
	"github.com/taukit/taukit/tools"
)

// What a process of an agent gets.
const (
	agentVariable  = "FLEET_AGENT"
	serverVariable = "FLEET_SERVER"
	treeVariable   = "FLEET_TREE"
	locksVariable  = "FLEET_LOCKS"
)

// What it says, in lines.
const (
	wrote = "wrote " // and the entry
	stuck = "stuck"  // with the lock
)

// work is an agent: all it needs of etcd is a client, and a backend as the Locks
// of its tools.
func work(ctx context.Context, out io.Writer) (err error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{os.Getenv(serverVariable)},
		Logger:    zap.NewNop(), // else it tells of each wait that is over
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	tree := os.Getenv(treeVariable)
	locks, err := etcdlock.New(client, etcdlock.Options{Root: tree, Scope: "fleet", TTL: etcdlock.MinTTL})
	if err != nil {
		return err
	}
	cfg := tools.Config{Root: tree, Locks: locks, ExposeAll: true}
	if os.Getenv(locksVariable) == "off" {
		cfg.Locks = nil
	}
	session, err := tools.New(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()

	a := &agent{session: session, name: os.Getenv(agentVariable), locking: cfg.Locks != nil, out: out}
	for round := range rounds {
		if err := a.addEntry(ctx, a.name == victim && round == 2); err != nil {
			return err
		}
	}
	return nil
}

type agent struct {
	session *tools.Session
	name    string
	locking bool
	out     io.Writer
}

// addEntry takes a lock, as what is read must still be so when it is written. An
// agent that gets stuck is killed.
func (a *agent) addEntry(ctx context.Context, getStuck bool) error {
	if a.locking {
		if _, err := a.call(ctx, "dir_lock", map[string]any{"command": "update", "directory": "."}); err != nil {
			return err
		}
	}
	text, err := a.call(ctx, "read", map[string]any{"path": ledger})
	if err != nil {
		return err
	}
	if getStuck {
		fmt.Fprintln(a.out, stuck)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	number, ok := strings.CutSuffix(text[strings.LastIndex(text, "\n")+1:], " "+end) // of the last line
	if !ok {
		return fmt.Errorf("no end in %q", text)
	}
	entry := number + " " + a.name
	edit := map[string]string{"oldText": end, "newText": entry + "\n" + end}
	if _, err := a.call(ctx, "edit", map[string]any{"path": ledger, "edits": []any{edit}}); err != nil {
		return err
	}
	fmt.Fprintln(a.out, wrote+entry)
	if a.locking {
		_, err = a.call(ctx, "dir_lock", map[string]any{"command": "unlock", "directory": "."})
	}
	return err
}

// call calls a tool as a model would.
func (a *agent) call(ctx context.Context, tool string, arguments any) (text string, err error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return "", err
	}
	out := a.session.Call(ctx, tools.Call{Agent: a.name, Tool: tool, Arguments: raw})
	if out.Error != nil {
		return "", fmt.Errorf("%s: %w", tool, out.Error)
	}
	return out.Text, nil
}
