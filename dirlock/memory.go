package dirlock

import (
	"context"
	"sync"
	"time"
)

// Memory is a [Backend] within one process. Managers on the same Memory exclude
// each other as processes would. It needs no release.
type Memory struct {
	base time.Time // of the stamps: a difference to it does not depend on the wall clock

	mu       sync.Mutex
	table    *Table
	verdicts uint64        // that have been told to who waits
	decided  chan struct{} // closed at the next verdict
}

// NewMemory returns a Memory without locks.
func NewMemory() *Memory {
	return &Memory{base: time.Now(), table: NewTable(), decided: make(chan struct{})}
}

// Attach makes a new instance. It does not fail.
func (m *Memory) Attach(context.Context) (Session, error) {
	return &memorySession{Memory: m, id: newID()}, nil
}

type memorySession struct {
	*Memory
	id string
}

func (s *memorySession) ID() string { return s.id }

func (s *memorySession) Update(_ context.Context, update func(*Table) (bool, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, err := update(s.table)
	if err != nil || !changed {
		return err
	}
	s.table.NextGeneration()
	if s.table.Verdicts() != s.verdicts {
		s.verdicts = s.table.Verdicts()
		close(s.decided)
		s.decided = make(chan struct{})
	}
	return nil
}

func (s *memorySession) View(_ context.Context, view func(*Table) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return view(s.table)
}

func (s *memorySession) Wait(ctx context.Context, verdicts uint64) error {
	s.mu.Lock()
	decided, now := s.decided, s.verdicts
	s.mu.Unlock()
	if now != verdicts {
		return nil
	}
	select {
	case <-decided:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *memorySession) Stamp(t time.Time) int64 { return t.Sub(s.base).Milliseconds() }

func (*memorySession) Lost() <-chan struct{}       { return nil }
func (*memorySession) Err() error                  { return nil }
func (*memorySession) ValidUntil() time.Time       { return time.Time{} }
func (*memorySession) Renew(context.Context) error { return nil }

func (s *memorySession) Close(ctx context.Context) error {
	return s.Update(ctx, func(t *Table) (bool, error) {
		return t.Reap(func(id string) bool { return id != s.id }, s.Stamp(time.Now())), nil
	})
}
