//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/taukit/taukit/dirlock"
)

// workTree makes a directory to lock, with src and docs in it.
func workTree() (root string, remove func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"src/lib", "docs"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			panic(err)
		}
	}
	root, err = dirlock.Canonical(dir, ".")
	if err != nil {
		panic(err)
	}
	return root, func() { os.RemoveAll(dir) }
}

func Example() {
	root, remove := workTree()
	defer remove()
	ctx := context.Background()
	locks, err := dirlock.New(ctx, dirlock.NewMemory(), dirlock.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Close(ctx)

	// An agent locks a directory for as long as it works there.
	src, err := dirlock.Canonical(root, "src")
	if err != nil {
		fmt.Println(err)
		return
	}
	held, err := locks.LockManual(ctx, dirlock.Request{Owner: "alice", Dirs: []string{src}})
	if err != nil {
		fmt.Println(err)
		return
	}

	// Another one has to wait, until the first one unlocks.
	done := make(chan error)
	go func() {
		g, err := locks.LockAuto(ctx, dirlock.Request{
			Owner: "bob",
			Dirs:  []string{filepath.Join(src, "lib")},
			OnWait: func(w dirlock.Wait) {
				fmt.Println("bob waits for", w.BlockingOwner)
				_, err := locks.Unlock(ctx, "alice", held.Dir)
				fmt.Println("alice unlocks:", err)
			},
		})
		if err == nil {
			fmt.Println("bob edits:", g.Check(ctx))
			g.Release()
		}
		done <- err
	}()
	fmt.Println(<-done)
	// Output:
	// bob waits for alice
	// alice unlocks: <nil>
	// bob edits: <nil>
	// <nil>
}

func ExampleManager_LockResolved() {
	root, remove := workTree()
	defer remove()
	ctx := context.Background()
	locks, _ := dirlock.New(ctx, dirlock.NewMemory(), dirlock.Options{})
	defer locks.Close(ctx)

	// A tool locks the directory of a file that it is about to write. After a
	// wait, the path is resolved again.
	g, err := locks.LockResolved(ctx, dirlock.Request{Owner: "alice", Call: "call 1"}, func() ([]string, error) {
		dir, err := dirlock.WriteDir(root, "src/new/file.go")
		return []string{dir}, err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Release()
	fmt.Println(g.Dirs()[0] == filepath.Join(root, "src"))

	// The temporary file is complete; now it may take the place of the old one.
	if err := g.Check(ctx); err != nil {
		fmt.Println("nothing is written:", err)
		return
	}
	fmt.Println("renamed")
	// Output:
	// true
	// renamed
}

func ExampleManager_LockCovered() {
	root, remove := workTree()
	defer remove()
	ctx := context.Background()
	locks, _ := dirlock.New(ctx, dirlock.NewMemory(), dirlock.Options{})
	defer locks.Close(ctx)

	command := dirlock.Request{Owner: "alice", Dirs: []string{filepath.Join(root, "src", "lib")}}
	_, err := locks.LockCovered(ctx, command)
	fmt.Println("read-only:", errors.Is(err, dirlock.ErrNotCovered))

	_, _ = locks.LockManual(ctx, dirlock.Request{Owner: "alice", Dirs: []string{filepath.Join(root, "src")}})
	g, err := locks.LockCovered(ctx, command)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Release()
	fmt.Println("read-write:", g.Context().Err() == nil)
	// Output:
	// read-only: true
	// read-write: true
}

func ExampleManager_ForceUnlock() {
	ctx := context.Background()
	locks, _ := dirlock.New(ctx, dirlock.NewMemory(), dirlock.Options{})
	defer locks.Close(ctx)
	dir, _ := dirlock.Canonical("/", ".")
	_, _ = locks.LockManual(ctx, dirlock.Request{Owner: "alice", Dirs: []string{dir}})

	held, err := locks.ForceUnlock(ctx, "bob", "alice", dir)
	fmt.Println(held.Owner, held.ActiveTools, err)

	_, err = locks.LockAuto(ctx, dirlock.Request{Owner: "alice", Dirs: []string{dir}})
	var e *dirlock.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, e.Reason, e.ReleasedBy)
	}
	// Output:
	// alice 0 <nil>
	// DIR_LOCK_LOST force_released bob
}

func ExampleManager_Snapshot() {
	ctx := context.Background()
	locks, _ := dirlock.New(ctx, dirlock.NewMemory(), dirlock.Options{})
	defer locks.Close(ctx)
	dir, _ := dirlock.Canonical("/", ".")
	_, _ = locks.LockManual(ctx, dirlock.Request{Owner: "alice", Dirs: []string{dir}})

	s, err := locks.Snapshot(ctx)
	for _, l := range s.Held {
		fmt.Println(l.Agent, l.Manual, l.Active, len(s.Waiting), err)
	}
	others, _ := locks.OthersHeld(ctx, "bob")
	fmt.Println(len(others))
	// Output:
	// alice true 0 0 <nil>
	// 1
}

func ExampleNewFile() {
	root, remove := workTree()
	defer remove()
	ctx := context.Background()
	backend, err := dirlock.NewFile(dirlock.FileOptions{Dir: filepath.Join(root, "state")})
	if err != nil {
		fmt.Println(err)
		return
	}
	locks, err := dirlock.New(ctx, backend, dirlock.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Close(ctx)
	_, err = locks.LockManual(ctx, dirlock.Request{Owner: "alice", Dirs: []string{filepath.Join(root, "src")}})
	fmt.Println(err)
	_, err = locks.LockManual(ctx, dirlock.Request{Owner: "alice", Dirs: []string{filepath.Join(root, "src/lib")}})
	fmt.Println(errors.Is(err, dirlock.ErrDuplicate), err)
	// Output:
	// <nil>
	// true the owner holds an overlapping lock
}

func ExampleDisabled() {
	var locks dirlock.Locker = dirlock.Disabled{}
	g, err := locks.LockAuto(context.Background(), dirlock.Request{Owner: "alice", Dirs: []string{"/src"}})
	fmt.Println(g.Dirs(), err)
	g.Release()
	// Output: [/src] <nil>
}

func ExampleTable() {
	table := dirlock.NewTable()
	claim := func(agent dirlock.Owner, dir string) dirlock.Verdict {
		holder := dirlock.Holder{Instance: "0123456789abcdef0123456789abcdef", Agent: agent}
		c := dirlock.Claim{Holder: holder, Manual: true, Dirs: []dirlock.Dir{{Path: dir}}}
		return table.Acquire(c, 0, dirlock.Limits{MaxWaiters: 10, MaxHeld: 10})
	}
	alice, bob := claim("alice", "/src"), claim("bob", "/src/lib")
	fmt.Println(alice.State == dirlock.Granted, bob.State == dirlock.Waiting)
	table.Release(alice.ID, 1000)
	fmt.Println(table.Verdict(bob.ID).State == dirlock.Granted)
	// Output:
	// true true
	// true
}

func ExampleCanonical() {
	root, remove := workTree()
	defer remove()
	_ = os.Symlink("src/lib", filepath.Join(root, "link"))
	dir, err := dirlock.Canonical(root, "link/..")
	fmt.Println(dir == filepath.Join(root, "src"), err)
	_, err = dirlock.Canonical(root, "missing")
	fmt.Println(err)
	// Output:
	// true <nil>
	// no such file or directory
}

func ExampleUnlockDir() {
	root, remove := workTree()
	defer remove()
	dir, err := dirlock.UnlockDir(root, "src/removed")
	fmt.Println(dir == filepath.Join(root, "src", "removed"), err)
	// Output: true no such file or directory
}

func ExampleEntryDir() {
	root, remove := workTree()
	defer remove()
	_ = os.Symlink("src/lib", filepath.Join(root, "link"))
	removed, _ := dirlock.EntryDir(root, "link")
	written, _ := dirlock.WriteDir(root, "link/new")
	fmt.Println(removed == root, written == filepath.Join(root, "src", "lib"))
	// Output: true true
}

func ExampleNormalize() {
	fmt.Println(dirlock.Normalize([]string{"/w/src/lib", "/w/docs", "/w/src"}))
	fmt.Println(dirlock.Overlap("/w/src", "/w/src/lib"), dirlock.Overlap("/w/src", "/w/src2"), dirlock.Covers("/w", "/w/docs"))
	// Output:
	// [/w/docs /w/src]
	// true false true
}
