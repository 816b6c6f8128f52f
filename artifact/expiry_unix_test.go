//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taukit/taukit/artifact"
)

// clock is a fake clock.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Now()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func calls(s *artifact.Spool, n int) {
	for range n {
		s.Call()
	}
}

func TestExpiryNeedsCallsAndAge(t *testing.T) {
	const age = 15 * time.Minute
	for name, test := range map[string]struct {
		calls int
		age   time.Duration
		gone  bool
	}{
		"neither":               {31, age - 1, false},
		"31 calls and old":      {31, 10 * time.Hour, false},
		"32 calls and young":    {32, age - 1, false},
		"1000 calls in 14 min":  {1000, 14 * time.Minute, false},
		"32 calls, exactly old": {32, age, true},
		"more of both":          {1000, 10 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			s, _ := newSpool(t, artifact.Options{Now: clock.Now})
			calls(s, 7)
			path := save(t, s, "x")
			calls(s, test.calls-1)
			clock.Advance(test.age)
			requireFile(t, path, "x") // no timer runs
			s.Call()
			if test.gone {
				requireGone(t, filepath.Dir(path))
			} else {
				requireFile(t, path, "x")
			}
		})
	}
}

func TestExpiryByTheSystemClock(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := artifact.NewSpool(artifact.Options{Dir: dir})
		require.NoError(t, err)
		defer s.Close()
		path := save(t, s, "x")
		calls(s, artifact.DefaultMinCalls)
		time.Sleep(artifact.DefaultMinAge - 1)
		s.Call()
		requireFile(t, path, "x")
		time.Sleep(time.Nanosecond)
		s.Call()
		requireGone(t, path)
	})
}

func TestExpiryIgnoresTheWallClock(t *testing.T) {
	clock := newClock()
	s, _ := newSpool(t, artifact.Options{Now: clock.Now, MinCalls: 1})
	path := save(t, s, "x")

	clock.now = setWallClock(t, clock.now, 10*365*24*time.Hour)
	s.Call()
	requireFile(t, path, "x")
	clock.now = setWallClock(t, clock.now, -20*365*24*time.Hour)
	clock.Advance(artifact.DefaultMinAge)
	s.Call()
	requireGone(t, path)
}

// setWallClock returns t as it would read had somebody set the wall clock
// forward by d: with the same monotonic time.
func setWallClock(t *testing.T, now time.Time, d time.Duration) time.Time {
	const nanosecondBits = 30 // of the first word; seconds are above them
	jumped := now
	*(*uint64)(unsafe.Pointer(&jumped)) += uint64(d/time.Second) << nanosecondBits
	require.Zero(t, jumped.Sub(now), "the layout of time.Time has changed")
	require.Equal(t, d, jumped.Round(0).Sub(now.Round(0)), "the layout of time.Time has changed")
	return jumped
}

func TestExpiryWaitsForCommit(t *testing.T) {
	clock := newClock()
	s, _ := newSpool(t, artifact.Options{Now: clock.Now})
	w := create(t, s)
	clock.Advance(time.Hour)
	calls(s, 100)
	_, err := w.Write([]byte("x"))
	require.NoError(t, err)
	saved, err := w.Commit()
	require.NoError(t, err)
	requireFile(t, saved.Path, "x")
	s.Call() // it counts from Create
	requireGone(t, saved.Path)
}

func TestExpiryTriesAgainAfterAFailure(t *testing.T) {
	clock := newClock()
	s, dir := newSpool(t, artifact.Options{Now: clock.Now, MinCalls: 1, MaxFiles: 2})
	path := save(t, s, "x")
	obstacle := obstruct(t, path)
	other := save(t, s, "y")
	clock.Advance(time.Hour)
	s.Call()
	require.DirExists(t, filepath.Dir(path))
	requireGone(t, other)

	save(t, s, "z")
	_, err := s.Create()
	require.ErrorIs(t, err, artifact.ErrQuota, "the failed one still counts")
	require.NoError(t, os.Remove(obstacle))
	s.Call()
	requireGone(t, filepath.Dir(path))
	save(t, s, "1")
	require.NoError(t, s.Close())
	requireEmpty(t, dir)
}

func TestFailedAbortIsTriedAgainAtTheNextCall(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{})
	w := create(t, s)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	obstacle := obstruct(t, filepath.Join(dir, entries[0].Name(), "output"))
	require.Error(t, w.Abort())
	require.NoError(t, os.Remove(obstacle))
	s.Call()
	requireEmpty(t, dir)
}

func TestFailedWriteWhoseRemovalFailsIsTriedAgain(t *testing.T) {
	s, dir := newSpool(t, artifact.Options{Quota: 3})
	w := create(t, s)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	obstacle := obstruct(t, filepath.Join(dir, entries[0].Name(), "output"))
	_, err = w.Write([]byte("1234"))
	require.ErrorIs(t, err, artifact.ErrQuota)
	require.ErrorContains(t, err, entries[0].Name())
	require.NoError(t, os.Remove(obstacle))
	s.Call()
	requireEmpty(t, dir)
}

// expiryModel is the rule of expiry, written down naively.
type expiryModel struct {
	calls, minCalls int
	now, minAge     time.Duration
	live            []*modelArtifact
}

type modelArtifact struct {
	path   string
	writer *artifact.Writer // nil once committed
	call   int
	born   time.Duration
}

func (m *expiryModel) call() {
	m.calls++
	m.live = slices.DeleteFunc(m.live, func(a *modelArtifact) bool {
		return a.writer == nil && m.calls >= a.call+m.minCalls && m.now >= a.born+m.minAge
	})
}

// writing returns an artifact that is being written.
func (m *expiryModel) writing(t *rapid.T) *modelArtifact {
	var all []*modelArtifact
	for _, a := range m.live {
		if a.writer != nil {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		t.Skip("none")
	}
	return rapid.SampledFrom(all).Draw(t, "writer")
}

func TestExpiryFollowsTheModel(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		require.NoError(t, err)
		clock := newClock()
		model := &expiryModel{
			minCalls: rapid.IntRange(1, 4).Draw(t, "calls"),
			minAge:   time.Duration(rapid.IntRange(1, 4).Draw(t, "age")) * time.Minute,
		}
		s, err := artifact.NewSpool(artifact.Options{
			Dir: dir, MinCalls: model.minCalls, MinAge: model.minAge, Now: clock.Now, MaxFiles: 5,
		})
		require.NoError(t, err)
		closed := false

		t.Repeat(map[string]func(*rapid.T){
			"call": func(*rapid.T) {
				s.Call()
				if !closed {
					model.call()
				}
			},
			"advance": func(t *rapid.T) {
				d := rapid.SampledFrom([]time.Duration{time.Second, time.Minute - 1, time.Minute, 3 * time.Minute}).Draw(t, "d")
				clock.Advance(d)
				model.now += d
			},
			"create": func(t *rapid.T) {
				w, err := s.Create()
				switch {
				case closed:
					require.ErrorIs(t, err, artifact.ErrClosed)
				case len(model.live) == 5:
					require.ErrorIs(t, err, artifact.ErrQuota)
				default:
					require.NoError(t, err)
					model.live = append(model.live, &modelArtifact{writer: w, call: model.calls, born: model.now})
				}
			},
			"commit": func(t *rapid.T) {
				a := model.writing(t)
				saved, err := a.writer.Commit()
				require.NoError(t, err)
				a.path, a.writer = saved.Path, nil
			},
			"abort": func(t *rapid.T) {
				a := model.writing(t)
				require.NoError(t, a.writer.Abort())
				model.live = slices.DeleteFunc(model.live, func(b *modelArtifact) bool { return a == b })
			},
			"close": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") < 9 {
					t.Skip("rarely")
				}
				require.NoError(t, s.Close())
				closed, model.live = true, nil
			},
			"": func(t *rapid.T) {
				entries, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Len(t, entries, len(model.live))
				for _, a := range model.live {
					_, err := os.Stat(a.path)
					require.False(t, a.writer == nil && errors.Is(err, fs.ErrNotExist), "%s has gone too early", a.path)
				}
			},
		})
		require.NoError(t, s.Close())
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, entries)
	})
}
