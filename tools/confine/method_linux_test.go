package confine_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/tools/confine"
)

// A fixture is a directory to protect and what is around it.
type fixture struct {
	base, protected, outside, link string
}

func newFixture(t testing.TB, name string) fixture {
	t.Helper()
	base := canonicalTemp(t)
	f := fixture{base, filepath.Join(base, name), filepath.Join(base, "outside"), filepath.Join(base, "link")}
	fill(t, f.protected)
	for _, dir := range []string{f.outside, f.outside + "/d", base + "/tmp"} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	require.NoError(t, os.WriteFile(f.outside+"/x", []byte("x"), 0o644))
	require.NoError(t, os.Symlink(f.protected, f.link))
	t.Setenv("TMPDIR", base+"/tmp")
	return f
}

// fill makes the files that an attack knows of.
func fill(t testing.TB, dir string) {
	t.Helper()
	for _, d := range []string{dir, dir + "/sub", dir + "/empty"} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	require.NoError(t, os.WriteFile(dir+"/f", []byte("content"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/sub/g", []byte("more"), 0o644))
}

// snapshot returns all there is in dir, with the metadata.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		state := fmt.Sprint(info.Mode(), info.ModTime())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			state += " " + string(data)
		}
		all[path] = state
		return nil
	}))
	return all
}

// attack lets a command try to change what is in o.Protected, and requires that
// it can change nothing and read.
func attack(t testing.TB, m confine.Method, p confine.Plan, o orders) {
	t.Helper()
	o.Metadata = m.Enforces() == confine.ByBind
	o.Harness = os.Getpid()
	before := snapshot(t, o.Protected)
	data, err := json.Marshal(o)
	require.NoError(t, err)
	cmd := helper("attack", string(data))
	cmd.Dir = o.Protected
	r := run(t, chainOf(m), cmd, p)
	require.NotContains(t, r.stdout, "could ")
	require.Contains(t, r.stdout, "read: content")
	require.True(t, r.state.Success(), "%v %s%s", r.state, r.stdout, r.stderr)
	require.Equal(t, before, snapshot(t, o.Protected))
	if testing.Verbose() {
		t.Log(r.stdout)
	}
}

func TestMethodProtects(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "-option with\nlines,\ttabs, \\040 and ünïcode")
		attack(t, m, confine.Plan{ReadOnly: []string{f.protected}},
			orders{Protected: f.protected, Outside: f.outside, Routes: []string{f.link}})
	})
}

func TestMethodProtectsTheOwnDirectory(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		t.Chdir(f.protected)
		cmd := sh(t, `: > new`)
		r := run(t, chainOf(m), cmd, confine.Plan{ReadOnly: []string{f.protected}})
		require.False(t, r.state.Success())
		require.NoFileExists(t, f.protected+"/new")
		cmd = sh(t, `: > new`)
		cmd.Dir = "sub"
		r = run(t, chainOf(m), cmd, confine.Plan{ReadOnly: []string{f.protected}})
		require.False(t, r.state.Success())
		require.NoFileExists(t, f.protected+"/sub/new")
	})
}

func TestMethodSaysWhy(t *testing.T) {
	texts := map[confine.Enforcement]string{
		confine.ByBind: "Read-only file system", confine.ByLandlock: "Permission denied",
	}
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		cmd := sh(t, `: > "$1/new"`, f.protected)
		r := run(t, chainOf(m), cmd, confine.Plan{ReadOnly: []string{f.protected}})
		require.Contains(t, r.stderr, texts[m.Enforces()])
	})
}

func TestMethodLeavesTheRestWritable(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		require.NoError(t, os.Mkdir(f.base+"/work2", 0o755)) // begins alike
		script := `echo x > /dev/null && echo x > "$1/new" && mkdir "$1/d/e" && mv "$1/new" "$1/d/e/moved" &&
			ln "$1/x" "$1/y" && : > "$2/work2/new" && t=$(mktemp) && echo x > "$t" && rm "$t" && rm "$1/y"`
		r := run(t, chainOf(m), sh(t, script, f.outside, f.base), confine.Plan{ReadOnly: []string{f.protected}})
		require.True(t, r.state.Success(), r.stderr)
		require.FileExists(t, f.outside+"/d/e/moved")
	})
}

func TestMethodNested(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		in := func(name string) string { return filepath.Join(f.protected, name) }
		for _, dir := range []string{"rw/ro/rw", "ro", "rw/other"} {
			require.NoError(t, os.MkdirAll(in(dir), 0o755))
		}
		p := confine.Plan{
			ReadOnly: []string{in("rw/ro"), f.protected, in("ro"), in("both")},
			Writable: []string{in("rw/ro/rw"), in("rw"), in("both")},
		}
		require.NoError(t, os.Mkdir(in("both"), 0o755))
		script := `for d in . ro rw/ro both sub; do echo x > "$1/$d/new" && echo "could write in $d"; done 2> /dev/null
			for d in rw/other rw/ro/rw; do echo x > "$1/$d/new" || echo "could not write in $d"; done
			mkdir "$1/rw/other/made" && mv "$1/rw/other/made" "$1/rw/other/moved"`
		r := run(t, chainOf(m), sh(t, script, f.protected), p)
		require.Equal(t, "", r.stdout+r.stderr)
		require.FileExists(t, in("rw/ro/rw/new"))
		require.DirExists(t, in("rw/other/moved"))
		require.NoFileExists(t, in("rw/ro/new"))
	})
}

func TestMethodProtectsTheRoot(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		attack(t, m, confine.Plan{ReadOnly: []string{"/"}}, orders{Protected: f.protected, Outside: f.outside})
		script := `echo x > /dev/null || exit 2; echo x > "$1/new" && exit 3; echo x > /new-in-root && exit 4; exit 0`
		cmd := sh(t, "("+script+") 2> /dev/null", f.outside)
		r := run(t, chainOf(m), cmd, confine.Plan{ReadOnly: []string{"/"}})
		require.Equal(t, 0, r.state.ExitCode())

		cmd = sh(t, `echo x > "$1/new"`, f.outside)
		r = run(t, chainOf(m), cmd, confine.Plan{ReadOnly: []string{"/"}, Writable: []string{f.outside}})
		require.True(t, r.state.Success(), r.stderr)
	})
}

// The harness goes on to write where the command cannot, and the command sees it.
func TestMethodLeavesTheHarnessAlone(t *testing.T) {
	eachMethod(t, func(t *testing.T, m confine.Method) {
		f := newFixture(t, "work")
		input, signal, err := os.Pipe()
		require.NoError(t, err)
		defer input.Close()
		cmd := sh(t, `read -r line; cat "$1/later"; : > "$1/new"`, f.protected)
		cmd.Stdin = input
		r, err := try(t, cmd, func() (*confine.Confined, error) {
			confined, err := chainOf(m).Start(t.Context(), cmd, confine.Plan{ReadOnly: []string{f.protected}})
			require.NoError(t, os.WriteFile(f.protected+"/later", []byte("later"), 0o644))
			require.NoError(t, os.Rename(f.protected+"/sub", f.protected+"/renamed"))
			signal.Close()
			return confined, err
		})
		require.NoError(t, err)
		require.Equal(t, "later", r.stdout)
		require.False(t, r.state.Success())
		require.NoFileExists(t, f.protected+"/new")
	})
}

// TestMethodMounts is about directories that are, have, or are reached by mounts.
func TestMethodMounts(t *testing.T) {
	switch os.Getenv(situationVariable) {
	case "mount namespace", "root of a user namespace":
	default:
		t.Skip("needs a mount namespace of its own")
	}
	mount := func(t *testing.T, source, target, kind string, flags uintptr) {
		t.Helper()
		require.NoError(t, os.MkdirAll(target, 0o755))
		require.NoError(t, unix.Mount(source, target, kind, flags, ""))
		t.Cleanup(func() { require.NoError(t, unix.Unmount(target, unix.MNT_DETACH)) })
	}
	tests := []struct {
		name  string
		mount func(t *testing.T, f *fixture) (protect string, routes []string)
	}{
		{"is a mount point", func(t *testing.T, f *fixture) (string, []string) {
			mount(t, "tmpfs", f.protected, "tmpfs", 0)
			fill(t, f.protected)
			return f.protected, nil
		}},
		{"is a bind mount of itself", func(t *testing.T, f *fixture) (string, []string) {
			mount(t, f.protected, f.protected, "", unix.MS_BIND)
			return f.protected, nil
		}},
		{"has a mount below", func(t *testing.T, f *fixture) (string, []string) {
			protect := f.protected
			f.protected += "/below"
			mount(t, "tmpfs", f.protected, "tmpfs", 0)
			fill(t, f.protected)
			return protect, nil
		}},
		{"is mounted elsewhere", func(t *testing.T, f *fixture) (string, []string) {
			mount(t, f.protected, f.base+"/alias of it", "", unix.MS_BIND)
			return f.protected, []string{f.base + "/alias of it"}
		}},
		{"is in what is mounted elsewhere", func(t *testing.T, f *fixture) (string, []string) {
			mount(t, f.base, f.base+"/outside/alias", "", unix.MS_BIND)
			return f.protected, []string{f.base + "/outside/alias/work"}
		}},
		{"is a mount of what can be reached", func(t *testing.T, f *fixture) (string, []string) {
			fill(t, f.base+"/source")
			mount(t, f.base+"/source", f.protected, "", unix.MS_BIND)
			return f.protected, []string{f.base + "/source"}
		}},
		{"a part is mounted elsewhere", func(t *testing.T, f *fixture) (string, []string) {
			fill(t, f.protected+"/part")
			mount(t, f.protected+"/part", f.base+"/alias", "", unix.MS_BIND)
			protect := f.protected
			f.protected += "/part"
			return protect, []string{f.base + "/alias"}
		}},
		{"a mount below is mounted elsewhere", func(t *testing.T, f *fixture) (string, []string) {
			protect := f.protected
			f.protected += "/below"
			mount(t, "tmpfs", f.protected, "tmpfs", 0)
			fill(t, f.protected)
			mount(t, f.protected, f.base+"/alias", "", unix.MS_BIND)
			return protect, []string{f.base + "/alias"}
		}},
		{"its mount elsewhere is covered", func(t *testing.T, f *fixture) (string, []string) {
			mount(t, f.protected, f.base+"/alias", "", unix.MS_BIND)
			mount(t, "tmpfs", f.base+"/alias", "tmpfs", 0)
			return f.protected, nil
		}},
		{"mounts propagate", func(t *testing.T, f *fixture) (string, []string) {
			mount(t, f.base, f.base, "", unix.MS_BIND)
			require.NoError(t, unix.Mount("", f.base, "", unix.MS_SHARED, ""))
			return f.protected, nil
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			eachMethod(t, func(t *testing.T, m confine.Method) {
				f := newFixture(t, "work")
				protect, routes := test.mount(t, &f)
				before := mountinfo(t)
				attack(t, m, confine.Plan{ReadOnly: []string{protect}},
					orders{Protected: f.protected, Outside: f.outside, Routes: routes})
				require.Equal(t, before, mountinfo(t))
				require.NoError(t, os.WriteFile(f.protected+"/by the harness", nil, 0o644))
			})
		})
	}
}

func mountinfo(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	return string(data)
}
