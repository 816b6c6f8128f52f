package guard_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

func target(key string) workspace.Target {
	return workspace.Target{Key: "/w/" + key, Display: key}
}

var (
	seen   = guard.Observation{Present: true, Version: workspace.VersionOf([]byte("one"))}
	absent = guard.Observation{}
	lost   = guard.Observation{Present: true}
)

func TestDecisions(t *testing.T) {
	is := workspace.IfVersion(seen.Version)
	for _, tt := range []struct {
		name                string
		seen                *guard.Observation
		write, edit, delete workspace.Expect
		editError, delError string
	}{
		{
			name: "never seen", write: workspace.IfAbsent(),
			editError: `edit requires reading "f" first`, delError: `delete requires reading "f" first`,
		},
		{
			name: "absent", seen: &absent, write: workspace.IfAbsent(),
			editError: `cannot edit "f": no such file or directory`, delError: `cannot delete "f": no such file or directory`,
		},
		{name: "present", seen: &seen, write: is, edit: is, delete: is},
		{name: "lost", seen: &lost, write: workspace.IfVersion(""), edit: workspace.IfVersion(""), delete: workspace.IfVersion("")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := new(guard.Policy)
			if tt.seen != nil {
				p.Observed("a", target("f"), *tt.seen)
			}
			got, err := p.WriteIntent("a", target("f"))
			require.NoError(t, err)
			require.Equal(t, tt.write, got)
			requireIntent(t, tt.edit, tt.editError)(p.EditIntent("a", target("f")))
			requireIntent(t, tt.delete, tt.delError)(p.DeleteIntent("a", target("f")))
		})
	}
}

func requireIntent(t *testing.T, want workspace.Expect, message string) func(workspace.Expect, error) {
	return func(got workspace.Expect, err error) {
		t.Helper()
		require.Equal(t, want, got)
		if message == "" {
			require.NoError(t, err)
			return
		}
		require.EqualError(t, err, message)
		require.Equal(t, strings.Contains(message, "requires"), errors.Is(err, workspace.ErrNotObserved))
		require.Equal(t, strings.Contains(message, "no such"), errors.Is(err, workspace.ErrNotFound))
		require.Equal(t, strings.Contains(message, "no such"), errors.Is(err, fs.ErrNotExist))
	}
}

func TestNoPolicyExpectsNothing(t *testing.T) {
	var p *guard.Policy
	for _, intent := range []func(string, workspace.Target) (workspace.Expect, error){p.WriteIntent, p.EditIntent, p.DeleteIntent} {
		got, err := intent("a", target("f"))
		require.NoError(t, err)
		require.Equal(t, workspace.Any(), got)
	}
	p.Observed("a", target("f"), seen)
	p.Failed("a", target("f"), workspace.ErrStaleVersion)
}

func TestAgentsAreSeparate(t *testing.T) {
	var s guard.Store
	s.Record("a", target("f"), seen)
	_, ok := s.Lookup("b", target("f"))
	require.False(t, ok)
	_, ok = s.Lookup("a", target("g"))
	require.False(t, ok)

	got, ok := s.Lookup("a", workspace.Target{Key: "/w/f", Display: "./f"})
	require.True(t, ok, "the key counts, not the spelling")
	require.Equal(t, seen, got)

	s.Record("a", target("f"), absent)
	got, _ = s.Lookup("a", target("f"))
	require.Equal(t, absent, got)
	s.Forget("a")
	_, ok = s.Lookup("a", target("f"))
	require.False(t, ok)
}

func TestCopyIsForAFork(t *testing.T) {
	var s guard.Store
	s.Record("parent", target("f"), seen)
	s.Record("child", target("g"), seen)
	s.Copy("parent", "child")
	_, ok := s.Lookup("child", target("g"))
	require.False(t, ok, "it knows what the parent knows, and nothing else")
	s.Record("child", target("f"), absent)
	got, _ := s.Lookup("parent", target("f"))
	require.Equal(t, seen, got, "they part from then on")
	s.Copy("parent", "parent")
	_, ok = s.Lookup("parent", target("f"))
	require.True(t, ok)
	s.Copy("nobody", "parent")
	_, ok = s.Lookup("parent", target("f"))
	require.False(t, ok)
}

func TestLeastRecentlyUsedIsForgotten(t *testing.T) {
	var s guard.Store
	for i := range guard.MaxTargets {
		s.Record("a", target(fmt.Sprint(i)), seen)
	}
	_, ok := s.Lookup("a", target("0")) // used again
	require.True(t, ok)
	s.Record("a", target("1"), absent) // and this one
	s.Copy("a", "b")
	for _, owner := range []string{"a", "b"} {
		s.Record(owner, target("more"), seen)
		for key, want := range map[string]bool{"0": true, "1": true, "2": false, "3": true, "more": true} {
			_, ok := s.Lookup(owner, target(key))
			require.Equal(t, want, ok, "%s %s", owner, key)
		}
	}
}

func TestLossFailsClosed(t *testing.T) {
	gone := &workspace.Error{Code: workspace.ErrStaleVersion.Code, Op: workspace.OpEdit, Err: fs.ErrNotExist}
	p := new(guard.Policy)
	for _, tt := range []struct {
		name         string
		before, want guard.Observation
		err          error
	}{
		{"gone", seen, lost, gone},
		{"gone, wrapped", seen, lost, fmt.Errorf("tool: %w", gone)},
		{"changed", seen, seen, workspace.ErrStaleVersion},
		{"known to be absent", absent, absent, gone},
		{"not found", seen, seen, workspace.ErrNotFound},
		{"read of a missing file", seen, seen, &workspace.Error{Code: workspace.ErrNotFound.Code, Op: workspace.OpRead}},
		{"cancelled", seen, seen, context.Canceled},
		{"no error", seen, seen, nil},
	} {
		p.Observed("a", target("f"), tt.before)
		p.Failed("a", target("f"), tt.err)
		got, ok := p.Store.Lookup("a", target("f"))
		require.True(t, ok)
		require.Equal(t, tt.want, got, tt.name)
	}
	p.Failed("a", target("unseen"), gone)
	_, ok := p.Store.Lookup("a", target("unseen"))
	require.False(t, ok)
}

func TestMissingReadsMayBeTrusted(t *testing.T) {
	missing := &workspace.Error{Code: workspace.ErrNotFound.Code, Op: workspace.OpRead, Err: fs.ErrNotExist}
	p := &guard.Policy{TrustMissingReads: true}
	p.Observed("a", target("f"), lost)
	p.Failed("a", target("f"), missing)
	got, _ := p.Store.Lookup("a", target("f"))
	require.Equal(t, absent, got)

	p.Observed("a", target("f"), seen)
	p.Failed("a", target("f"), &workspace.Error{Code: workspace.ErrNotFound.Code, Op: workspace.OpEdit})
	p.Failed("a", target("f"), workspace.ErrPermission)
	got, _ = p.Store.Lookup("a", target("f"))
	require.Equal(t, seen, got, "another failure proves nothing")
}

func TestRemedy(t *testing.T) {
	stale := &workspace.Error{Code: workspace.ErrStaleVersion.Code, Op: workspace.OpEdit, Path: "f", Reason: "file changed since it was read", Err: fs.ErrNotExist}
	unseen := &workspace.Error{Code: workspace.ErrNotObserved.Code, Op: workspace.OpWrite, Path: "f"}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{stale, `cannot edit "f": file changed since it was read — re-read the file, then retry`},
		{fmt.Errorf("own: %w", stale), `own: cannot edit "f": file changed since it was read — re-read the file, then retry`},
		{unseen, `cannot overwrite existing "f" without reading it first — read the file, then retry`},
	} {
		got := guard.Remedy(tt.err)
		require.EqualError(t, got, tt.want)
		require.Equal(t, tt.err, errors.Unwrap(got))
		require.Equal(t, workspace.CodeOf(tt.err), workspace.CodeOf(got))
		require.Equal(t, errors.Is(tt.err, fs.ErrNotExist), errors.Is(got, fs.ErrNotExist))
		var e *workspace.Error
		require.ErrorAs(t, got, &e)
		require.Same(t, got, guard.Remedy(got), "nothing is added twice")
		wrapped := fmt.Errorf("outer: %w", got)
		require.Same(t, wrapped, guard.Remedy(wrapped))
	}
	require.NoError(t, guard.Remedy(nil))
	for _, err := range []error{errors.New("own"), workspace.ErrNotFound, fs.ErrNotExist, context.Canceled} {
		require.True(t, guard.Remedy(err) == err, "the identical value") //nolint:errorlint // it is about identity
	}
}

func TestConcurrentUse(t *testing.T) {
	p := new(guard.Policy)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			owner := fmt.Sprint(i % 3)
			for j := range 200 {
				p.Observed(owner, target(fmt.Sprint(j)), seen)
				_, _ = p.EditIntent(owner, target(fmt.Sprint(j)))
				p.Store.Copy(owner, fmt.Sprint(j%3))
				if j%50 == 0 {
					p.Store.Forget(owner)
				}
			}
		})
	}
	all.Wait()
}

func ExamplePolicy() {
	policy := new(guard.Policy)
	file := workspace.Target{Key: "/src/main.go", Display: "main.go"}

	_, err := policy.EditIntent("agent 1", file)
	fmt.Println(err)
	fmt.Println(guard.Remedy(err)) // for the model

	v := workspace.VersionOf([]byte("package main\n"))
	policy.Observed("agent 1", file, guard.Observation{Present: true, Version: v})
	expect, err := policy.EditIntent("agent 1", file)
	fmt.Println(expect == workspace.IfVersion(v), err)
	// Output:
	// edit requires reading "main.go" first
	// edit requires reading "main.go" first — read the file, then retry
	// true <nil>
}
