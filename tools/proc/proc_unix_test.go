//go:build linux || darwin

package proc_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// A capture is what a command has written.
type capture struct{ out, err bytes.Buffer }

func (c *capture) take(s shellrec.Stream, p []byte) {
	if s == shellrec.Stdout {
		c.out.Write(p)
	} else {
		c.err.Write(p)
	}
}

// sh returns a command for a script, and what it writes.
func sh(script string) (proc.Command, *capture) {
	got := new(capture)
	return proc.Command{
		Path:   "sh",
		Args:   []string{"-c", script},
		Env:    os.Environ(),
		Output: got.take,
	}, got
}

// run runs a command and checks what holds of every outcome: one reason, a
// status or a signal but not both, and no member of the group is left if the
// command was to end.
func run(t *testing.T, ctx context.Context, c proc.Command) proc.Outcome { //nolint:revive // as in package testing
	t.Helper()
	var pid int
	c.Start = func(cmd *exec.Cmd) error {
		err := cmd.Start()
		if err == nil {
			pid = cmd.Process.Pid
		}
		return err
	}
	start := time.Now()
	o, err := proc.Run(ctx, c)
	require.NoError(t, err)
	require.Contains(t, []proc.Reason{proc.Exited, proc.Signaled, proc.TimedOut, proc.Cancelled}, o.Reason)
	require.True(t, o.HasStatus != (o.Signal != 0), "%+v", o)
	require.LessOrEqual(t, o.Duration, time.Since(start))
	if o.Reason == proc.TimedOut || o.Reason == proc.Cancelled {
		requireNoGroup(t, pid)
	}
	return o
}

// requireNoGroup waits until the members of a group, which have got SIGKILL and
// whose parent is another process by now, are reaped.
func requireNoGroup(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		return errors.Is(unix.Kill(-pid, 0), unix.ESRCH) || onlyZombies(t, pid)
	}, patience, time.Millisecond)
}

func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         proc.Outcome
		out, err     string
	}{
		{"exit", "echo hi; echo bad >&2; exit 3", proc.Outcome{Reason: proc.Exited, Status: 3, HasStatus: true}, "hi\n", "bad\n"},
		{"success", ":", proc.Outcome{Reason: proc.Exited, HasStatus: true}, "", ""},
		{"highest status", "exit 255", proc.Outcome{Reason: proc.Exited, Status: 255, HasStatus: true}, "", ""},
		{"signal", "echo x; kill -9 $$", proc.Outcome{Reason: proc.Signaled, Signal: 9}, "x\n", ""},
		{"own SIGTERM", "kill $$; sleep 60", proc.Outcome{Reason: proc.Signaled, Signal: 15}, "", ""},
		{"not found", "exec no-such-command-zz9 2>/dev/null", proc.Outcome{Reason: proc.Exited, Status: 127, HasStatus: true}, "", ""},
		{"closed output", "exec >&- 2>&-; exit 4", proc.Outcome{Reason: proc.Exited, Status: 4, HasStatus: true}, "", ""},
		{"stdin is at end", "cat; read x; echo $?", proc.Outcome{Reason: proc.Exited, HasStatus: true}, "1\n", ""},
		{"no terminal", "test -t 0 || test -t 1 || test -t 2 || (: </dev/tty) 2>/dev/null || echo none", proc.Outcome{Reason: proc.Exited, HasStatus: true}, "none\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, got := sh(tt.script)
			c.Timeout = patience
			o := run(t, t.Context(), c)
			o.Duration = 0
			require.Equal(t, tt.want, o)
			require.Equal(t, tt.out, got.out.String())
			require.Equal(t, tt.err, got.err.String())
		})
	}
}

func TestTimeout(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         proc.Outcome
	}{
		{"ends by SIGTERM", "echo ready; sleep 60", proc.Outcome{Signal: 15}},
		{"exits in a trap", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done", proc.Outcome{HasStatus: true}},
		{"ignores SIGTERM, and so do its children", "trap '' TERM; sleep 60 & echo ready; sleep 60; sleep 60", proc.Outcome{Signal: 9}},
		{"stops itself", "echo ready; kill -STOP $$; sleep 60", proc.Outcome{Signal: 15}},
		{"leaves children that ignore it", "(trap '' TERM; sleep 60; sleep 60) & echo ready; sleep 60", proc.Outcome{Signal: 15}},
		{"double fork in the group", "(sleep 60 & sleep 60 &) ; (trap '' TERM; sleep 60 & wait) & echo ready; sleep 60", proc.Outcome{Signal: 15}},
		{"floods both streams", "yes & yes >&2 & echo ready; yes", proc.Outcome{Signal: 15}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, got := sh(tt.script)
			c.Timeout, c.KillGrace = 300*time.Millisecond, 300*time.Millisecond
			o := run(t, t.Context(), c)
			require.GreaterOrEqual(t, o.Duration, c.Timeout)
			o.Duration = 0
			tt.want.Reason = proc.TimedOut
			require.Equal(t, tt.want, o)
			require.Contains(t, got.out.String(), "ready\n")
		})
	}
}

func TestAnExitAtTheDeadlineHasOneReason(t *testing.T) {
	for i := range 40 {
		c, _ := sh("sleep 0.02")
		c.Timeout = 20*time.Millisecond + time.Duration(i)*200*time.Microsecond
		o := run(t, t.Context(), c)
		require.True(t, o.Reason == proc.Exited && o.HasStatus || o.Reason == proc.TimedOut, "%+v", o)
	}
}

func TestCancellation(t *testing.T) {
	t.Run("before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("not any more")
		cancel(why)
		c, _ := sh("echo x")
		c.Start = func(*exec.Cmd) error { t.Error("it was started"); return nil }
		_, err := proc.Run(ctx, c)
		var start *proc.StartError
		require.ErrorAs(t, err, &start)
		require.ErrorIs(t, err, why)
	})
	t.Run("at the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c, _ := sh("sleep 60")
		c.Start = func(cmd *exec.Cmd) error { defer cancel(); return cmd.Start() }
		o, err := proc.Run(ctx, c)
		require.NoError(t, err)
		require.Equal(t, proc.Cancelled, o.Reason)
		require.Equal(t, 15, o.Signal)
	})
	t.Run("while it runs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c, got := sh("echo so far; sleep 60")
		c.Output = func(s shellrec.Stream, p []byte) { got.take(s, p); cancel() }
		o := run(t, ctx, c)
		require.Equal(t, proc.Cancelled, o.Reason)
		require.Equal(t, "so far\n", got.out.String())
	})
	t.Run("during the grace of a timeout", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c, got := sh("trap 'echo asked' TERM; while :; do sleep 0.01; done")
		c.Timeout, c.KillGrace = 500*time.Millisecond, time.Hour
		c.Output = func(s shellrec.Stream, p []byte) { got.take(s, p); cancel() }
		o := run(t, ctx, c)
		require.Equal(t, proc.TimedOut, o.Reason)
		require.Equal(t, 9, o.Signal)
	})
	t.Run("in a hurry", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hurry := make(chan struct{})
		c, got := sh("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done")
		c.KillGrace, c.Hurry = time.Hour, hurry
		c.Output = func(s shellrec.Stream, p []byte) {
			got.take(s, p)
			if cancel(); strings.Contains(string(p), "asked") {
				close(hurry)
			}
		}
		o := run(t, ctx, c)
		require.Equal(t, proc.Cancelled, o.Reason)
		require.Equal(t, 9, o.Signal)
		require.Equal(t, "ready\nasked\n", got.out.String())
	})
	t.Run("after the end", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c, got := sh("sleep 60 & echo done")
		c.DrainWindow = 300 * time.Millisecond
		c.Output = func(s shellrec.Stream, p []byte) { got.take(s, p); time.AfterFunc(100*time.Millisecond, cancel) }
		o := run(t, ctx, c)
		require.Equal(t, proc.Exited, o.Reason)
		require.True(t, o.OutputOpen)
	})
}

func TestDescendantsThatHoldTheOutput(t *testing.T) {
	dir := t.TempDir()
	var drains proc.Drains
	defer drains.Close()

	// The server stays in the group, or leaves it; it writes more than a pipe
	// takes after the command has ended.
	for name, start := range map[string]string{"in the group": "sh", "in a session of its own": "setsid sh"} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(start, "setsid") {
				if _, err := exec.LookPath("setsid"); err != nil {
					t.Skip(err)
				}
			}
			alive, gate := filepath.Join(dir, name+" alive"), filepath.Join(dir, name+" gate")
			require.NoError(t, unix.Mkfifo(gate, 0o600))
			c, got := sh(start + ` -c 'cat "$1"; head -c 300000 /dev/zero; echo y >"$2"' server "$1" "$2" & echo started`)
			c.Args = append(c.Args, "sh", gate, alive)
			c.Drains = &drains
			o := run(t, t.Context(), c)
			require.Equal(t, proc.Exited, o.Reason)
			require.True(t, o.OutputOpen)
			require.Equal(t, "started\n", got.out.String())
			require.NoError(t, os.WriteFile(gate, nil, 0))
			require.Eventually(t, func() bool { _, err := os.Stat(alive); return err == nil }, patience, time.Millisecond)
			require.Equal(t, "started\n", got.out.String())
		})
	}
}

func TestASurvivorDoesNotDelayATimeout(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	c, _ := sh(`setsid sh -c 'echo $$ >"$1"; exec sleep 60' s "$1" & while ! test -s "$1"; do sleep 0.01; done; sleep 60`)
	c.Args = append(c.Args, "sh", pidFile)
	c.Timeout = 500 * time.Millisecond
	var drains proc.Drains
	defer drains.Close()
	c.Drains = &drains
	start := time.Now()
	o, err := proc.Run(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, proc.TimedOut, o.Reason)
	require.True(t, o.OutputOpen)
	require.Less(t, time.Since(start), patience)

	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, unix.Kill(pid, 0), "it lives")
	require.NoError(t, unix.Kill(pid, unix.SIGKILL))
}

func TestWhatWasWrittenBeforeTheEndIsRead(t *testing.T) {
	// A pipe full, and a reader that takes longer than the window for it.
	c, got := sh("head -c 65536 /dev/zero; sleep 60 & :")
	c.DrainWindow = time.Nanosecond
	o := run(t, t.Context(), c)
	require.Equal(t, 65536, got.out.Len())
	require.True(t, o.OutputOpen)
}

func TestOutputIsCompleteAndExact(t *testing.T) {
	c, got := sh("head -c 3000000 /dev/urandom | tee /dev/stderr")
	run(t, t.Context(), c)
	require.Equal(t, 3000000, got.out.Len())
	require.True(t, bytes.Equal(got.out.Bytes(), got.err.Bytes()))
}

func TestAFloodOnOneStreamDoesNotStarveTheOther(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := sh("yes & sleep 0.05; echo now >&2; wait")
	c.Output = func(s shellrec.Stream, _ []byte) {
		if s == shellrec.Stderr {
			cancel()
		}
	}
	require.Equal(t, proc.Cancelled, run(t, ctx, c).Reason)
}

func TestDirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	before, err := os.Getwd()
	require.NoError(t, err)
	c, got := sh("pwd -P")
	c.Dir = dir
	run(t, t.Context(), c)
	require.Equal(t, dir+"\n", got.out.String())
	after, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, []byte("x"), 0o600))
	for name, tt := range map[string]struct {
		change func(c *proc.Command)
		reason string
		is     error
	}{
		"no program in PATH":    {func(c *proc.Command) { c.Path = "no-such-shell" }, "no such file or directory", fs.ErrNotExist},
		"no PATH":               {func(c *proc.Command) { c.Env = nil }, "no such file or directory", fs.ErrNotExist},
		"relative PATH":         {func(c *proc.Command) { c.Dir, c.Path, c.Env = dir, "plain", []string{"PATH=.:"} }, "no such file or directory", fs.ErrNotExist},
		"no program":            {func(c *proc.Command) { c.Path = dir + "/none" }, "no such file or directory", fs.ErrNotExist},
		"not executable":        {func(c *proc.Command) { c.Path = plain }, "permission denied", fs.ErrPermission},
		"not executable, PATH":  {func(c *proc.Command) { c.Path, c.Env = "plain", []string{"PATH=/none:" + dir} }, "permission denied", fs.ErrPermission},
		"no directory":          {func(c *proc.Command) { c.Dir = dir + "/none" }, "no such file or directory", fs.ErrNotExist},
		"an argument too long":  {func(c *proc.Command) { c.Args[1] = strings.Repeat("x", 64<<17) }, "argument list too long", syscall.E2BIG},
		"NUL in an argument":    {func(c *proc.Command) { c.Args[1] = "a\x00b" }, "invalid argument", syscall.EINVAL},
		"its own way to start":  {func(c *proc.Command) { c.Start = func(*exec.Cmd) error { return errors.New("not today") } }, "not today", nil},
		"what the caller cut":   {func(c *proc.Command) { c.Start = func(*exec.Cmd) error { return syscall.EAGAIN } }, "resource temporarily unavailable", syscall.EAGAIN},
		"NUL in an environment": {func(c *proc.Command) { c.Env = append(c.Env, "A=b\x00c") }, "invalid argument", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, got := sh(":")
			tt.change(&c)
			_, err := proc.Run(t.Context(), c)
			var start *proc.StartError
			require.ErrorAs(t, err, &start)
			if name != "NUL in an environment" { // package exec has words of its own
				require.Equal(t, tt.reason, start.Reason())
			}
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
			require.Zero(t, got.out.Len()+got.err.Len())
		})
	}
}

func TestPTY(t *testing.T) {
	c, got := sh("test -t 1 && test -t 2 && ! test -t 0 && stty size <&1; echo err >&2; printf 'a\\r\\nb'; (sleep 0.05; echo late)& (: </dev/tty) 2>/dev/null && echo controlling")
	c.PTY, c.DrainWindow = true, patience // until its end
	o := run(t, t.Context(), c)
	require.Equal(t, proc.Exited, o.Reason)
	require.Equal(t, "24 80\na\r\nblate\n", got.out.String())
	require.Equal(t, "err\n", got.err.String())
	require.False(t, o.OutputOpen)
}

func TestAPanicLeavesNoProcess(t *testing.T) {
	c, _ := sh("echo x; sleep 60")
	var pid int
	c.Start = func(cmd *exec.Cmd) error {
		err := cmd.Start()
		pid = cmd.Process.Pid
		return err
	}
	c.Output = func(shellrec.Stream, []byte) { panic("a consumer") }
	require.PanicsWithValue(t, "a consumer", func() { _, _ = proc.Run(t.Context(), c) })
	requireNoGroup(t, pid)
}
