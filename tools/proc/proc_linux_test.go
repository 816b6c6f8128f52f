package proc_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/tools/proc"
)

// onlyZombies reports whether the members of a group that are left have ended
// and wait for the system to reap them.
func onlyZombies(t *testing.T, group int) bool {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has gone
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 2 && fields[2] == strconv.Itoa(group) && fields[0] != "Z" {
			return false
		}
	}
	return true
}

func TestNoDescriptorIsInherited(t *testing.T) {
	// As if this process had been started with descriptors that it knows
	// nothing of.
	for range 3 {
		fd, err := unix.Dup(1)
		require.NoError(t, err)
		defer unix.Close(fd)
	}
	c, got := sh("exec ls /proc/self/fd")
	run(t, t.Context(), c)
	require.Equal(t, "0\n1\n2\n3\n", got.out.String(), "the last one is of ls itself")
}

// signalSets returns the ignored and the blocked signals of a command.
func signalSets(t *testing.T) string {
	t.Helper()
	c, got := sh("exec grep -E '^Sig(Ign|Blk)' /proc/self/status")
	run(t, t.Context(), c)
	return got.out.String()
}

// ignore ignores signals for the time of a test.
func ignore(t *testing.T, signals ...os.Signal) {
	signal.Ignore(signals...)
	t.Cleanup(func() {
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, signals...) // signal.Reset would leave them ignored
		signal.Stop(caught)
	})
}

const noSignals = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"

func TestSignalsHaveTheirDefaults(t *testing.T) {
	require.Equal(t, noSignals, signalSets(t))

	ignore(t, syscall.SIGPIPE, syscall.SIGWINCH)
	require.Equal(t, noSignals, signalSets(t))
	require.True(t, signal.Ignored(syscall.SIGPIPE), "here they stay ignored")
	require.True(t, signal.Ignored(syscall.SIGWINCH))

	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			c, got := sh("exec grep -E '^Sig(Ign|Blk)' /proc/self/status")
			if _, err := proc.Run(t.Context(), c); err != nil || got.out.String() != noSignals {
				t.Error(err, got.out.String())
			}
		})
	}
	wait.Wait()
	require.True(t, signal.Ignored(syscall.SIGPIPE))
}

// TestSignalsThatWereIgnoredAtTheStart is about signals of which package signal
// does not know (R6).
func TestSignalsThatWereIgnoredAtTheStart(t *testing.T) {
	const variable = "PROC_TEST_IGNORED"
	if os.Getenv(variable) == "" {
		test, err := os.Executable()
		require.NoError(t, err)
		c, got := sh(`trap '' TSTP TTIN TTOU CONT INT HUP PIPE USR1; exec "$1" -test.run="^$2\$"`)
		c.Args = append(c.Args, "sh", test, t.Name())
		c.Env = append(c.Env, variable+"=1")
		require.Zero(t, run(t, t.Context(), c).Status, got.out.String())
		return
	}
	require.Equal(t, noSignals, signalSets(t))
	require.Equal(t, noSignals, signalSets(t))
	require.True(t, signal.Ignored(syscall.SIGTTOU), "here they stay ignored")
}

func TestNoSignalIsBlocked(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.Sigset_t
	blocked := unix.Sigset_t{}
	blocked.Val[0] = 1<<(unix.SIGTERM-1) | 1<<(unix.SIGUSR1-1)
	require.NoError(t, unix.PthreadSigmask(unix.SIG_SETMASK, &blocked, &before))
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	require.Equal(t, noSignals, signalSets(t))
}

func TestUnknownStatus(t *testing.T) {
	// Children of a process that ignores SIGCHLD are reaped by the system.
	ignore(t, syscall.SIGCHLD)
	c, got := sh("echo x; exit 3")
	o, err := proc.Run(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, proc.Unknown, o.Reason)
	require.False(t, o.HasStatus)
	require.Zero(t, o.Signal)
	require.Equal(t, "x\n", got.out.String())
}

// TestNothingIsLeftBehind makes many calls of every kind.
func TestNothingIsLeftBehind(t *testing.T) {
	calls := 1000
	if testing.Short() {
		calls = 100
	}
	runSome := func(n int) {
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				for i := range n / 4 {
					c, _ := sh([]string{"echo x", "exit 3", "kill -9 $$", ":", "no-such"}[(i+worker)%5])
					c.PTY = i%10 == 9
					if _, err := proc.Run(t.Context(), c); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
	}
	runSome(100) // what the runtime keeps, it has afterwards
	threads, files := count(t, "/proc/self/task"), count(t, "/proc/self/fd")
	runSome(calls)
	goleak.VerifyNone(t)
	require.LessOrEqual(t, count(t, "/proc/self/task"), threads+4, "four at once need threads, a thousand in turn no more")
	require.Equal(t, files, count(t, "/proc/self/fd"))
	var status unix.WaitStatus
	_, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
	require.ErrorIs(t, err, unix.ECHILD, "every child is reaped")
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	return len(entries)
}
