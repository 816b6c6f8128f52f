package confine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/tools/confine"
)

// What a command has must be what it has when it is started without confinement.
func TestMethodChangesNothingElse(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		command := func(input string) *exec.Cmd {
			cmd := helper("report", "", "two words", "-- x", "new\nline", "invalid \xff")
			cmd.Dir = f.protected
			cmd.Env = append(cmd.Env, "EMPTY=", "A=1", "A=2", "INVALID=\xff", "GODEBUG=", "LINES=1\n2")
			require.NoError(t, os.WriteFile(f.base+"/input", []byte(input), 0o600))
			stdin, err := os.Open(f.base + "/input")
			require.NoError(t, err)
			t.Cleanup(func() { stdin.Close() })
			cmd.Stdin = stdin
			return cmd
		}
		cmd := command("in")
		cmd.Env = append(cmd.Env, "PWD="+cmd.Dir) // which bwrap sets
		want, err := try(t, cmd, func() (*confine.Confined, error) { return nil, cmd.Start() })
		require.NoError(t, err)
		require.True(t, want.state.Success(), want.stderr)
		cmd = command("in")
		cmd.Env = append(cmd.Env, "PWD="+cmd.Dir)
		if m.Name() != "Bubblewrap" {
			cmd.Args[0] = "the zeroth"
			want.stdout = strings.Replace(want.stdout, fmt.Sprintf("%q", cmd.Path), `"the zeroth"`, 1)
		} else { // its child is no leader
			want.stdout = strings.Replace(want.stdout, "leader true true", "leader false false", 1)
		}
		got := run(t, chainOf(m), cmd, confine.Plan{ReadOnly: []string{f.protected}})
		require.Equal(t, want.stdout, got.stdout)
		require.Equal(t, want.stderr, got.stderr)
		require.Equal(t, want.state.ExitCode(), got.state.ExitCode())
	})
}

func TestMethodEndsAsTheCommand(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		for _, script := range []string{"exit 0", "exit 1", "exit 125", "exit 255", "kill -TERM $$", "kill -KILL $$", "kill -PIPE $$"} {
			if m.Name() == "Bubblewrap" && strings.HasPrefix(script, "kill") {
				continue // shows as a status, as documented
			}
			cmd := sh(t, script)
			want, err := try(t, cmd, func() (*confine.Confined, error) { return nil, cmd.Start() })
			require.NoError(t, err)
			got := run(t, chainOf(m), sh(t, script), confine.Plan{ReadOnly: []string{f.protected}})
			require.Equal(t, want.state.String(), got.state.String())
			require.Equal(t, "", got.stdout+got.stderr)
		}
	})
}

// Descriptors that the caller closes or gives arrive as such, and no others do.
func TestMethodDescriptors(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		given, err := os.Open(f.outside + "/x")
		require.NoError(t, err)
		defer given.Close()
		inherited, err := unix.Open(f.outside, unix.O_RDONLY|unix.O_DIRECTORY, 0) //nolint:gosec // not close-on-exec
		require.NoError(t, err)
		defer unix.Close(inherited)
		command := func() *exec.Cmd {
			cmd := sh(t, `cat <&4; cd /proc/$$/fd && for fd in *; do readlink $fd; done`)
			cmd.ExtraFiles = make([]*os.File, max(inherited-2, 2))
			cmd.ExtraFiles[1] = given
			return cmd
		}
		cmd := command()
		want, err := try(t, cmd, func() (*confine.Confined, error) { return nil, cmd.Start() })
		require.NoError(t, err)
		_, err = given.Seek(0, 0)
		require.NoError(t, err)
		got := run(t, chainOf(m), command(), confine.Plan{ReadOnly: []string{f.protected}})
		require.NotContains(t, got.stdout, f.outside+"\n")
		require.True(t, strings.HasPrefix(got.stdout, "x"), got.stdout)
		// Less is fine: what these tests have inherited is none of a command's.
		require.Subset(t, links(want.stdout), links(got.stdout))
		require.Contains(t, got.stdout, given.Name()+"\n")
	})
}

// links returns the lines without what differs from process to process.
func links(output string) []string {
	var links []string
	for link := range strings.Lines(output) {
		if !strings.Contains(link, "/proc/") {
			links = append(links, link)
		}
	}
	return links
}

func TestMethodFailingExec(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		plain := filepath.Join(f.base, "plain")
		require.NoError(t, os.WriteFile(plain, []byte("x"), 0o644))
		garbage := filepath.Join(f.base, "garbage")
		require.NoError(t, os.WriteFile(garbage, []byte("\x00\x01"), 0o755))
		tests := []struct {
			name string
			cmd  func() *exec.Cmd
			want error
			wrap bool // whether Bubblewrap reports it
		}{
			{"missing", func() *exec.Cmd { return exec.Command(f.base + "/missing") }, unix.ENOENT, true},
			{"not executable", func() *exec.Cmd { return exec.Command(plain) }, unix.EACCES, true},
			{"a directory", func() *exec.Cmd { return exec.Command(f.base) }, unix.EACCES, true},
			{"not a program", func() *exec.Cmd { return exec.Command(garbage) }, unix.ENOEXEC, false},
			{"too long", func() *exec.Cmd { return sh(t, strings.Repeat("x", 1<<18)) }, unix.E2BIG, true},
			{"NUL", func() *exec.Cmd { return sh(t, "a\x00b") }, unix.EINVAL, true},
			{"missing directory", func() *exec.Cmd {
				cmd := sh(t, "exit 0")
				cmd.Dir = f.base + "/missing"
				return cmd
			}, unix.ENOENT, true},
		}
		c := chainOf(m)
		for _, test := range tests {
			if m.Name() == "Bubblewrap" && !test.wrap {
				continue // it is output of bwrap, as documented
			}
			t.Run(test.name, func(t *testing.T) {
				cmd := test.cmd()
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				_, err := c.Start(t.Context(), cmd, confine.Plan{ReadOnly: []string{f.protected}})
				require.ErrorIs(t, err, test.want)
				var failed *os.PathError
				require.ErrorAs(t, err, &failed)
				require.Nil(t, cmd.Process)
				want := test.cmd()
				want.SysProcAttr = cmd.SysProcAttr
				if m.Name() != "Bubblewrap" {
					require.EqualError(t, err, want.Start().Error())
				}
			})
		}
		// None of it counts against the method.
		r := run(t, c, sh(t, "exit 0"), confine.Plan{ReadOnly: []string{f.protected}})
		require.True(t, r.state.Success())
	})
}

func TestMethodRefuses(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		c := chainOf(m)
		start := func(change func(*exec.Cmd), dirs ...string) error {
			cmd := sh(t, "exit 0")
			change(cmd)
			_, err := c.Start(t.Context(), cmd, confine.Plan{ReadOnly: dirs})
			return err
		}
		nothing := func(*exec.Cmd) {}
		for _, dir := range []string{f.base + "/missing", f.base + "/missing/below", "", "relative", f.outside + "/x"} {
			var failed *confine.PlanError
			require.ErrorAs(t, start(nothing, f.protected, dir), &failed)
			require.Equal(t, dir, failed.Dir)
			require.ErrorAs(t, m.Start(sh(t, "exit 0"), confine.Plan{ReadOnly: []string{dir}}), &failed)
		}
		err := start(func(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = unix.SIGKILL }, f.protected)
		require.ErrorIs(t, err, confine.ErrAttributes)
		err = start(func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("") }, f.protected)
		require.ErrorIs(t, err, confine.ErrStream)
		err = start(func(cmd *exec.Cmd) { cmd.Err = exec.ErrDot }, f.protected)
		require.ErrorIs(t, err, exec.ErrDot)
		require.NoError(t, start(nothing, f.protected))
	})
}

func TestMethodTakesLinksForWhatTheyLeadTo(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		attack(t, m, confine.Plan{ReadOnly: []string{f.link}}, orders{Protected: f.protected, Outside: f.outside})
	})
}

func TestMethodTemporaryDirectory(t *testing.T) {
	const show = `echo x > "$TMPDIR/new" && echo "$TMPDIR" && ls -ld "$TMPDIR"`
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		for name, env := range map[string][]string{
			"is protected":           {"TMPDIR=" + f.protected},
			"is in one":              {"TMPDIR=" + f.protected + "/sub"},
			"is reached by a link":   {"TMPDIR=" + f.link + "/sub"},
			"contains one":           {"TMPDIR=" + f.base},
			"runtime directory":      {"TMPDIR=" + f.protected, "XDG_RUNTIME_DIR=" + f.outside},
			"no runtime directory":   {"TMPDIR=" + f.protected, "XDG_RUNTIME_DIR=" + f.base + "/missing"},
			"runtime dir. protected": {"TMPDIR=" + f.protected, "XDG_RUNTIME_DIR=" + f.protected},
		} {
			t.Run(name, func(t *testing.T) {
				cmd := sh(t, show)
				cmd.Env = append(os.Environ(), env...)
				given := cmd.Env
				var private string
				r, err := try(t, cmd, func() (*confine.Confined, error) {
					c, err := chainOf(m).Start(t.Context(), cmd, confine.Plan{ReadOnly: []string{f.protected}})
					if err == nil {
						private = c.TempDir()
					}
					return c, err
				})
				require.NoError(t, err)
				require.True(t, r.state.Success(), r.stderr)
				require.Equal(t, given, cmd.Env)
				if name == "contains one" && m.Enforces() == confine.ByBind {
					require.Empty(t, private)
					return
				}
				require.True(t, strings.HasPrefix(r.stdout, private+"\n"), r.stdout)
				require.Contains(t, r.stdout, "drwx------")
				require.NoDirExists(t, private)
				if name == "runtime directory" {
					require.Equal(t, f.outside, filepath.Dir(private))
				}
			})
		}
		t.Run("nowhere", func(t *testing.T) {
			cmd := sh(t, `echo "$TMPDIR"`)
			cmd.Env = append(os.Environ(), "TMPDIR="+f.outside)
			r := run(t, chainOf(m), cmd, confine.Plan{ReadOnly: []string{"/"}, StateDir: f.base})
			require.Equal(t, f.outside+"\n", r.stdout)
		})
		t.Run("writable", func(t *testing.T) {
			cmd := sh(t, show)
			cmd.Env = append(os.Environ(), "TMPDIR="+f.protected+"/sub")
			r := run(t, chainOf(m), cmd, confine.Plan{ReadOnly: []string{f.protected}, Writable: []string{f.protected + "/sub"}})
			require.True(t, strings.HasPrefix(r.stdout, f.protected+"/sub\n"), r.stdout)
		})
	})
}

// A hundred at a time, and a thousand in all, leave nothing. Methods that start
// more processes than the command are slow, and have no threads to lose: there, a
// hundred will do. The race detector needs fewer, and makes starts slower still.
func TestMethodLeavesNothing(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		workers, each := 100, 10
		slow := m.Name() == "UserNS" || m.Name() == "Bubblewrap"
		switch {
		case os.Getenv(situationVariable) != "" || testing.Short():
			workers, each = 10, 1
		case raceEnabled && slow:
			workers, each = 20, 1
		case raceEnabled:
			each = 3
		case slow:
			each = 1
		}
		f := newFixture(t, "work")
		c := chainOf(m)
		one := func() error {
			cmd := sh(t, `(: > "$1/new") 2> /dev/null; exit 7`, f.protected)
			confined, err := c.Start(t.Context(), cmd, confine.Plan{ReadOnly: []string{f.protected}})
			if err != nil {
				return err
			}
			defer confined.Close()
			state, err := cmd.Process.Wait()
			if err == nil && state.ExitCode() != 7 {
				err = fmt.Errorf("%v", state)
			}
			return err
		}
		require.NoError(t, one())
		before := measure(t)
		var wg sync.WaitGroup
		errs := make(chan error, workers*each)
		for range workers {
			wg.Go(func() {
				for range each {
					errs <- one()
				}
			})
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			require.NoError(t, err)
		}
		require.NoFileExists(t, f.protected+"/new")
		// Threads end a little after their goroutines. The runtime keeps those that
		// it needed at one time: a worker blocks at most two.
		most := before.threads + 2*workers + 8
		require.Eventually(t, func() bool { return measure(t).threads <= most }, 10*time.Second, 10*time.Millisecond)
		after := measure(t)
		after.threads = before.threads
		require.LessOrEqual(t, after.descriptors, before.descriptors) // what was before may have been collected
		after.descriptors = before.descriptors
		require.Equal(t, before, after)
		goleak.VerifyNone(t, goleak.IgnoreAnyFunction("testing.(*T).Run"))
	})
}

type measures struct {
	threads, descriptors, children int
	mounts                         string
}

func measure(t testing.TB) measures {
	t.Helper()
	count := func(dir string) int {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		return len(entries)
	}
	m := measures{threads: count("/proc/self/task"), descriptors: count("/proc/self/fd"), mounts: mountinfo(t)}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		if !errors.Is(err, fs.ErrNotExist) {
			m.children += len(strings.Fields(string(children)))
		}
	}
	return m
}

// The main thread never changes: /proc/self shows the whole process by it.
func TestMethodSparesTheMainThread(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		before, err := os.Readlink("/proc/self/ns/mnt")
		require.NoError(t, err)
		for range 10 {
			run(t, chainOf(m), sh(t, "exit 0"), confine.Plan{ReadOnly: []string{f.protected}})
		}
		after, err := os.Readlink("/proc/self/ns/mnt")
		require.NoError(t, err)
		require.Equal(t, before, after)
		status, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		if !strings.Contains(os.Getenv(situationVariable), "CAP_SYS_ADMIN") {
			require.Contains(t, string(status), "NoNewPrivs:\t0")
		}
	})
}

func TestChainDefault(t *testing.T) {
	f := newFixture(t, "work")
	c := confine.Default()
	m, err := c.Method(t.Context())
	if err != nil {
		t.Skip(err)
	}
	cmd := sh(t, `: > "$1/new"`, f.protected)
	confined, err := c.Start(t.Context(), cmd, confine.Plan{ReadOnly: []string{f.protected}})
	require.NoError(t, err)
	defer confined.Close()
	require.Equal(t, m, confined.Method())
	state, err := cmd.Process.Wait()
	require.NoError(t, err)
	require.False(t, state.Success())
	require.Equal(t, cmd.Process.Pid, state.Pid())
}

// A fake is a method that starts commands unconfined.
type fake struct {
	name         string
	probe, start error
	probes       *atomic.Int32
}

func (f fake) Name() string                  { return f.name }
func (f fake) Enforces() confine.Enforcement { return confine.ByBind }

func (f fake) Probe(ctx context.Context) error {
	f.probes.Add(1)
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.probe
}

func (f fake) Start(cmd *exec.Cmd, _ confine.Plan) error {
	if f.start != nil {
		cmd.Env = []string{"changed"} // of a copy
		return f.start
	}
	return cmd.Start()
}

func TestChainTakesTheFirstThatWorks(t *testing.T) {
	failure := errors.New("failure")
	newFake := func(name string, probe, start error) fake { return fake{name, probe, start, new(atomic.Int32)} }
	bad := newFake("bad", failure, nil)
	failing := newFake("failing", nil, &confine.SetupError{Op: "set up", Err: failure})
	good := newFake("good", nil, nil)
	c := confine.NewChain(bad, failing, good)
	for range 3 {
		cmd := sh(t, "exit 0")
		confined, err := c.Start(t.Context(), cmd, confine.Plan{})
		require.NoError(t, err)
		require.Equal(t, "good", confined.Method().Name())
		require.Nil(t, cmd.Env)
		_, err = cmd.Process.Wait()
		require.NoError(t, err)
	}
	for _, f := range []fake{bad, failing, good} {
		require.EqualValues(t, 1, f.probes.Load(), f.name)
	}

	_, err := confine.NewChain(bad, failing).Start(t.Context(), sh(t, "exit 0"), confine.Plan{})
	var unavailable *confine.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.Equal(t, []string{"bad", "failing"}, []string{unavailable.Reasons[0].Method, unavailable.Reasons[1].Method})
	require.ErrorIs(t, err, failure)
	require.EqualError(t, err, "confine: unavailable: bad failure; failing set up: failure")
}

func TestChainSparesAMethodWhatIsNotItsFault(t *testing.T) {
	for _, failure := range []error{
		&os.PathError{Op: "fork/exec", Path: "x", Err: unix.ENOENT},
		&confine.PlanError{Dir: "/x", Err: unix.ENOENT},
		&confine.SetupError{Op: "unshare", Err: unix.EAGAIN},
	} {
		first := fake{"first", nil, failure, new(atomic.Int32)}
		c := confine.NewChain(first, fake{"second", nil, nil, new(atomic.Int32)})
		for range 2 {
			_, err := c.Start(t.Context(), sh(t, "exit 0"), confine.Plan{})
			require.Equal(t, failure, err)
		}
	}
}

func TestChainCancelledProbeShowsNothing(t *testing.T) {
	f := fake{"good", nil, nil, new(atomic.Int32)}
	c := confine.NewChain(f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Method(ctx)
	require.ErrorIs(t, err, context.Canceled)
	m, err := c.Method(t.Context())
	require.NoError(t, err)
	require.Equal(t, f, m)
}

func TestChainProbesOnce(t *testing.T) {
	f := fake{"good", nil, nil, new(atomic.Int32)}
	c := confine.NewChain(f)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, err := c.Method(t.Context())
			require.NoError(t, err)
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, f.probes.Load())
}

func TestChainEmpty(t *testing.T) {
	_, err := confine.NewChain().Start(t.Context(), sh(t, "exit 0"), confine.Plan{})
	require.EqualError(t, err, "confine: unavailable: no methods")
}

func TestChainBubblewrapMissing(t *testing.T) {
	for _, path := range []string{"/missing/bwrap", "no-such-program"} {
		err := confine.Bubblewrap(path).Probe(t.Context())
		require.ErrorContains(t, err, "find bwrap: ")
	}
}

// A program that does not call RunHelper is not started again.
func TestChainWithoutRunHelper(t *testing.T) {
	output, err := helper("unhelpful").CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Equal(t, "start helper: the program does not call confine.RunHelper\n", string(output))
}

func unhelpfulHelper() error {
	fmt.Println(confine.UserNS().Probe(context.Background()))
	return nil
}

func TestMethodProbeLeavesNothing(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		t.Setenv("TMPDIR", canonicalTemp(t))
		require.NoError(t, m.Probe(t.Context()))
		entries, err := os.ReadDir(os.Getenv("TMPDIR"))
		require.NoError(t, err)
		require.Empty(t, entries)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, m.Probe(ctx), context.Canceled)
	})
}

// Signals that the starting program had blocked do not stay so.
func TestMethodUnblocksSignals(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		r := run(t, chainOf(m), sh(t, `while read -r name mask; do [ "$name" = SigBlk: ] && echo $mask; done < /proc/self/status`),
			confine.Plan{ReadOnly: []string{f.protected}})
		require.Equal(t, "0000000000000000\n", r.stdout)
	})
}
