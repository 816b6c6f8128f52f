package locktest

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/taukit/taukit/dirlock"
)

// Scenarios of what excludes what.
var conflictScenarios = []scenario{
	{"1 a child waits for its ancestor", func(e *env) {
		e.update("A", "root/a")
		b := e.updateWaits("B", "root/a/child")
		same(e, b.wait.Dirs[0], e.path("root/a/child"))
		same(e, b.wait.Blocking, e.path("root/a"))
		same(e, b.wait.BlockingOwner, "A")
		b.still()
		e.unlock("A", "root/a")
		b.granted()
		e.unlock("B", "root/a/child")
	}},
	{"2 an ancestor waits for its child", func(e *env) {
		e.update("A", "root/a/child")
		b := e.updateWaits("B", "root/a")
		e.unlock("A", "root/a/child")
		b.granted()
		e.unlock("B", "root/a")
	}},
	{"3 a sibling does not wait", func(e *env) {
		e.update("A", "root/a")
		e.edit("B", "root/b").Release()
		e.unlock("A", "root/a")
	}},
	{"6 a patch waits for all its directories", func(e *env) {
		e.update("A", "root/a")
		b := e.editWaits("B", "root/a", "root/b")
		e.edit("C", "other").Release()
		b.still()
		e.unlock("A", "root/a")
		g := b.granted().guard
		same(e, slices.Equal(g.Dirs(), []string{e.path("root/a"), e.path("root/b")}), true)
		e.ok(g.Check(e.soon()))
		c := e.editWaits("C", "root/b")
		g.Release()
		c.granted().guard.Release()
	}},
	{"7 a new file waits at the deepest directory that exists", func(e *env) {
		dir, err := dirlock.WriteDir(e.root, "root/a/new/dir/f")
		e.ok(err)
		same(e, dir, e.path("root/a"))
		e.update("A", "root/a")
		b := e.editWaits("B", "root/a")
		e.unlock("A", "root/a")
		b.granted().guard.Release()
	}},
	{"8 a covered edit does not wait for a covered command", func(e *env) {
		e.update("A", "root/a")
		command, err := e.shell("A", "root/a")
		e.ok(err)
		e.edit("A", "root/a").Release()
		e.edit("A", "root/a/child").Release()
		b := e.editWaits("B", "root/a")
		e.unlock("A", "root/a") // the command keeps its own lock
		b.still()
		command.Release()
		b.granted().guard.Release()
	}},
	{"9 edits of one agent run one after the other", func(e *env) {
		g := e.edit("A", "root/a")
		again := e.editWaits("A", "root/a/child")
		g.Release()
		again.granted().guard.Release()
	}},
	{"R2 equal ids in other instances are other owners", func(e *env) {
		other := e.newManager(dirlock.Options{})
		e.update("A", "root")
		_, err := other.Unlock(e.soon(), "A", e.path("root"))
		same(e, e.facts(err, dirlock.ErrNotHeld).BlockingOwner, "A")
		_, err = other.LockCovered(e.soon(), e.request("A", "root"))
		e.fails(err, dirlock.ErrNotCovered)
		held, err := other.ForceUnlock(e.soon(), "X", "A", e.path("root"))
		e.ok(err)
		same(e, held.Owner, "A")
		_, err = e.first.Unlock(e.soon(), "A", e.path("root"))
		same(e, e.facts(err, dirlock.ErrNotHeld).Reason, dirlock.ReasonForced)
	}},
	{"R17 an own lock beside an edit does not block it", func(e *env) {
		e.update("A", "root/a")
		e.edit("A", "root").Release()
		g := e.edit("A", "other")
		e.update("A", "other")
		g.Release()
		e.unlock("A", "other")
		e.unlock("A", "root/a")
	}},
	{"R17 a second manual lock is refused", func(e *env) {
		e.update("A", "root/a")
		for _, dir := range []string{"root/a", "root/a/child", "root"} {
			_, err := e.of("A").LockManual(e.soon(), e.request("A", dir))
			got := e.facts(err, dirlock.ErrDuplicate)
			same(e, got.Blocking, e.path("root/a"))
			same(e, got.Requested, e.path(dir))
			same(e, got.BlockingOwner, "A")
		}
		e.unlock("A", "root/a")
	}},
	{"R24 unlock is exact", func(e *env) {
		e.update("A", "root/a")
		_, err := e.of("A").Unlock(e.soon(), "A", e.path("root"))
		same(e, e.facts(err, dirlock.ErrNotHeld).Held, e.path("root/a"))
		_, err = e.of("B").Unlock(e.soon(), "B", e.path("root/a/child"))
		got := e.facts(err, dirlock.ErrNotHeld)
		same(e, got.Blocking, e.path("root/a"))
		same(e, got.BlockingOwner, "A")
		e.unlock("A", "root/a")
		_, err = e.of("A").Unlock(e.soon(), "A", e.path("root/a"))
		same(e, e.facts(err, dirlock.ErrNotHeld).Blocking, "")
	}},
	{"R24 a directory that is gone can be unlocked", func(e *env) {
		e.update("A", "root/a/child")
		e.ok(os.Remove(e.path("root/a/child")))
		path, err := dirlock.UnlockDir(e.root, "root/a/child")
		e.fails(err, &dirlock.Error{Code: dirlock.CodeNotFound})
		same(e, path, e.path("root/a/child"))
		_, err = e.of("A").Unlock(e.soon(), "A", path)
		e.ok(err)
	}},
	{"22 a link that changes during the wait", func(e *env) {
		link := e.path("root/a/link")
		e.ok(os.Symlink("child", link))
		resolve := func() ([]string, error) {
			dir, err := dirlock.WriteDir(e.root, "root/a/link/f")
			return []string{dir}, err
		}
		e.update("A", "root/a")
		b := e.resolvedWaits("B", resolve)
		same(e, b.wait.Dirs[0], e.path("root/a/child"))
		e.ok(os.Remove(link))
		e.ok(os.Symlink(e.path("other"), link))
		e.unlock("A", "root/a")
		g := b.granted().guard
		same(e, g.Dirs()[0], e.path("other"))
		e.edit("C", "root/a").Release()
		g.Release()
	}},
	{"22 a directory that changes during the wait", func(e *env) {
		e.update("A", "root/a")
		calls := 0
		b := e.resolvedWaits("B", func() ([]string, error) {
			calls++
			return []string{e.path("root/a/child")}, nil
		})
		e.ok(os.Rename(e.path("root/a/child"), e.path("root/a/old")))
		e.ok(os.Mkdir(e.path("root/a/child"), 0o755))
		e.unlock("A", "root/a")
		b.granted().guard.Release()
		same(e, calls, 2) // and then it was there at once
	}},
	{"22 a path that changes in every wait", func(e *env) {
		dirs := []string{"root/a", "root/b", "other", "root/a/child"}
		calls := 0
		resolve := func() ([]string, error) {
			dir := dirs[calls]
			calls++
			if calls > 1 && calls <= dirlock.MaxRounds {
				e.update("A", dir)
				go func() {
					e.clock.AwaitTimers(1)
					_, _ = e.of("A").Unlock(e.Context(), "A", e.path(dir))
				}()
			}
			return []string{e.path(dir)}, nil
		}
		e.update("A", dirs[0])
		b := e.resolvedWaits("B", resolve)
		e.unlock("A", dirs[0])
		got := e.facts(b.result().err, dirlock.ErrPathChanged)
		same(e, got.Requested, filepath.Join(e.root, dirs[dirlock.MaxRounds]))
		same(e, calls, dirlock.MaxRounds+1)
	}},
	{"23 a command that is not covered takes no lock", func(e *env) {
		e.update("A", "root/a")
		_, err := e.shell("B", "root/a")
		e.fails(err, dirlock.ErrNotCovered)
		_, err = e.shell("A", "root")
		e.fails(err, dirlock.ErrNotCovered)
		dirs, err := e.of("B").OthersHeld(e.soon(), "B")
		e.ok(err)
		same(e, slices.Equal(dirs, []string{e.path("root/a")}), true)
		dirs, err = e.of("A").OthersHeld(e.soon(), "A")
		e.ok(err)
		same(e, len(dirs), 0)
		e.unlock("A", "root/a")
	}},
	{"R31 tokens increase", func(e *env) {
		last := e.update("A", "root/a").Token
		for range 5 {
			g := e.edit("B", "root/b")
			same(e, g.Token().Epoch, last.Epoch)
			if g.Token().Number <= last.Number {
				e.Fatalf("token %d after %d", g.Token().Number, last.Number)
			}
			last = g.Token()
			g.Release()
		}
		e.unlock("A", "root/a")
	}},
}
