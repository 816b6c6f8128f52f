package patch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A spy is a Mem that records what is done to it, and does what a test wants
// before each call, which then fails with the error the test returns.
type spy struct {
	*Mem
	calls  []string
	before func(call string) error
	staged int // writes that were neither published nor discarded
}

func (s *spy) note(name string, args ...string) error {
	call := strings.Join(append([]string{name}, args...), " ")
	s.calls = append(s.calls, call)
	if s.before == nil {
		return nil
	}
	return s.before(call)
}

// effects returns the calls that others can see.
func (s *spy) effects() []string {
	return slices.DeleteFunc(slices.Clone(s.calls), func(call string) bool {
		name, _, _ := strings.Cut(call, " ")
		return slices.Contains([]string{"resolve", "stat", "read", "stage", "discard", "sync"}, name)
	})
}

func (s *spy) Resolve(ctx context.Context, path string, follow bool) (string, error) {
	if err := s.note("resolve", path); err != nil {
		return "", err
	}
	return s.Mem.Resolve(ctx, path, follow)
}

func (s *spy) Stat(ctx context.Context, key string) (Snapshot, error) {
	if err := s.note("stat", key); err != nil {
		return Snapshot{}, err
	}
	return s.Mem.Stat(ctx, key)
}

func (s *spy) Read(ctx context.Context, key string, limit int) (Snapshot, error) {
	if err := s.note("read", key); err != nil {
		return Snapshot{}, err
	}
	return s.Mem.Read(ctx, key, limit)
}

func (s *spy) Mkdir(ctx context.Context, key string) error {
	if err := s.note("mkdir", key); err != nil {
		return err
	}
	return s.Mem.Mkdir(ctx, key)
}

func (s *spy) Rmdir(ctx context.Context, key string) error {
	if err := s.note("rmdir", key); err != nil {
		return err
	}
	return s.Mem.Rmdir(ctx, key)
}

func (s *spy) Stage(ctx context.Context, w Write) (Staged, error) {
	like := "new"
	if w.Like != nil {
		like = w.Like.Key
	}
	if err := s.note("stage", w.Key, like, fmt.Sprint(w.Old != nil, w.NewFile)); err != nil {
		return nil, err
	}
	staged, err := s.Mem.Stage(ctx, w)
	if err != nil {
		return nil, err
	}
	s.staged++
	return &spyStaged{Staged: staged, spy: s, key: w.Key}, nil
}

type spyStaged struct {
	Staged
	spy  *spy
	key  string
	done bool
}

func (s *spyStaged) Publish(ctx context.Context) error {
	if err := s.spy.note("publish", s.key); err != nil {
		return err
	}
	err := s.Staged.Publish(ctx)
	if err == nil {
		s.close()
	}
	return err
}

func (s *spyStaged) Discard() {
	_ = s.spy.note("discard", s.key)
	s.close()
	s.Staged.Discard()
}

func (s *spyStaged) close() {
	if !s.done {
		s.spy.staged--
		s.done = true
	}
}

func (s *spy) Rename(ctx context.Context, from Snapshot, to string) error {
	if err := s.note("rename", from.Key, to); err != nil {
		return err
	}
	return s.Mem.Rename(ctx, from, to)
}

func (s *spy) Remove(ctx context.Context, old Snapshot) error {
	if err := s.note("remove", old.Key); err != nil {
		return err
	}
	return s.Mem.Remove(ctx, old)
}

func (s *spy) SyncDir(_ context.Context, key string) { _ = s.note("sync", key) }

// everything is a patch with all kinds of steps, for everythingTree.
var everything = inPatch(
	"*** Delete File: old", "*** Delete File: link",
	"*** Update File: src", "*** Move to: m/n/dst", "@@", "-s", "+S",
	"*** Update File: plain", "*** Move to: r/renamed",
	"*** Update File: a", "@@", "-1", "+one",
	"*** Delete File: gone", "*** Add File: gone", "+again",
	"*** Add File: n/w/new", "+x", "*** Add File: n/new", "+y",
)

func everythingTree() *Mem {
	m := NewMem(map[string]string{"old": "o\n", "src": "s\n", "plain": "p\n", "a": "1\n", "gone": "g\n", "bystander": "!"})
	m.Symlink("a", "link")
	return m
}

// contents returns what m holds, directories aside.
func contents(m *Mem) map[string]string {
	list := map[string]string{}
	for key, e := range entries(m) {
		if !e.mode.IsDir() {
			list[key] = e.mode.Type().String() + e.data
		}
	}
	return list
}

// requireNoEmptyDirs checks that no directory is left that was made for a file.
func requireNoEmptyDirs(t *testing.T, m *Mem) {
	t.Helper()
	all := entries(m)
	for key, e := range all {
		if e.mode.IsDir() && key != "/" {
			used := slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(other string) bool { return strings.HasPrefix(other, key+"/") })
			require.True(t, used, "%s is left", key)
		}
	}
}

// checkDifference checks that changes are the difference of two trees.
func checkDifference(t require.TestingT, before, after map[string]string, changes []Change) {
	got := maps.Clone(before)
	regular := fs.FileMode(0).String()
	for _, c := range changes {
		_, existed := before[c.Key]
		require.Equal(t, c.Status == 'A' || c.From != "" && !existed, !existed, "%c %s", c.Status, c.Path)
		data := regular + string(c.After)
		if c.After == nil && c.Status != 'D' {
			require.False(t, c.Text)
			data = after[c.Key] // it was not read
		}
		if c.From != "" {
			require.Contains(t, before, c.FromKey)
			delete(got, c.FromKey)
			if c.After == nil {
				data = before[c.FromKey]
			}
		}
		got[c.Key] = data
		if c.Status == 'D' {
			delete(got, c.Key)
		} else if c.From == "" && c.Before != nil && c.After != nil {
			require.NotEqual(t, before[c.Key], data, "%c %s", c.Status, c.Path)
		}
	}
	require.Equal(t, after, got)
}

func TestPublishOrder(t *testing.T) {
	s := &spy{Mem: everythingTree()}
	checks := 0
	opts := Options{Check: func(context.Context) error {
		s.calls = append(s.calls, "check")
		checks++
		return nil
	}}
	_, err := Apply(t.Context(), s, mustParse(t, everything), opts)
	require.NoError(t, err)
	require.Equal(t, []string{
		"check", "mkdir /n", "check", "mkdir /n/w", "check", "mkdir /m", "check", "mkdir /m/n", "check", "mkdir /r",
		"check", "publish /n/w/new", "check", "publish /n/new",
		"check", "publish /a", "check", "publish /gone",
		"check", "publish /m/n/dst", "check", "remove /src", "check", "rename /plain /r/renamed",
		"check", "remove /old", "check", "remove /link",
	}, s.effects())
	require.Contains(t, s.calls, "stage /n/new new false true")
	require.Contains(t, s.calls, "stage /a /a true false")
	require.Contains(t, s.calls, "stage /gone /gone true true", "it keeps its mode")
	require.Contains(t, s.calls, "stage /m/n/dst /src false true")
	require.Equal(t, []string{"sync /", "sync /m", "sync /m/n", "sync /n", "sync /n/w", "sync /r"}, s.calls[len(s.calls)-6:])
	require.Zero(t, s.staged)

	s = &spy{Mem: everythingTree()}
	_, err = Apply(t.Context(), s, mustParse(t, inPatch("*** Delete File: link", "*** Add File: link", "*** Update File: plain", "*** Move to: old2", "*** Delete File: old", "*** Update File: old2", "*** Move to: old")), Options{})
	require.NoError(t, err)
	require.Contains(t, s.calls, "stage /link new true true")
	require.Contains(t, s.calls, "stage /old /plain true true")

	s = &spy{Mem: everythingTree()}
	_, err = Apply(t.Context(), s, mustParse(t, inPatch(
		"*** Update File: a", "+2", "*** Delete File: old",
		"*** Update File: src", "*** Move to: old", "*** Update File: a", "*** Move to: src", "*** Add File: a", "+new",
	)), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"publish /old", "publish /src", "publish /a"}, s.effects(), "R26: content is kept")

	s = &spy{Mem: everythingTree()}
	_, err = Apply(t.Context(), s, mustParse(t, inPatch(
		"*** Update File: a", "*** Move to: t", "*** Update File: src", "*** Move to: a", "*** Update File: t", "*** Move to: src",
	)), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"publish /a", "publish /src"}, s.effects())
}

func TestWhoIsToBlame(t *testing.T) {
	for body, msg := range map[string]string{
		"*** Add File: n\n+1\n*** Update File: n\n@@\n-1\n+2":                    `cannot add "n": destination already exists`,
		"*** Update File: a\n*** Move to: n\n*** Update File: n\n@@\n-1\n+2":     `cannot move "a" to "n": destination already exists`,
		"*** Update File: a\n@@\n-1\n+2\n*** Update File: ./a\n*** Move to: n":   `cannot move "./a" to "n": destination already exists`,
		"*** Update File: gone\n@@\n-g\n+2\n*** Update File: ./gone\n@@\n-2\n+3": `cannot update "./gone": file changed since it was read`,
	} {
		m := everythingTree()
		plan, err := NewPlan(t.Context(), m, mustParse(t, inPatch(body)), Options{})
		require.NoError(t, err)
		m.WriteFile("n", "")
		m.WriteFile("gone", "")
		_, err = plan.Commit(t.Context())
		require.EqualError(t, err, msg)
	}
}

func TestFaults(t *testing.T) {
	boom := fmt.Errorf("op /secret/path: %w", syscall.EIO)
	for _, mode := range []Mode{Atomic, Sequential} {
		faults, partial := 0, 0
		for k := 0; ; k++ {
			s := &spy{Mem: everythingTree()}
			before := contents(s.Mem)
			entriesBefore := entries(s.Mem)
			fired := ""
			n := 0
			s.before = func(call string) error {
				if strings.HasPrefix(call, "rmdir") || strings.HasPrefix(call, "discard") || strings.HasPrefix(call, "sync") {
					return nil
				}
				n++
				if n != k+1 {
					return nil
				}
				fired = call
				return boom
			}
			result, err := Apply(t.Context(), s, mustParse(t, everything), Options{Mode: mode})
			checkDifference(t, before, contents(s.Mem), result.Changes)
			requireNoEmptyDirs(t, s.Mem)
			require.Zero(t, s.staged, "temporary files are left")
			if fired == "" {
				require.NoError(t, err)
				break
			}
			faults++
			if err == nil {
				require.Regexp(t, "^read /(old|gone|link|plain)", fired, "what cannot be read can be deleted, and moved")
				continue
			}
			require.ErrorIs(t, err, syscall.EIO)
			require.Regexp(t, `^cannot \w+ "[^"]+"( to "[^"]+")?: input/output error$`, err.Error())
			if len(result.Changes) == 0 {
				require.Equal(t, entriesBefore, entries(s.Mem))
			} else {
				partial++
			}
		}
		require.Greater(t, faults, 40)
		require.GreaterOrEqual(t, partial, 8)
	}
}

func TestPartialMove(t *testing.T) {
	s := &spy{Mem: everythingTree()}
	s.before = func(call string) error {
		if call == "remove /src" {
			return syscall.EPERM
		}
		return nil
	}
	result, err := Apply(t.Context(), s, mustParse(t, inPatch("*** Update File: src", "*** Move to: dst", "@@", "-s", "+S")), Options{})
	require.EqualError(t, err, `cannot move "src" to "dst": operation not permitted`)
	require.Equal(t, []Change{{Status: 'A', Path: "dst", Key: "/dst", After: []byte("S\n"), Text: true}}, result.Changes, "R29")
	require.Equal(t, "s\n", s.Files()["/src"])

	// The same when the source is one that the call has made.
	s.calls, s.before = nil, func(call string) error {
		if call == "remove /t" {
			return syscall.EPERM
		}
		return nil
	}
	before := contents(s.Mem)
	text := inPatch("*** Update File: src", "*** Move to: t", "*** Update File: t", "*** Move to: u", "@@", "-s", "+S")
	result, err = Apply(t.Context(), s, mustParse(t, text), Options{Mode: Sequential})
	require.Error(t, err)
	require.Equal(t, "M t (src)\nA u", show(result.Changes))
	checkDifference(t, before, contents(s.Mem), result.Changes)
}

func TestDamage(t *testing.T) {
	for _, mode := range []Mode{Atomic, Sequential} {
		s := &spy{Mem: everythingTree()}
		s.before = func(call string) error {
			if call == "publish /a" {
				s.WriteFile("a", "o")
				return &Error{Code: CodeDamaged, Err: &fs.PathError{Op: "write", Path: "/a", Err: syscall.ENOSPC}}
			}
			return nil
		}
		result, err := Apply(t.Context(), s, mustParse(t, inPatch("*** Update File: a", "-1", "+one")), Options{Mode: mode})
		require.EqualError(t, err, `cannot update "a": write failed and the file may be incomplete: no space left on device`)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.Equal(t, []Change{{Status: 'M', Path: "a", Key: "/a", Before: []byte("1\n")}}, result.Changes, "it is not what it was")
	}
}

func TestVerify(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(m *Mem)
		code   string
	}{
		{"R25 destination appeared", func(m *Mem) { m.WriteFile("n/new", "y\n") }, CodeExists},
		{"R25 destination of a move appeared", func(m *Mem) { m.Symlink("x", "r/renamed") }, CodeExists},
		{"R25 other bytes", func(m *Mem) { m.WriteFile("a", "2\n") }, CodeStaleVersion},
		{"R25 more bytes", func(m *Mem) { m.WriteFile("a", "1\n2\n") }, CodeStaleVersion},
		{"R25 source of a move", func(m *Mem) { m.WriteFile("src", "") }, CodeStaleVersion},
		{"R25 not read, and touched", func(m *Mem) { m.WriteFile("plain", "p\n") }, CodeStaleVersion},
		{"R25 deleted", func(m *Mem) { delete(m.entries, "/old") }, CodeStaleVersion},
		{"R25 other link", func(m *Mem) { m.Symlink("b", "link") }, CodeStaleVersion},
		{"R25 now a link", func(m *Mem) { m.Symlink("bystander", "a") }, CodeStaleVersion},
		{"R25 now a directory", func(m *Mem) { m.put("a", memEntry{mode: fs.ModeDir}) }, CodeStaleVersion},
		{"R25 touched", func(m *Mem) { m.WriteFile("a", "1\n"); m.WriteFile("old", "o\n") }, ""},
		{"parent made", func(m *Mem) { m.WriteFile("n/w/other", "") }, ""},
		{"parent is a file now", func(m *Mem) { m.WriteFile("n", "") }, CodeNotDirectory},
		{"parent is a file now, deeper", func(m *Mem) { m.WriteFile("n/w", "") }, CodeNotDirectory},
	} {
		for _, when := range []string{"after the plan", "after staging"} {
			t.Run(tt.name+" "+when, func(t *testing.T) {
				s := &spy{Mem: everythingTree()}
				plan, err := NewPlan(t.Context(), s, mustParse(t, everything), Options{})
				require.NoError(t, err)
				var before map[string]string
				change := func() {
					tt.change(s.Mem)
					before = contents(s.Mem)
				}
				if when == "after the plan" {
					change()
				} else {
					s.before = func(call string) error {
						if strings.HasPrefix(call, "stage /m/n/dst") {
							tt.change(s.Mem)
							before = contents(s.Mem)
						}
						return nil
					}
				}
				result, err := plan.Commit(t.Context())
				if tt.code == "" {
					require.NoError(t, err)
					return
				}
				if strings.HasPrefix(tt.name, "parent") && when == "after staging" {
					require.Error(t, err)
					return
				}
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, tt.code, e.Code, "%v", err)
				require.Empty(t, result.Changes)
				require.Equal(t, before, contents(s.Mem))
				require.Zero(t, s.staged)
				require.Subset(t, before, map[string]string{"/bystander": "----------!"})
			})
		}
	}
}

// TestLateRaces changes files at the very last moment, when only the file system
// can see it.
func TestLateRaces(t *testing.T) {
	for call, race := range map[string]func(m *Mem){
		"publish /n/new":           func(m *Mem) { m.WriteFile("n/new", "other") },
		"publish /a":               func(m *Mem) { m.WriteFile("a", "other") },
		"rename /plain /r/renamed": func(m *Mem) { m.WriteFile("r/renamed", "other") },
		"remove /src":              func(m *Mem) { m.WriteFile("src", "other") },
		"remove /old":              func(m *Mem) { m.WriteFile("old", "other") },
	} {
		s := &spy{Mem: everythingTree()}
		before := contents(s.Mem)
		var key string
		s.before = func(c string) error {
			if c == call {
				race(s.Mem)
				for k, e := range entries(s.Mem) {
					if e.data == "other" {
						key = k
						before[k] = e.mode.Type().String() + e.data
					}
				}
			}
			return nil
		}
		result, err := Apply(t.Context(), s, mustParse(t, everything), Options{})
		require.Error(t, err, call)
		require.Equal(t, "other", s.Files()[key], call)
		checkDifference(t, before, contents(s.Mem), result.Changes)
	}
}

func TestOneWinner(t *testing.T) {
	m := NewMem(nil)
	const n = 20
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		p := mustParse(t, inPatch("*** Add File: d/a", fmt.Sprint("+", i)))
		wg.Go(func() { _, errs[i] = Apply(t.Context(), m, p, Options{}) })
	}
	wg.Wait()
	winner := slices.Index(errs, nil)
	require.GreaterOrEqual(t, winner, 0)
	require.Equal(t, fmt.Sprint(winner, "\n"), m.Files()["/d/a"])
	for i, err := range errs {
		if i != winner {
			require.ErrorIs(t, err, fs.ErrExist)
		}
	}
}

func TestCancellation(t *testing.T) {
	for _, mode := range []Mode{Atomic, Sequential} {
		cancelled := 0
		for k := 0; ; k++ {
			ctx, cancel := context.WithCancel(t.Context())
			s := &spy{Mem: everythingTree()}
			before := contents(s.Mem)
			n := 0
			s.before = func(string) error {
				if n++; n == k+1 {
					cancel()
				}
				return nil
			}
			result, err := Apply(ctx, s, mustParse(t, everything), Options{Mode: mode})
			stop := ctx.Err() == nil
			cancel()
			checkDifference(t, before, contents(s.Mem), result.Changes)
			requireNoEmptyDirs(t, s.Mem)
			require.Zero(t, s.staged)
			if stop {
				break
			}
			if err == nil {
				continue
			}
			cancelled++
			require.Equal(t, context.Canceled, err)
			if mode == Atomic {
				require.Empty(t, result.Changes)
			}
		}
		require.Greater(t, cancelled, 30)
	}
}

func TestCheck(t *testing.T) {
	lost := errors.New("lock lost")
	partial := 0
	for k := 0; ; k++ {
		s := &spy{Mem: everythingTree()}
		before := contents(s.Mem)
		n := 0
		result, err := Apply(t.Context(), s, mustParse(t, everything), Options{Check: func(context.Context) error {
			if n++; n > k {
				return lost
			}
			return nil
		}})
		checkDifference(t, before, contents(s.Mem), result.Changes)
		requireNoEmptyDirs(t, s.Mem)
		require.Zero(t, s.staged)
		if err == nil {
			require.Equal(t, 14, k)
			break
		}
		require.True(t, err == lost, "%v", err) //nolint:errorlint // it must be returned as it is
		if len(result.Changes) > 0 {
			partial++
		}
	}
	require.Equal(t, 8, partial)
}

func TestSequentialStops(t *testing.T) {
	m := testTree()
	p := mustParse(t, inPatch("*** Add File: n", "+x", "*** Update File: n", "-x", "+y", "*** Delete File: b", "*** Delete File: b", "*** Add File: never"))
	result, err := Apply(t.Context(), m, p, Options{Mode: Sequential})
	require.EqualError(t, err, `cannot delete "b": no such file or directory`)
	require.Equal(t, "A n\nD b", show(result.Changes))
	require.Equal(t, []byte("y\n"), result.Changes[0].After)
	require.NotContains(t, m.Files(), "/never")
}

func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code string
		msg  string
	}{
		{&fs.PathError{Op: "open", Path: "/s", Err: syscall.EACCES}, CodePermission, "permission denied"},
		{syscall.EPERM, CodePermission, "operation not permitted"},
		{fs.ErrPermission, CodePermission, "permission denied"},
		{syscall.ENOENT, CodeNotFound, "no such file or directory"},
		{syscall.ENOTDIR, CodeNotDirectory, "not a directory"},
		{syscall.EISDIR, CodeIsDirectory, "is a directory"},
		{syscall.ELOOP, CodeLoop, "too many levels of symbolic links"},
		{syscall.EEXIST, CodeExists, "destination already exists"},
		{syscall.ENOTEMPTY, CodeIO, "directory not empty"},
		{syscall.ENOSPC, CodeIO, "no space left on device"},
		{fmt.Errorf("x: %w", errors.New("bad\tthing")), CodeIO, `bad\tthing`},
		{fmt.Errorf("x: %w", ErrOutsideRoot), CodeOutsideRoot, "outside the allowed root"},
		{&Error{Code: "FS_SANDBOX_DENIED", Msg: "denied by the sandbox"}, "FS_SANDBOX_DENIED", "denied by the sandbox"},
		{&Error{Code: "X", Err: syscall.EIO}, "X", "input/output error"},
		{&Error{Code: "X"}, "X", "X"},
		{&Error{Err: syscall.ENOENT}, CodeNotFound, "no such file or directory"},
	} {
		s := &spy{Mem: testTree(), before: func(call string) error {
			if strings.HasPrefix(call, "stage") {
				return tt.err
			}
			return nil
		}}
		_, err := Apply(t.Context(), s, mustParse(t, inPatch("*** Add File: n")), Options{})
		require.EqualError(t, err, `cannot add "n": `+tt.msg)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, tt.code, e.Code)
		require.ErrorIs(t, err, tt.err)
	}
	require.NotErrorIs(t, ErrStale, ErrLoop)
}
