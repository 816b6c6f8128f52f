//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/artifact"
)

// The test binary starts itself for what needs a process of its own: to be
// killed, to be another user, or to change its umask or limits. A helper works
// in the directory DIR of its environment and reports in lines.
var helpers = map[string]func() error{
	"hold":  holdHelper,
	"fork":  forkHelper,
	"child": childHelper,
	"probe": probeHelper,
	"umask": umaskHelper,
	"limit": limitHelper,
	"save":  saveHelper,
	"sweep": sweepHelper,
}

const (
	helperVariable = "ARTIFACT_TEST_HELPER"
	nobody         = 65534
)

func TestMain(m *testing.M) {
	name := os.Getenv(helperVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := helpers[name](); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become other users")
	}
}

// process is a helper that runs.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Scanner
}

// start runs a helper as the user uid, or the own one if it is negative. It is
// killed when the test ends.
func start(t *testing.T, name string, uid int, env ...string) *process {
	t.Helper()
	cmd := exec.Command(executable(t, uid))
	cmd.Env = append(os.Environ(), append(env, helperVariable+"="+name, "GORACE=atexit_sleep_ms=0")...)
	if uid >= 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		cmd.Dir = filepath.Dir(cmd.Path)
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+cmd.Dir)
	}
	input, stdin, err := os.Pipe()
	require.NoError(t, err)
	stdout, output, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, output, os.Stderr
	require.NoError(t, cmd.Start())
	input.Close()
	output.Close()
	p := &process{cmd, stdin, bufio.NewScanner(stdout)}
	t.Cleanup(func() {
		p.kill()
		stdin.Close()
		stdout.Close()
	})
	return p
}

// executable returns the test binary, for another user as a copy that it can
// reach.
func executable(t *testing.T, uid int) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	if uid < 0 {
		return self
	}
	path := filepath.Join(sharedDir(t), "helper")
	data, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o755))
	return path
}

// sharedDir returns a directory like /tmp: every user can reach it and work in
// it.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "artifact-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777|fs.ModeSticky))
	return dir
}

// line returns the next line that the helper prints.
func (p *process) line(t *testing.T) string {
	t.Helper()
	require.True(t, p.stdout.Scan(), "the helper has ended: %v", p.stdout.Err())
	return p.stdout.Text()
}

// kill ends the helper without a chance to clean up.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// finish lets the helper end, and requires that it does so well.
func (p *process) finish(t *testing.T) {
	t.Helper()
	require.NoError(t, p.stdin.Close())
	require.False(t, p.stdout.Scan(), p.stdout.Text())
	require.NoError(t, p.cmd.Wait())
}

func waitForInput() { _, _ = io.Copy(io.Discard, os.Stdin) }

// holdHelper has an artifact until its input ends.
func holdHelper() error {
	s, saved, err := helperSave("held")
	if err != nil {
		return err
	}
	fmt.Println(saved.Path)
	waitForInput()
	return s.Close()
}

func helperSave(content string) (*artifact.Spool, artifact.Saved, error) {
	s, err := artifact.NewSpool(artifact.Options{Dir: os.Getenv("DIR")})
	if err != nil {
		return nil, artifact.Saved{}, err
	}
	saved, err := s.Save([]byte(content))
	return s, saved, err
}

// forkHelper has an artifact and a child that runs on when it is killed.
func forkHelper() error {
	_, saved, err := helperSave("forked")
	if err != nil {
		return err
	}
	fmt.Println(saved.Path)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"=child")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

func childHelper() error {
	fmt.Println("child runs")
	waitForInput()
	fmt.Println("child ends")
	return nil
}

// probeHelper tells what it can do with the artifact PATH.
func probeHelper() error {
	path := os.Getenv("PATH_TO_PROBE")
	_, err := os.ReadDir(filepath.Dir(path))
	fmt.Println("list:", outcome(err))
	_, err = os.ReadFile(path)
	fmt.Println("read:", outcome(err))
	_, err = os.Stat(path)
	fmt.Println("stat:", outcome(err))
	return nil
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "allowed"
	case errors.Is(err, fs.ErrPermission):
		return "refused"
	}
	return err.Error()
}

// umaskHelper saves under the umask UMASK and prints the modes.
func umaskHelper() error {
	mask, err := strconv.ParseUint(os.Getenv("UMASK"), 8, 32)
	if err != nil {
		return err
	}
	unix.Umask(int(mask))
	s, saved, err := helperSave("masked")
	if err != nil {
		return err
	}
	own := filepath.Dir(saved.Path)
	for _, path := range []string{own, saved.Path, filepath.Join(own, "owner.lock")} {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		fmt.Println(info.Mode())
	}
	content, err := os.ReadFile(saved.Path)
	fmt.Println(string(content), err)
	return s.Close()
}

// limitHelper saves more than the process may write to a file, and tells what
// is left of it.
func limitHelper() error {
	limit := unix.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	_, _, err := helperSave(strings.Repeat("x", 1<<20))
	fmt.Println(errors.Is(err, unix.EFBIG))
	entries, err := os.ReadDir(os.Getenv("DIR"))
	fmt.Println(len(entries), err)
	return nil
}

// saveHelper saves and prints how it went.
func saveHelper() error {
	s, _, err := helperSave("x")
	fmt.Println(outcome(err))
	return s.Close()
}

// sweepHelper sweeps and prints how it went.
func sweepHelper() error {
	fmt.Println(artifact.Sweep(os.Getenv("DIR"), "", artifact.StaleAge))
	return nil
}
