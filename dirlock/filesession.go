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
	epoch string   // of the table that the instance may have records in; with the registry locked

	once sync.Once
	lost chan struct{}

	life context.Context // of watch
	end  context.CancelFunc
	done chan struct{}
}

func newFileSession(f *File) *fileSession {
	s := &fileSession{File: f, id: newID(), lost: make(chan struct{}), done: make(chan struct{})}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

func (s *fileSession) ID() string { return s.id }

func (s *fileSession) Update(ctx context.Context, update func(*Table) (bool, error)) error {
	return s.atRegistry(ctx, func() error { return s.update(update) })
}

// atRegistry calls do with the registry locked.
func (s *fileSession) atRegistry(ctx context.Context, do func() error) error {
	err := s.locked(ctx, do)
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

// watch looks for the loss of the session while nobody uses it: a command may run
// for long under its lock.
func (s *fileSession) watch() {
	defer close(s.done)
	for !isClosed(s.lost) {
		timer := s.clock.NewTimer(PollMax)
		select {
		case <-timer.C():
		case <-s.life.Done():
			timer.Stop()
			return
		}
		_ = s.atRegistry(s.life, func() error { // what fails may work the next time
			_, err := s.current()
			return err
		})
	}
}

// current returns the table, if the lease is there, and the table is the one that
// the instance has its records in: in another one they are gone, and their
// numbers may be those of others.
func (s *fileSession) current() (*Table, error) {
	if there, err := isAt(s.lease, s.leasePath(s.id)); err != nil {
		return nil, err
	} else if !there {
		return nil, s.lose()
	}
	t, err := s.load()
	if err == nil && s.epoch != "" && s.epoch != t.epoch {
		return nil, s.lose()
	}
	return t, err
}

// update is Update with the registry locked.
func (s *fileSession) update(update func(*Table) (bool, error)) error {
	t, err := s.current()
	if err != nil {
		return err
	}
	s.table = nil // until it is again what the registry says
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
		return err
	}
	s.table = t
	if t.Generation() > 0 { // else nobody has stored it yet
		s.epoch = t.epoch
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

// Err: the only loss is that somebody has removed the lease, the table, or the
// whole state directory.
func (s *fileSession) Err() error { return lost("", ReasonMissing, "") }

func (s *fileSession) ValidUntil() time.Time { return time.Time{} }

func (s *fileSession) Renew(ctx context.Context) error {
	return s.View(ctx, func(*Table) error { return nil })
}

// Close removes what the instance has. If it cannot, others will: the lease ends
// in any case.
func (s *fileSession) Close(ctx context.Context) error {
	s.end()
	<-s.done
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
