// Fleet shows three programs on one work tree, with their locks in etcd. Each is
// a process of its own, with an agent that adds entries to a file: it locks the
// directory, reads how many entries there are, adds the next one, and unlocks.
// One of them is killed while it has the lock. The others wait until its lease
// has run out, and go on.
//
//	go run ./fleet
//
// In the end the entries are numbered without a gap, and each one that an agent
// was told is written is there. Without locks, an agent sooner or later finds that
// the file has changed under its edit, which fails, or that its number is taken:
//
//	FLEET_LOCKS=off go run ./fleet
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/taukit/taukit/dirlock/etcdlock/integration/internal/embedded"
)

const (
	ledger = "ledger.txt"
	end    = "END" // its last line

	rounds = 4       // of each agent
	victim = "carol" // who is killed in her third
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := fleet
	if os.Getenv(agentVariable) != "" {
		run = work
	}
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// fleet starts an etcd server and three copies of this program, and tells what
// they do.
func fleet(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "fleet-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree, ledger), []byte(end+"\n"), 0o644); err != nil {
		return err
	}
	server, err := embedded.Start(ctx, filepath.Join(dir, "etcd"))
	if err != nil {
		return err
	}
	defer server.Stop()

	f := &observer{out: out, entries: map[string]bool{}}
	var all sync.WaitGroup
	failures := make([]error, 3)
	for i, agent := range []string{"alice", "bob", victim} {
		all.Go(func() { failures[i] = f.follow(ctx, agent, server.Addr(), tree) })
	}
	all.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	return f.verify(filepath.Join(tree, ledger))
}

// An observer reads what the agents say.
type observer struct {
	mu      sync.Mutex
	out     io.Writer
	entries map[string]bool // that agents were told are written
	killed  time.Time
}

// follow runs a process for an agent until it ends, or is killed.
func (o *observer) follow(ctx context.Context, agent, server, tree string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), agentVariable+"="+agent, serverVariable+"="+server, treeVariable+"="+tree)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // open until it has ended
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	killed := false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		o.hear(agent, lines.Text())
		if lines.Text() == stuck {
			killed = true
			_ = cmd.Process.Kill() // SIGKILL: it cannot clean up
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		return fmt.Errorf("%s: %w", agent, err)
	}
	return nil
}

func (o *observer) hear(agent, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch entry, written := strings.CutPrefix(line, wrote); {
	case line == stuck:
		o.killed = time.Now()
		fmt.Fprintf(o.out, "%s has the lock, and is killed\n", agent)
	case written && !o.killed.IsZero():
		fmt.Fprintf(o.out, "%s wrote %q, %v later\n", agent, entry, time.Since(o.killed).Round(100*time.Millisecond))
		o.entries[entry] = true
	case written:
		fmt.Fprintf(o.out, "%s wrote %q\n", agent, entry)
		o.entries[entry] = true
	default:
		fmt.Fprintf(o.out, "%s %s\n", agent, line)
	}
}

// verify requires that nothing is lost, and that nobody has overwritten another.
func (o *observer) verify(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	entries := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if last := len(entries) - 1; entries[last] != end {
		return fmt.Errorf("the last line is %q", entries[last])
	}
	entries = entries[:len(entries)-1]
	for i, entry := range entries {
		if !strings.HasPrefix(entry, fmt.Sprintf("%d ", i+1)) {
			return fmt.Errorf("entry %d is %q", i+1, entry)
		}
		delete(o.entries, entry)
	}
	for entry := range o.entries {
		return fmt.Errorf("entry %q is lost", entry)
	}
	fmt.Fprintf(o.out, "%d entries, none lost\n", len(entries))
	return nil
}
