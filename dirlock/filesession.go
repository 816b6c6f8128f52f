package dirlock

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// fileSession is an instance of a [File].
type fileSession struct {
	*File
	id    string
	lease *os.File // open, and so locked, while the instance lives

	once sync.Once
	lost chan struct{}
}

func (s *fileSession) ID() string { return s.id }

func (s *fileSession) Update(ctx context.Context, update func(*Table) (bool, error)) error {
	err := s.locked(ctx, func() error { return s.update(update) })
	if errors.Is(err, errNoStateDir) {
		return s.lose()
	}
	return err
}

// lose notes that the lease is gone.
func (s *fileSession) lose() error {
	s.once.Do(func() { close(s.lost) })
	return s.Err()
}

func (s *fileSession) View(ctx context.Context, view func(*Table) error) error {
	return s.Update(ctx, func(t *Table) (bool, error) { return false, view(t) })
}

// update is Update with the registry locked.
func (s *fileSession) update(update func(*Table) (bool, error)) error {
	if there, err := isAt(s.lease, s.leasePath(s.id)); err != nil {
		return err
	} else if !there {
		return s.lose()
	}
	t, err := s.load()
	if err != nil {
		return err
	}
	verdicts := t.Verdicts()
	dead, err := s.reap(t, s.id)
	if err != nil {
		return err
	}
	changed, err := update(t)
	if err == nil && (changed || len(dead) > 0) {
		err = s.store(t)
	}
	if err != nil {
		s.table = nil // it may be changed, and the registry is not
		return err
	}
	for _, id := range dead {
		_ = s.step("remove", func() error { return os.Remove(s.leasePath(id)) }) // else a sweep will
	}
	if t.Verdicts() != verdicts {
		s.mu.Lock()
		close(s.wake)
		s.wake = make(chan struct{})
		s.mu.Unlock()
	}
	return nil
}

func (s *fileSession) Wait(ctx context.Context, verdicts uint64) error {
	for delay := PollMin; ; delay = min(2*delay, PollMax) {
		s.mu.Lock()
		wake := s.wake // before the look: no wake is missed between that and the sleep
		s.mu.Unlock()
		var now uint64
		err := s.View(ctx, func(t *Table) error {
			now = t.Verdicts()
			return nil
		})
		if err != nil || now != verdicts {
			return err
		}
		timer := s.clock.NewTimer(delay)
		select {
		case <-timer.C():
		case <-wake:
			timer.Stop()
			delay = PollMin / 2
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// Stamp is the wall clock: it is all that processes share. See [Watch].
func (s *fileSession) Stamp(t time.Time) int64 { return t.UnixMilli() }

func (s *fileSession) Lost() <-chan struct{} { return s.lost }

// Err: the only loss is that somebody has removed the lease, or the whole state
// directory.
func (s *fileSession) Err() error { return lost("", ReasonMissing, "") }

func (s *fileSession) ValidUntil() time.Time { return time.Time{} }

func (s *fileSession) Renew(ctx context.Context) error {
	return s.View(ctx, func(*Table) error { return nil })
}

// Close removes what the instance has. If it cannot, others will: the lease ends
// in any case.
func (s *fileSession) Close(ctx context.Context) error {
	err := s.locked(ctx, func() error {
		err := s.update(func(t *Table) (bool, error) {
			return t.Reap(func(id string) bool { return id != s.id }, s.Stamp(s.clock.Now())), nil
		})
		if isClosed(s.lost) {
			return nil // what is there is not ours
		}
		s.lease.Close() // first: not every system removes an open file
		return errors.Join(err, os.Remove(s.leasePath(s.id)))
	})
	s.lease.Close()
	if isClosed(s.lost) || errors.Is(err, errNoStateDir) {
		return nil
	}
	return err
}
