package confine_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/tools/confine"
)

// The test binary starts itself: as the helper of UserNS, as a command that tries
// what it can, and as the tests again, in another situation.
var helpers = map[string]func() error{
	"attack":    attackHelper,
	"report":    reportHelper,
	"unhelpful": unhelpfulHelper,
	"drop":      dropHelper,
}

const (
	helperVariable    = "CONFINE_TEST_HELPER"
	situationVariable = "CONFINE_TEST_SITUATION"
	nobody            = 65534
)

func TestMain(m *testing.M) {
	name := os.Getenv(helperVariable)
	if name != "unhelpful" {
		confine.RunHelper()
	}
	if name == "" {
		os.Exit(runTests(m))
	}
	if err := helpers[name](); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// runTests runs the tests in a program that starts itself, or itself without the
// race detector: with it, a start takes three times as long, and what is started
// has nothing that could race.
func runTests(m *testing.M) int {
	program = "/proc/self/exe"
	if path, err := os.Executable(); err == nil {
		program = path
	}
	if raceEnabled {
		dir, err := os.MkdirTemp("", "confine-test-")
		if err == nil {
			defer os.RemoveAll(dir)
			plain := filepath.Join(dir, "plain.test")
			if exec.Command("go", "test", "-c", "-race=false", "-o", plain, ".").Run() == nil {
				program = plain
			}
		}
	}
	return m.Run()
}

// program is what the tests start for helpers and situations.
var program string

// A situation is another process in which the methods have to work.
type situation struct {
	name string
	env  []string // in addition
	attr func() *syscall.SysProcAttr
}

func asNobody() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

var situations = []situation{
	{name: "ordinary user", attr: asNobody},
	{name: "mount namespace", attr: func() *syscall.SysProcAttr {
		return &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	}},
	{name: "root without CAP_SYS_ADMIN", env: []string{helperVariable + "=drop"}},
	{name: "root of a user namespace", attr: func() *syscall.SysProcAttr {
		ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
		return &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, UidMappings: ids, GidMappings: ids,
			GidMappingsEnableSetgroups: true, Credential: &syscall.Credential{},
		}
	}},
}

// TestSituations runs the tests again where other methods work, or work otherwise.
func TestSituations(t *testing.T) {
	if os.Getenv(situationVariable) != "" {
		t.Skip("runs in a situation")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become others")
	}
	if testing.Short() {
		t.Skip("takes a minute")
	}
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			dir := sharedDir(t)
			cmd := exec.Command(copyOfTest(t, dir), "-test.run=^Test(Method|Chain)", "-test.v")
			cmd.Env = append(os.Environ(), append(s.env, situationVariable+"="+s.name, "TMPDIR="+dir)...)
			cmd.Dir = dir
			if s.attr != nil {
				cmd.SysProcAttr = s.attr()
			}
			output, err := cmd.CombinedOutput()
			if testing.Verbose() || err != nil {
				t.Logf("%s", output)
			}
			require.NoError(t, err)
		})
	}
}

// dropHelper becomes the tests, without CAP_SYS_ADMIN.
func dropHelper() error {
	runtime.LockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	for _, set := range []*uint32{&sets[0].Effective, &sets[0].Permitted, &sets[0].Inheritable} {
		*set &^= 1 << unix.CAP_SYS_ADMIN
	}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return err
	}
	os.Unsetenv(helperVariable)
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

func copyOfTest(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	path := filepath.Join(dir, "confine.test")
	require.NoError(t, os.WriteFile(path, data, 0o755))
	return path
}

// sharedDir returns a directory like /tmp: every user can work in it.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "confine-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	return dir
}

var methods = []confine.Method{
	confine.MountNS(), confine.UserNS(), confine.Landlock(), confine.Bubblewrap(""),
}

// chains are one of each method, for all tests: a probe costs as much as a start,
// and to start things is what costs here. No test may break a method in one.
var chains = func() map[confine.Method]*confine.Chain {
	chains := map[confine.Method]*confine.Chain{}
	for _, m := range methods {
		chains[m] = confine.NewChain(m)
	}
	return chains
}()

// eachMethod runs test with every method that works here.
func eachMethod(t *testing.T, test func(t *testing.T, m confine.Method)) {
	for _, m := range methods {
		t.Run(m.Name(), func(t *testing.T) {
			if _, err := chainOf(m).Method(t.Context()); err != nil {
				t.Skip("not to be had here: ", err)
			}
			test(t, m)
		})
	}
}

// chainOf returns the chain of m alone.
func chainOf(m confine.Method) *confine.Chain { return chains[m] }

// canonicalTemp returns a directory of the test without symbolic links in its
// path.
func canonicalTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// sh returns a command that runs a script.
func sh(t testing.TB, script string, args ...string) *exec.Cmd {
	t.Helper()
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	cmd := exec.Command(shell, append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// helper returns a command that runs a helper of these tests.
func helper(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), helperVariable+"="+name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// A result is what became of a command.
type result struct {
	stdout, stderr string
	state          *os.ProcessState
}

// run runs cmd under the plan to its end.
func run(t testing.TB, c *confine.Chain, cmd *exec.Cmd, p confine.Plan) result {
	t.Helper()
	r, err := try(t, cmd, func() (*confine.Confined, error) { return c.Start(t.Context(), cmd, p) })
	require.NoError(t, err)
	return r
}

// try runs cmd, which start starts, with its output in files.
func try(t testing.TB, cmd *exec.Cmd, start func() (*confine.Confined, error)) (result, error) {
	t.Helper()
	var outputs [2]*os.File
	for i := range outputs {
		fd, err := unix.MemfdCreate("output", unix.MFD_CLOEXEC)
		require.NoError(t, err)
		outputs[i] = os.NewFile(uintptr(fd), "output")
		defer outputs[i].Close()
	}
	cmd.Stdout, cmd.Stderr = outputs[0], outputs[1]
	confined, err := start()
	if err != nil {
		return result{}, err
	}
	state, err := cmd.Process.Wait()
	require.NoError(t, err)
	if confined != nil {
		require.NoError(t, confined.Close())
	}
	return result{content(t, outputs[0]), content(t, outputs[1]), state}, nil
}

func content(t testing.TB, f *os.File) string {
	t.Helper()
	info, err := f.Stat()
	require.NoError(t, err)
	data := make([]byte, info.Size())
	_, err = f.ReadAt(data, 0)
	if len(data) > 0 {
		require.NoError(t, err)
	}
	return strings.ToValidUTF8(string(data), "?")
}
