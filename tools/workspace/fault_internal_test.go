//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A scene is a way for content to get to disk.
type scene struct {
	name     string
	path     string // of the file that is changed
	links    int    // of it
	old, new string
}

// The new content of the first scene takes several writes.
var scenes = []scene{
	{"replace", "f", 1, "old content", strings.Repeat("new content\n", 20_000)},
	{"create", "new", 0, "", "new content"},
	{"create with parents", "a/b/new", 0, "", "new content"},
	{"in place, longer", "f", 2, "old content", "new content that is longer"},
	{"in place, shorter", "f", 2, "old content", "new"},
}

// stage makes the files of a scene and returns a workspace whose changes ask
// step before each of their steps.
func (s scene) stage(t *testing.T, dir string, step func(string) error) *Workspace {
	t.Helper()
	if s.links > 0 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, s.path), []byte(s.old), 0o640))
	}
	if s.links > 1 {
		require.NoError(t, os.Link(filepath.Join(dir, s.path), filepath.Join(dir, "link")))
	}
	system := OS{}
	if step != nil {
		system.hooks = &hooks{step}
	}
	ws, err := NewFS(t.Context(), system, dir)
	require.NoError(t, err)
	return ws
}

func (s scene) commit(ctx context.Context, ws *Workspace) error {
	c, err := ws.Change(ctx, OpEdit, "", s.path)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Commit(ctx, []byte(s.new), nil)
	return err
}

// steps returns the names of the steps of a commit that succeeds.
func (s scene) steps(t *testing.T) (names []string) {
	t.Helper()
	dir := t.TempDir()
	ws := s.stage(t, dir, func(name string) error {
		names = append(names, name)
		return nil
	})
	require.NoError(t, s.commit(t.Context(), ws))
	data, err := os.ReadFile(filepath.Join(dir, s.path))
	require.NoError(t, err)
	require.Equal(t, s.new, string(data))
	return names
}

// at returns a function that does something at the n-th step, from 0.
func at(n int, do func() error) func(string) error {
	return func(string) error {
		n--
		if n == -1 {
			return do()
		}
		return nil
	}
}

// picture returns all there is to see in a directory. Times are left out for a
// file that is written in place: its old bytes have been put back.
func picture(t *testing.T, dir string, times bool) (lines []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintln(path, info.Mode(), info.Sys().(*syscall.Stat_t).Ino)
		if times && !d.IsDir() {
			line += info.ModTime().String()
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += string(data)
		}
		lines = append(lines, line)
		return nil
	}))
	return lines
}

func TestFailureAtAnyStepChangesNothing(t *testing.T) {
	for _, s := range scenes {
		for i, name := range s.steps(t) {
			t.Run(fmt.Sprint(s.name, "/", i, " ", name), func(t *testing.T) {
				dir := t.TempDir()
				ws := s.stage(t, dir, at(i, func() error { return syscall.EIO }))
				before := picture(t, dir, s.links < 2)
				err := s.commit(t.Context(), ws)
				require.ErrorIs(t, err, syscall.EIO)
				require.EqualError(t, err, fmt.Sprintf(`cannot edit "%s": input/output error`, s.path))
				require.Equal(t, before, picture(t, dir, s.links < 2))
				require.NoError(t, s.commit(t.Context(), ws), "the next one succeeds")
			})
		}
	}
}

// TestCreationWithoutExclusiveRename makes the file in the ways that remain on
// file systems that cannot rename without replacing, or cannot link either.
func TestCreationWithoutExclusiveRename(t *testing.T) {
	for _, unable := range [][]string{{"name"}, {"name", "link"}} {
		fail := func(extra string) func(string) error {
			return func(name string) error {
				if name == extra {
					return syscall.EIO
				}
				if slices.Contains(unable, name) {
					return errors.ErrUnsupported
				}
				return nil
			}
		}
		s := scenes[2]
		dir := t.TempDir()
		require.NoError(t, s.commit(t.Context(), s.stage(t, dir, fail(""))))
		data, err := os.ReadFile(filepath.Join(dir, s.path))
		require.NoError(t, err)
		require.Equal(t, s.new, string(data))
		require.Len(t, picture(t, dir, false), 3, "the file and two directories")

		dir = t.TempDir()
		for _, step := range []string{"copy", "sync copy"} {
			if len(unable) == 1 {
				continue
			}
			err := s.commit(t.Context(), s.stage(t, dir, fail(step)))
			require.ErrorIs(t, err, syscall.EIO, step)
			require.Empty(t, picture(t, dir, false))
		}

		// A file that appears at the last moment stays.
		ws := s.stage(t, dir, func(name string) error {
			if name == "name" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, s.path), []byte("theirs"), 0o666))
			}
			return fail("")(name)
		})
		require.ErrorIs(t, s.commit(t.Context(), ws), ErrStaleVersion)
		data, err = os.ReadFile(filepath.Join(dir, s.path))
		require.NoError(t, err)
		require.Equal(t, "theirs", string(data))
		require.Len(t, picture(t, dir, false), 3)
	}
}

// TestFileTouchedWhileItIsReplaced changes the mode of the file when it is about
// to be replaced, and its content when the new file has been made like it.
func TestFileTouchedWhileItIsReplaced(t *testing.T) {
	for _, again := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		times := 0
		ws := scenes[0].stage(t, dir, func(name string) error {
			if name != "sync again" {
				return nil
			}
			times++
			switch {
			case again:
				return os.WriteFile(path, []byte("theirs"), 0o666)
			case times == 1:
				return os.Chmod(path, 0o604)
			}
			return nil
		})
		c, err := ws.Change(t.Context(), OpEdit, "", "f")
		require.NoError(t, err)
		defer c.Close()
		_, err = c.Commit(t.Context(), []byte("ours"), func(context.Context) error { return os.Chmod(path, 0o600) })
		info, statErr := os.Stat(path)
		require.NoError(t, statErr)
		data, readErr := os.ReadFile(path)
		require.NoError(t, readErr)
		if again {
			require.ErrorIs(t, err, ErrStaleVersion)
			require.Equal(t, "theirs", string(data))
		} else {
			require.NoError(t, err)
			require.Equal(t, "ours", string(data))
			require.EqualValues(t, 0o604, info.Mode())
		}
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1)
	}
}

// TestReadOfAnotherFileThanWasJudged replaces the file after its version was
// found to be the right one.
func TestReadOfAnotherFileThanWasJudged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, make([]byte, MaxEditBytes+1), 0o666))
	e, err := OS{}.Lookup(t.Context(), path, true)
	require.NoError(t, err)
	defer e.Close()
	_, err = e.Version(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("another"), 0o666))
	_, err = e.Read(t.Context(), MaxEditBytes)
	require.ErrorIs(t, err, ErrStaleVersion)
	_, err = e.Version(t.Context())
	require.ErrorIs(t, err, ErrStaleVersion)
}

func TestOldBytesThatCannotBePutBack(t *testing.T) {
	for _, s := range scenes {
		if s.links < 2 {
			continue
		}
		dir := t.TempDir()
		ws := s.stage(t, dir, func(name string) error {
			if strings.HasPrefix(name, "sync") || name == "restore" {
				return syscall.ENOSPC
			}
			return nil
		})
		err := s.commit(t.Context(), ws)
		require.ErrorIs(t, err, ErrDamaged)
		require.EqualError(t, err, `cannot edit "f": write failed and the file may be incomplete: no space left on device`)
	}
}

func TestCancellationAtAnyStep(t *testing.T) {
	for _, s := range scenes {
		for i, name := range s.steps(t) {
			t.Run(fmt.Sprint(s.name, "/", i, " ", name), func(t *testing.T) {
				dir := t.TempDir()
				ctx, cancel := context.WithCancel(t.Context())
				ws := s.stage(t, dir, at(i, func() error { cancel(); return nil }))
				before := picture(t, dir, true)
				err := s.commit(ctx, ws)
				if err == nil { // it came too late
					data, err := os.ReadFile(filepath.Join(dir, s.path))
					require.NoError(t, err)
					require.Equal(t, s.new, string(data))
					return
				}
				require.Equal(t, context.Canceled, err)
				require.Equal(t, before, picture(t, dir, true))
			})
		}
	}
}

// crashVariable tells a child process its scene, step and directory.
const crashVariable = "TAUKIT_CRASH"

// TestKilledAtAnyStep lets a process be killed at each step of a commit. The
// file is then the old or the new one, and the next commit removes what was
// left.
func TestKilledAtAnyStep(t *testing.T) {
	if order := os.Getenv(crashVariable); order != "" {
		crash(t, strings.SplitN(order, " ", 3))
		return
	}
	for number, s := range scenes[:3] { // the others give up being atomic
		for i, name := range s.steps(t) {
			t.Run(fmt.Sprint(s.name, "/", i, " ", name), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				calm := s.stage(t, dir, nil)
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtAnyStep$")
				child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", crashVariable, number, i, dir))
				out, err := child.CombinedOutput()
				var exit *exec.ExitError
				require.ErrorAs(t, err, &exit, "%s", out)
				require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), "%s", out)

				data, err := os.ReadFile(filepath.Join(dir, s.path))
				if s.links == 0 && err != nil {
					require.ErrorIs(t, err, fs.ErrNotExist)
				} else {
					require.Contains(t, []string{s.old, s.new}, string(data))
				}
				require.NoError(t, s.commit(t.Context(), calm))
				entries, err := os.ReadDir(filepath.Dir(filepath.Join(dir, s.path)))
				require.NoError(t, err)
				require.Len(t, entries, 1, "no temporary file stays")
			})
		}
	}
}

func crash(t *testing.T, order []string) {
	number, err := strconv.Atoi(order[0])
	require.NoError(t, err)
	step, err := strconv.Atoi(order[1])
	require.NoError(t, err)
	ws, err := NewFS(t.Context(), OS{hooks: &hooks{at(step, func() error {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})}}, order[2])
	require.NoError(t, err)
	t.Fatal("not killed:", scenes[number].commit(t.Context(), ws))
}

// TestTwoProcessesEditOneFile lets another process commit between the look and
// the commit of this one.
func TestTwoProcessesEditOneFile(t *testing.T) {
	if dir := os.Getenv("TAUKIT_OTHER"); dir != "" {
		ws, err := New(dir)
		require.NoError(t, err)
		s := scenes[0]
		s.new = "theirs"
		require.NoError(t, s.commit(t.Context(), ws))
		return
	}
	for _, links := range []int{1, 2} {
		dir := t.TempDir()
		s := scenes[0]
		s.links = links
		ws := s.stage(t, dir, nil)
		c, err := ws.Change(t.Context(), OpEdit, "", s.path)
		require.NoError(t, err)
		_, err = c.Commit(t.Context(), []byte("ours"), func(ctx context.Context) error {
			child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestTwoProcessesEditOneFile$")
			child.Env = append(os.Environ(), "TAUKIT_OTHER="+dir)
			out, err := child.CombinedOutput()
			require.NoError(t, err, "%s", out)
			return nil
		})
		c.Close()
		require.ErrorIs(t, err, ErrStaleVersion)
		data, err := os.ReadFile(filepath.Join(dir, s.path))
		require.NoError(t, err)
		require.Equal(t, "theirs", string(data))
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, links)
	}
}

// TestProcessesCountInOneFile lets processes count in one file, each by reading
// the number and writing the next one, until nobody was faster. No increment is
// lost: between the last look and the change, one waits for the other.
func TestProcessesCountInOneFile(t *testing.T) {
	const increments = 25
	if path := os.Getenv("TAUKIT_COUNT"); path != "" {
		count(t, path, increments)
		return
	}
	for _, links := range []int{1, 2} {
		dir := t.TempDir()
		names := []string{filepath.Join(dir, "n"), filepath.Join(dir, "n"), filepath.Join(dir, "n")}
		require.NoError(t, os.WriteFile(names[0], []byte("0"), 0o666))
		if links == 2 {
			names[1] = filepath.Join(dir, "d", "other name")
			require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o777))
			require.NoError(t, os.Link(names[0], names[1]))
		}
		var children []*exec.Cmd
		for _, name := range names {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessesCountInOneFile$")
			child.Env = append(os.Environ(), "TAUKIT_COUNT="+name)
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
			require.NoError(t, child.Start())
			children = append(children, child)
		}
		for _, child := range children {
			require.NoError(t, child.Wait())
		}
		data, err := os.ReadFile(names[0])
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(len(names)*increments), string(data))
	}
}

func count(t *testing.T, path string, increments int) {
	ws, err := NewFS(t.Context(), OS{NoSync: true}, filepath.Dir(path))
	require.NoError(t, err)
	for done := 0; done < increments; {
		c, err := ws.Change(t.Context(), OpEdit, "", path)
		require.NoError(t, err)
		old, err := c.Read(t.Context())
		if err == nil {
			n, parseErr := strconv.Atoi(string(old))
			if parseErr != nil { // half a number of one who writes in place
				c.Close()
				continue
			}
			_, err = c.Commit(t.Context(), []byte(strconv.Itoa(n+1)), nil)
		}
		c.Close()
		if err == nil {
			done++
		} else {
			require.ErrorIs(t, err, ErrStaleVersion)
		}
	}
}

// TestFreshTimesProveNothing looks at a file that was changed within one tick
// of the clock of its file system: it differs, and no time tells.
func TestFreshTimesProveNothing(t *testing.T) {
	for _, tt := range []struct {
		age  time.Duration // of the file when it was read
		want error
	}{
		{0, ErrStaleVersion},
		{racyAge - time.Millisecond, ErrStaleVersion},
		{racyAge + time.Millisecond, nil}, // it cannot have changed in that tick
	} {
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, []byte("new"), 0o666))
		e, err := OS{}.Lookup(t.Context(), path, true)
		require.NoError(t, err)
		defer e.Close()
		read := e.(*entry)
		read.data, read.readAt = []byte("old"), read.found.lastTime().Add(tt.age)
		require.Equal(t, tt.want, e.Verify(t.Context()))
	}
}

func TestTurnsAreFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		done, err := all.wait(t.Context(), "key")
		require.NoError(t, err)
		other, err := all.wait(t.Context(), "other key")
		require.NoError(t, err)
		other()

		var order []int
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 6 {
			go func() {
				ctx := ctx
				if i != 3 { // this one gives up
					ctx = t.Context()
				}
				done, err := all.wait(ctx, "key")
				if err != nil {
					return
				}
				order = append(order, i)
				done()
			}()
			synctest.Wait() // until it waits
		}
		cancel()
		synctest.Wait()
		require.Empty(t, order)
		done()
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2, 4, 5}, order)
		require.Empty(t, all.queues)
	})
}
