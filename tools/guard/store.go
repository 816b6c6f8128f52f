package guard

import (
	"container/list"
	"sync"

	"github.com/taukit/taukit/tools/workspace"
)

// MaxTargets is how many files a [Store] remembers for one owner. The one that
// was not used for the longest time is forgotten first, as if it had never been
// seen.
const MaxTargets = 10_000

// An Observation is what an agent knows of a file: that it is present at a
// version, or that it is absent. Present without a version is a file that was
// seen and then found missing: no version is the right one any more.
type Observation struct {
	Present bool
	Version workspace.Version
}

// A Store keeps observations by owner, which is one agent, and by target. The
// zero value is ready. It is safe for concurrent use and does no I/O.
type Store struct {
	mu     sync.Mutex
	owners map[string]*memory
}

// A memory is what one owner has seen, the most recently used first.
type memory struct {
	order *list.List // of seen
	byKey map[string]*list.Element
}

type seen struct {
	key string
	Observation
}

// Record notes what an owner has seen, in place of what it had seen before.
func (s *Store) Record(owner string, t workspace.Target, o Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		s.owners = make(map[string]*memory)
	}
	m := s.owners[owner]
	if m == nil {
		m = newMemory()
		s.owners[owner] = m
	}
	m.record(seen{t.Key, o})
}

// Lookup returns what an owner has seen last; false means nothing.
func (s *Store) Lookup(owner string, t workspace.Target) (Observation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.owners[owner]
	if m == nil {
		return Observation{}, false
	}
	element := m.byKey[t.Key]
	if element == nil {
		return Observation{}, false
	}
	m.order.MoveToFront(element)
	return element.Value.(seen).Observation, true
}

// Forget drops all that an owner has seen.
func (s *Store) Forget(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.owners, owner)
}

// Copy lets one owner know what another one knows now, and nothing else: for
// an agent that inherits the transcript of another.
func (s *Store) Copy(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	source := s.owners[from]
	switch {
	case from == to:
	case source == nil:
		delete(s.owners, to)
	default:
		m := newMemory()
		for e := source.order.Back(); e != nil; e = e.Prev() {
			m.record(e.Value.(seen))
		}
		s.owners[to] = m
	}
}

func newMemory() *memory {
	return &memory{list.New(), make(map[string]*list.Element)}
}

func (m *memory) record(o seen) {
	if old := m.byKey[o.key]; old != nil {
		m.order.Remove(old)
	}
	m.byKey[o.key] = m.order.PushFront(o)
	if m.order.Len() > MaxTargets {
		oldest := m.order.Back()
		m.order.Remove(oldest)
		delete(m.byKey, oldest.Value.(seen).key)
	}
}
