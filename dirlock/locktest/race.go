package locktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/taukit/taukit/dirlock"
)

// Scenarios of things that happen at once.
var raceScenarios = []scenario{
	{"15 cancelled while it is granted", func(e *env) {
		for range 20 {
			e.update("A", "root/a")
			b := e.editWaits("B", "root/a/child")
			var both sync.WaitGroup
			both.Go(func() { e.unlockElsewhere("A", "root/a") })
			both.Go(func() { b.cancel(nil) })
			both.Wait()
			if r := b.result(); r.err == nil {
				r.guard.Release()
			} else {
				e.fails(r.err, context.Canceled)
			}
			e.edit("C", "root/a").Release() // nothing is left in the way
		}
	}},
	{"23 unlocked while a command starts", func(e *env) {
		for range 20 {
			e.update("A", "root/a")
			var both sync.WaitGroup
			both.Go(func() { e.unlockElsewhere("A", "root/a") })
			both.Go(func() {
				g, err := e.shell("A", "root/a")
				if err != nil {
					e.notCovered(err)
					return
				}
				e.excludes(g, "root/a")
				g.Release()
			})
			both.Wait()
		}
	}},
	{"I12 nobody else has a directory that is locked", func(e *env) {
		const agents, rounds = 6, 15
		dirs := [][]string{{"root"}, {"root/a"}, {"root/a/child"}, {"root/a", "root/b"}} // all overlap
		counter := 0                                                                     // not protected by anything else
		var all sync.WaitGroup
		for n := range agents {
			all.Go(func() {
				agent := dirlock.Owner(fmt.Sprint("agent", n))
				m := []*dirlock.Manager{e.first, e.second}[n%2]
				for i := range rounds {
					g, err := m.LockAuto(e.soon(), e.request(agent, dirs[(n+i)%len(dirs)]...))
					if err != nil {
						e.Error(err)
						return
					}
					counter++
					g.Release()
				}
			})
		}
		all.Wait()
		same(e, counter, agents*rounds)
	}},
	{"I12 cancellation at random leaves nothing", func(e *env) {
		const agents, rounds = 6, 12
		var all sync.WaitGroup
		for n := range agents {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(n), 1))
				agent := dirlock.Owner(fmt.Sprint("agent", n))
				m := []*dirlock.Manager{e.first, e.second}[n%2]
				for range rounds {
					ctx, cancel := context.WithCancel(e.Context())
					req := e.request(agent, "root/a")
					if r.IntN(2) == 0 {
						req.OnWait = func(dirlock.Wait) { cancel() }
					}
					if r.IntN(2) == 0 {
						if g, err := m.LockAuto(ctx, req); err == nil {
							g.Release()
						} else if !errors.Is(err, context.Canceled) {
							e.Error(err)
						}
					} else if held, err := m.LockManual(ctx, req); err == nil {
						if _, err := m.Unlock(e.soon(), agent, held.Dir); err != nil {
							e.Error(err)
						}
					} else if !errors.Is(err, context.Canceled) {
						e.Error(err)
					}
					cancel()
				}
			})
		}
		all.Wait()
	}},
}

func (e *env) notCovered(err error) {
	if !errors.Is(err, dirlock.ErrNotCovered) {
		e.Error(err)
	}
}

// excludes requires that a directory is locked for others.
func (e *env) excludes(g *dirlock.Guard, dir string) {
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	req := e.request("C", dir)
	req.OnWait = func(dirlock.Wait) { cancel() }
	if other, err := e.of("C").LockAuto(ctx, req); err == nil {
		other.Release()
		e.Errorf("%v does not exclude C", g.Dirs())
	}
}

// unlockElsewhere is unlock for a goroutine that is not that of the test.
func (e *env) unlockElsewhere(agent dirlock.Owner, dir string) {
	if _, err := e.of(agent).Unlock(e.Context(), agent, e.path(dir)); err != nil {
		e.Error(err)
	}
}
