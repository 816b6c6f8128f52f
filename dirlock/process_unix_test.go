//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/dirlock/locktest"
)

// process is a helper that runs.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Scanner
}

// start runs a helper, as the user uid if that is not negative. It is killed when
// the test ends.
func start(t *testing.T, name string, uid int, env ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), append(env, helperVariable+"="+name, "GORACE=atexit_sleep_ms=0")...)
	if uid >= 0 {
		dir := sharedDir(t)
		data, err := os.ReadFile(self)
		require.NoError(t, err)
		cmd.Path = filepath.Join(dir, "helper")
		require.NoError(t, os.WriteFile(cmd.Path, data, 0o755))
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	p := &process{cmd, stdin, bufio.NewScanner(stdout)}
	t.Cleanup(p.kill)
	return p
}

// line requires that the helper prints this line next.
func (p *process) line(t *testing.T, want string) {
	t.Helper()
	require.True(t, p.stdout.Scan(), "the helper has ended: %v", p.stdout.Err())
	require.Equal(t, want, p.stdout.Text())
}

// kill ends the helper without a chance to clean up.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.stdin.Close()
}

// killed requires that the helper prints nothing more, as it has killed itself.
func (p *process) killed(t *testing.T) {
	t.Helper()
	require.False(t, p.stdout.Scan(), "%s", p.stdout.Text())
	_ = p.cmd.Wait()
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok && status.Signaled() && status.Signal() == syscall.SIGKILL, "%v", p.cmd.ProcessState)
}

// finish lets the helper end, and requires that it does so well.
func (p *process) finish(t *testing.T) {
	t.Helper()
	require.NoError(t, p.stdin.Close())
	require.False(t, p.stdout.Scan(), p.stdout.Text())
	require.NoError(t, p.cmd.Wait())
}

func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dirlock-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777|fs.ModeSticky))
	return dir
}

func waitForInput() { _, _ = io.Copy(io.Discard, os.Stdin) }

func helperManager() (*dirlock.File, *dirlock.Manager, error) {
	f, err := dirlock.NewFile(dirlock.FileOptions{Dir: os.Getenv("STATE")})
	if err != nil {
		return nil, nil, err
	}
	m, err := dirlock.New(context.Background(), f, dirlock.Options{Identify: pathOnly})
	return f, m, err
}

// holdHelper has a manual lock on /w of the agent AGENT until its input ends.
func holdHelper() error {
	_, m, err := helperManager()
	if err != nil {
		return err
	}
	agent := dirlock.Owner(os.Getenv("AGENT"))
	req := request(agent, "/w")
	req.OnWait = func(w dirlock.Wait) { fmt.Println("waits for", w.BlockingOwner) }
	held, err := m.LockManual(context.Background(), req)
	if err != nil {
		return err
	}
	fmt.Println("locked")
	waitForInput()
	if _, err := m.Unlock(context.Background(), agent, held.Dir); !errors.Is(err, dirlock.ErrNotHeld) && err != nil {
		return err
	}
	return m.Close(context.Background())
}

// editHelper waits for /w/x and then has it until its input ends.
func editHelper() error {
	_, m, err := helperManager()
	if err != nil {
		return err
	}
	req := request("A", "/w/x")
	req.OnWait = func(w dirlock.Wait) { fmt.Println("waits for", w.BlockingOwner) }
	g, err := m.LockAuto(context.Background(), req)
	if err != nil {
		return err
	}
	fmt.Println("granted")
	waitForInput()
	g.Release()
	return m.Close(context.Background())
}

// TestScenarios24And25AWaiterLooksOftenEnough is about the time in which it finds
// out what another process has done.
func TestScenarios24And25AWaiterLooksOftenEnough(t *testing.T) {
	clock := &sleepClock{Clock: locktest.NewClock()}
	state := filepath.Join(t.TempDir(), "state")
	holder := newManager(t, openFile(t, state, nil))
	held, err := holder.LockManual(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	m := newManager(t, openFile(t, state, clock))
	failed := waits(t, t.Context(), m, request("B", "/w"))
	for range 8 {
		clock.AwaitTimers(2) // of the waiter, and of its session
		clock.Advance(dirlock.PollMax)
	}
	clock.AwaitTimers(2)
	sleeps := slices.DeleteFunc(clock.all(), func(d time.Duration) bool { return d == dirlock.PollMax })
	const ms = time.Millisecond
	require.Equal(t, []time.Duration{50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms}, sleeps, "besides the longest")
	_, err = holder.Unlock(t.Context(), "A", held.Dir)
	require.NoError(t, err)
	clock.Advance(dirlock.PollMax)
	require.NoError(t, within(t, failed))
}

// A sleepClock notes for how long its timers are.
type sleepClock struct {
	*locktest.Clock
	mu     sync.Mutex
	sleeps []time.Duration
}

func (c *sleepClock) NewTimer(d time.Duration) dirlock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sleeps = append(c.sleeps, d)
	return c.Clock.NewTimer(d)
}

func (c *sleepClock) all() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sleeps)
}

func TestScenario24TwoProcesses(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	a := start(t, "hold", -1, "STATE="+state, "AGENT=A")
	a.line(t, "locked")
	b := start(t, "edit", -1, "STATE="+state) // scenario 26: the same id is another owner
	b.line(t, "waits for A")
	a.finish(t)
	b.line(t, "granted")
	b.finish(t)
	requireNoInstances(t, state)
}

func TestScenario25AHolderIsKilled(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	a := start(t, "hold", -1, "STATE="+state, "AGENT=A")
	a.line(t, "locked")
	b := start(t, "edit", -1, "STATE="+state)
	b.line(t, "waits for A")
	a.kill()
	b.line(t, "granted")
	b.finish(t)
	requireNoInstances(t, state)
}

func TestAWaiterIsKilled(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	m := newManager(t, openFile(t, state, nil))
	held, err := m.LockManual(t.Context(), request("M", "/w"))
	require.NoError(t, err)
	b := start(t, "edit", -1, "STATE="+state)
	b.line(t, "waits for M")
	b.kill()
	_, err = m.Unlock(t.Context(), "M", held.Dir)
	require.NoError(t, err)
	g, err := m.LockAuto(t.Context(), request("M", "/"))
	require.NoError(t, err)
	g.Release()
}

func TestScenario26ForceUnlockAcrossProcesses(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	m := newManager(t, openFile(t, state, nil))
	a := start(t, "hold", -1, "STATE="+state, "AGENT=A")
	a.line(t, "locked")
	held, err := m.ForceUnlock(t.Context(), "B", "A", "/w")
	require.NoError(t, err)
	require.Equal(t, dirlock.Owner("A"), held.Owner)
	g, err := m.LockAuto(t.Context(), request("B", "/w"))
	require.NoError(t, err)
	g.Release()
	a.finish(t)
}

func requireNoInstances(t *testing.T, state string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(state, "instances"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// countHelper increments the number in the file COUNTER under a lock. A kill
// between two of its steps must not matter to the others.
func countHelper() error {
	_, m, err := helperManager()
	if err != nil {
		return err
	}
	rounds, err := strconv.Atoi(os.Getenv("ROUNDS"))
	if err != nil {
		return err
	}
	for n := range rounds {
		dirs := [][]string{{"/w"}, {"/w/x", "/y"}, {"/w/x/z"}}[n%3]
		g, err := m.LockAuto(context.Background(), request("A", dirs...))
		if err != nil {
			return err
		}
		if err := increment(os.Getenv("COUNTER")); err != nil {
			return err
		}
		fmt.Println(n)
		g.Release()
	}
	return m.Close(context.Background())
}

// increment fails if a process that lives is at the same file.
func increment(path string) error {
	busy := path + ".busy"
	if other, err := os.ReadFile(busy); err == nil {
		if pid, err := strconv.Atoi(string(other)); err == nil && syscall.Kill(pid, 0) == nil {
			return fmt.Errorf("process %d is at work too", pid)
		}
	}
	if err := os.WriteFile(busy, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", []byte(strconv.Itoa(n+1)), 0o600); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return os.Remove(busy)
}

// TestI12ProcessesLoseNoUpdate lets processes increment a counter, of which some
// are killed.
func TestI12ProcessesLoseNoUpdate(t *testing.T) {
	const processes, rounds = 4, 12
	dir := t.TempDir()
	counter := filepath.Join(dir, "counter")
	require.NoError(t, os.WriteFile(counter, []byte("0"), 0o600))
	env := []string{"STATE=" + filepath.Join(dir, "state"), "COUNTER=" + counter, "ROUNDS=" + strconv.Itoa(rounds)}
	var live, killed []*process
	for range processes {
		live = append(live, start(t, "count", -1, env...))
	}
	for range 2 {
		killed = append(killed, start(t, "count", -1, env...))
	}
	most := 0
	for _, p := range killed {
		p.line(t, "0")
		p.kill()
		most += rounds
	}
	for _, p := range live {
		for n := range rounds {
			p.line(t, strconv.Itoa(n))
		}
		p.finish(t)
	}
	data, err := os.ReadFile(counter)
	require.NoError(t, err)
	n, err := strconv.Atoi(string(data))
	require.NoError(t, err)
	require.GreaterOrEqual(t, n, processes*rounds+len(killed))
	require.LessOrEqual(t, n, processes*rounds+most)
	newManager(t, openFile(t, filepath.Join(dir, "state"), nil))
	left, err := os.ReadDir(filepath.Join(dir, "state", "instances"))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// crashHelper is killed at the step STEP of a store, after its input has ended.
func crashHelper() error {
	f, m, err := helperManager()
	if err != nil {
		return err
	}
	fmt.Println("attached")
	waitForInput()
	f.SetFault(func(step string) error {
		if step == os.Getenv("STEP") {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	})
	_, err = m.LockManual(context.Background(), request("A", "/w"))
	return fmt.Errorf("still alive: %w", err)
}

// TestI13KilledAtAnyStep is TestCrashesAtAnyStep with real processes.
func TestI13KilledAtAnyStep(t *testing.T) {
	for _, step := range []string{"before write", "after write", "before rename", "after rename", "before remove", "after remove"} {
		t.Run(step, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			first := start(t, "hold", -1, "STATE="+state, "AGENT=A") // to be found dead
			first.line(t, "locked")
			m := newManager(t, openFile(t, state, nil))
			p := start(t, "crash", -1, "STATE="+state, "STEP="+step)
			p.line(t, "attached")
			if strings.HasSuffix(step, "remove") {
				first.kill()
			}
			require.NoError(t, p.stdin.Close())
			p.killed(t)
			first.kill()
			g, err := m.LockAuto(t.Context(), request("B", "/w"))
			require.NoError(t, err)
			g.Release()
			require.NoError(t, m.Close(t.Context()))
			next := newManager(t, openFile(t, state, nil))
			_, err = os.Stat(filepath.Join(state, "registry.json.tmp"))
			require.ErrorIs(t, err, fs.ErrNotExist)
			s, err := next.Snapshot(t.Context())
			require.NoError(t, err)
			require.Empty(t, s)
		})
	}
}

const nobody = 65534

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become another user")
	}
}

// unreadableHelper is scenario 27 by a user whom modes mean something to.
func unreadableHelper() error {
	f, m, err := helperManager()
	if err != nil {
		return err
	}
	other, err := dirlock.New(context.Background(), f, dirlock.Options{Identify: pathOnly})
	if err != nil {
		return err
	}
	if _, err := other.LockManual(context.Background(), request("A", "/w")); err != nil {
		return err
	}
	instances := filepath.Join(f.Dir(), "instances")
	if err := os.Chmod(instances, 0); err != nil {
		return err
	}
	for _, dir := range []string{"/w", "/x"} {
		_, err = m.LockAuto(context.Background(), request("B", dir))
		fmt.Println(errors.Is(err, dirlock.ErrBackend), errors.Is(err, fs.ErrPermission))
	}
	if err := os.Chmod(instances, 0o700); err != nil {
		return err
	}
	s, err := m.Snapshot(context.Background())
	fmt.Println(len(s.Held), len(s.Waiting), err)
	return errors.Join(m.Close(context.Background()), other.Close(context.Background()))
}

func TestScenario27UnreadableLeases(t *testing.T) {
	needRoot(t)
	p := start(t, "unreadable", nobody, "STATE="+filepath.Join(sharedDir(t), "state"))
	p.line(t, "true true")
	p.line(t, "true true")
	p.line(t, "1 0 <nil>")
	p.finish(t)
}

// tryHelper says whether it can use a state directory.
func tryHelper() error {
	_, m, err := helperManager()
	if err != nil {
		fmt.Println(err)
		return nil
	}
	fmt.Println("usable")
	return m.Close(context.Background())
}

func TestScenario27StateDirectories(t *testing.T) {
	dir := t.TempDir()
	try := func(path string) error {
		_, err := dirlock.NewFile(dirlock.FileOptions{Dir: path})
		return err
	}
	private := filepath.Join(dir, "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	require.NoError(t, try(private))
	require.NoError(t, try(filepath.Join(dir, "new/below")))

	open := filepath.Join(dir, "open")
	require.NoError(t, os.Mkdir(open, 0o755))
	require.NoError(t, os.Chmod(open, 0o755))
	require.ErrorContains(t, try(open), "must be private (0700), found mode 755")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(private, link))
	require.ErrorContains(t, try(link), "must be a real directory")
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o700))
	require.ErrorContains(t, try(file), "must be a real directory")
	require.ErrorContains(t, try("relative"), "must be an absolute path")

	inner := filepath.Join(dir, "inner")
	require.NoError(t, os.Mkdir(inner, 0o700))
	require.NoError(t, os.Symlink(private, filepath.Join(inner, "instances")))
	require.ErrorContains(t, try(inner), "must be a real directory")
}

func TestScenario27AStateDirectoryOfAnotherUser(t *testing.T) {
	needRoot(t)
	state := filepath.Join(sharedDir(t), "state")
	mine := start(t, "try", nobody, "STATE="+state)
	mine.line(t, "usable")
	mine.finish(t)
	theirs := start(t, "try", nobody-1, "STATE="+state)
	theirs.line(t, fmt.Sprintf("dirlock: state directory %q belongs to another user", state))
	theirs.finish(t)
	_, err := dirlock.NewFile(dirlock.FileOptions{Dir: state})
	require.ErrorContains(t, err, "belongs to another user")
}

func TestTheDefaultStateDirectory(t *testing.T) {
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	f, err := dirlock.NewFile(dirlock.FileOptions{})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(runtime, "taukit", "dirlock"), f.Dir())
	require.NoError(t, os.Chmod(f.Dir(), 0o755))
	_, err = dirlock.NewFile(dirlock.FileOptions{})
	require.NoError(t, err)
	info, err := os.Stat(f.Dir())
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), "it is closed")

	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", runtime)
	f, err = dirlock.NewFile(dirlock.FileOptions{})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(runtime, fmt.Sprint("taukit-dirlock-", os.Geteuid())), f.Dir())
}

func TestTheRegistryIsBusy(t *testing.T) {
	f := newFile(t)
	m := newManager(t, f)
	lock, err := os.OpenFile(filepath.Join(f.Dir(), "registry.lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = m.LockAuto(ctx, request("A", "/w"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_UN))
	g, err := m.LockAuto(t.Context(), request("A", "/w"))
	require.NoError(t, err)
	g.Release()
}
