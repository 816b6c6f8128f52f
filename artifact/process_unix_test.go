//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

// makeOld makes a directory look as if nothing has changed in it for longer
// than the stale age.
func makeOld(t testing.TB, dir string) {
	t.Helper()
	past := time.Now().Add(-artifact.StaleAge - time.Second)
	require.NoError(t, os.Chtimes(dir, past, past))
}

func requireSwept(t *testing.T, dir string, want int) {
	t.Helper()
	removed, err := artifact.Sweep(dir, "", artifact.StaleAge)
	require.NoError(t, err)
	require.Equal(t, want, removed)
}

func TestSweepSparesALiveProcess(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "hold", -1, "DIR="+dir)
	path := p.line(t)
	makeOld(t, filepath.Dir(path))
	requireSwept(t, dir, 0)
	requireFile(t, path, "held")
	p.finish(t)
	requireEmpty(t, dir)
}

func TestSweepRemovesWhatAKilledProcessLeft(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "hold", -1, "DIR="+dir)
	path := p.line(t)
	p.kill()
	requireSwept(t, dir, 0) // too young
	requireFile(t, path, "held")
	makeOld(t, filepath.Dir(path))
	requireSwept(t, dir, 1)
	requireEmpty(t, dir)
}

func TestChildDoesNotKeepTheLock(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "fork", -1, "DIR="+dir)
	path := p.line(t)
	require.Equal(t, "child runs", p.line(t))
	makeOld(t, filepath.Dir(path))
	requireSwept(t, dir, 0)
	p.kill()
	requireSwept(t, dir, 1)
	requireEmpty(t, dir)
	require.NoError(t, p.stdin.Close())
	require.Equal(t, "child ends", p.line(t))
}

func TestSpoolSweepsAtItsFirstCallOnly(t *testing.T) {
	dir := t.TempDir()
	s, _ := newSpool(t, artifact.Options{Dir: dir})
	for i, gone := range []bool{true, false} {
		p := start(t, "hold", -1, "DIR="+dir)
		path := p.line(t)
		p.kill()
		makeOld(t, filepath.Dir(path))
		s.Call()
		_, err := os.Lstat(path)
		require.Equal(t, gone, err != nil, "call %d", i+1)
	}
	requireSwept(t, dir, 1)
}

func TestOnlyTheOwnerCanReadAndNobodyCanList(t *testing.T) {
	needRoot(t)
	dir := sharedDir(t)
	owner := start(t, "hold", nobody, "DIR="+dir)
	path := owner.line(t)
	for uid, read := range map[int]string{nobody: "allowed", nobody - 1: "refused"} {
		probe := start(t, "probe", uid, "PATH_TO_PROBE="+path)
		require.Equal(t, "list: refused", probe.line(t))
		require.Equal(t, "read: "+read, probe.line(t))
		require.Equal(t, "stat: "+read, probe.line(t))
		probe.finish(t)
	}
	owner.finish(t) // removes a directory that it could not list
	requireEmpty(t, dir)
}

func TestSweepByAnUnprivilegedUser(t *testing.T) {
	needRoot(t)
	dir := sharedDir(t)
	for _, kill := range []int{nobody, nobody - 1} {
		owner := start(t, "hold", kill, "DIR="+dir)
		path := owner.line(t)
		owner.kill()
		makeOld(t, filepath.Dir(path))
	}
	requireSwept(t, dir, 0) // not even root removes what others have
	for left, uid := range []int{nobody, nobody - 1} {
		p := start(t, "sweep", uid, "DIR="+dir)
		require.Equal(t, "1 <nil>", p.line(t))
		p.finish(t)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1-left)
	}
}

func TestDirectoryThatCannotBeListedIsUsable(t *testing.T) {
	needRoot(t)
	if runtime.GOOS != "linux" {
		t.Skip("not on this system")
	}
	dir := sharedDir(t)
	require.NoError(t, os.Chmod(dir, 0o733|fs.ModeSticky))
	p := start(t, "save", nobody, "DIR="+dir)
	require.Equal(t, "allowed", p.line(t))
	p.finish(t)
	requireEmpty(t, dir)
}

func TestDirectoryThatCannotBeWrittenIsUnavailable(t *testing.T) {
	needRoot(t)
	dir := sharedDir(t)
	require.NoError(t, os.Chmod(dir, 0o755))
	p := start(t, "save", nobody, "DIR="+dir)
	require.Equal(t, "refused", p.line(t))
	p.finish(t)
	requireEmpty(t, dir)
}

func TestModesDoNotDependOnTheUmask(t *testing.T) {
	users := []int{-1}
	if os.Geteuid() == 0 {
		users = append(users, nobody) // root can open what has no permissions
	}
	for _, uid := range users {
		for _, umask := range []string{"0", "0777", "022"} {
			t.Run(fmt.Sprintf("uid %d, umask %s", uid, umask), func(t *testing.T) {
				dir := sharedDir(t)
				p := start(t, "umask", uid, "DIR="+dir, "UMASK="+umask)
				require.Equal(t, "d-wx------", p.line(t))
				require.Equal(t, "-rw-------", p.line(t))
				require.Equal(t, "-rw-------", p.line(t))
				require.Equal(t, "masked <nil>", p.line(t))
				p.finish(t)
				requireEmpty(t, dir)
			})
		}
	}
}

func TestFileSizeLimitLeavesNothing(t *testing.T) {
	p := start(t, "limit", -1, "DIR="+t.TempDir())
	require.Equal(t, "true", p.line(t))
	require.Equal(t, "0 <nil>", p.line(t))
	p.finish(t)
}
