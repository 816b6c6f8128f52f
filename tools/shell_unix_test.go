//go:build linux || darwin

package tools_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools"
)

// A shell is a session and what its commands have written so far.
type shell struct {
	*tools.Session
	log *eventLog

	mu      sync.Mutex
	written strings.Builder
	seen    chan struct{} // receives after each piece of output
	root    string
}

func newShell(t *testing.T, cfg tools.ShellConfig) *shell {
	t.Helper()
	s := &shell{seen: make(chan struct{}, 1000)}
	cfg.Live = func(_ tools.Call, _ shellrec.Stream, p []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.written.Write(p)
		s.seen <- struct{}{}
	}
	s.root = newWorkspace(t, nil).Dir()
	s.Session, s.log = sessionOf(t, tools.Config{Root: s.root, Shell: cfg, ExposeAll: true})
	return s
}

// run runs a command with the tool shell.
func (s *shell) run(t *testing.T, arguments map[string]any) tools.Outcome {
	t.Helper()
	out := s.Call(t.Context(), tools.Call{ID: t.Name(), Tool: "shell", Arguments: encode(t, arguments)})
	require.NoError(t, framing.Validate(out.Result))
	require.Equal(t, out.Result.Render(), out.Text)
	return out
}

func command(text string) map[string]any { return map[string]any{"command": text} }

func TestShellDisplay(t *testing.T) {
	s := newShell(t, tools.ShellConfig{KillGrace: time.Millisecond})
	long := "echo 0123456789 0123456789 0123456789 0123456789"
	for _, tt := range []struct {
		command, args, status, payload string
	}{
		{"true", "true", "ok", ""},
		{"exit 3", "exit 3", "3", ""},
		{"kill -9 $$", "kill -9 $$", "signal 9", ""},
		{"true\nfalse", "true", "1", "true\nfalse"},
		{"true\r\n", "true", "127", "true\r\n"},
		{long, "echo 0123456789 0123┄123456789 0123456789", "ok", long},
		{"true \x1b", `true \u{1b}`, "ok", ""},
	} {
		out := s.run(t, command(tt.command))
		require.Nil(t, out.Error)
		require.Equal(t, tt.args, out.Display.Args)
		require.Equal(t, tt.args, out.Display.Header())
		require.Equal(t, tt.status, out.Display.Status)
		require.Equal(t, tt.payload, out.Display.Diffs.Text)
		require.Empty(t, out.Display.Mode, "without locking")
	}
	out := s.run(t, map[string]any{"command": "sleep 60", "timeout": 1})
	require.Equal(t, "timeout", out.Display.Status)
}

func TestACancelledCommandIsAResult(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-s.seen
		cancel(errors.New("the user"))
	}()
	out := s.Call(ctx, tools.Call{ID: "1", Tool: "shell", Arguments: encode(t, command("echo so far; sleep 60"))})
	require.Nil(t, out.Error)
	require.Equal(t, "termination_reason: cancelled\nsignal: 15\n\nout so far", out.Text)
	_, last := s.log.requireLife(t, "1", tools.PhaseResult)
	require.Equal(t, "cancelled", last.Status)

	out = s.Call(ctx, tools.Call{ID: "2", Tool: "shell", Arguments: encode(t, command("echo x >f"))})
	require.Equal(t, "cancelled: the user", out.Text)
	s.log.requireLife(t, "2", tools.PhaseCancelled)
	require.True(t, removed(filepath.Join(s.root, "f")))
}

func TestCloseEndsCommands(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	done := make(chan tools.Outcome)
	go func() {
		done <- s.Call(context.Background(), tools.Call{Tool: "shell", Arguments: encode(t, command("echo x; sleep 60"))})
	}()
	<-s.seen
	require.NoError(t, s.Close())
	require.Equal(t, "termination_reason: cancelled\nsignal: 15\n\nout x", (<-done).Text)
}

func TestSlowCommandsSaySo(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes more than 5 s")
	}
	t.Parallel()
	s := newShell(t, tools.ShellConfig{})
	out := s.run(t, command("sleep 5.2"))
	require.Equal(t, []string{"termination_reason", "status", "duration_seconds"}, keys(out))
	require.Contains(t, []string{"6", "7"}, header(out, "duration_seconds"))
}

func TestCommandsThatCannotStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("#!/none\n"), 0o700))
	for name, cfg := range map[string]tools.ShellConfig{
		"no such shell":  {Path: "no-such-shell"},
		"no such prefix": {Prefix: []string{"no-such-prefix"}},
		"no interpreter": {Path: file},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t, cfg)
			out := s.run(t, command("true"))
			require.NotNil(t, out.Error)
			require.Equal(t, tools.CodeShellStart, out.Error.Code)
			require.Equal(t, "error: failed to start shell command: no such file or directory\ntermination_reason: start_error", out.Text)
		})
	}
}

func TestDirectoriesOfCommands(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	root := s.root
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a/b"), 0o700))
	require.NoError(t, os.Symlink("a/b", filepath.Join(root, "link")))
	require.NoError(t, os.Symlink("loop", filepath.Join(root, "loop")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o600))
	for dir, want := range map[string]string{"a": "a", "link": "a/b", "link/..": "a", ".": "", root + "/a": "a"} {
		out := s.run(t, map[string]any{"command": `pwd; pwd -P; echo "$PWD"`, "cwd": dir})
		path := strings.TrimSuffix(filepath.Join(root, want), "/")
		require.Equal(t, "out "+path+"\nout "+path+"\nout "+path, out.Result.Body)
	}
	for dir, want := range map[string]string{
		"none":        `error: cannot run in "none": no such file or directory`,
		"file":        `error: cannot run in "file": not a directory`,
		"loop":        `error: cannot run in "loop": too many levels of symbolic links`,
		"none\n\"x\"": `error: cannot run in "none\n\"x\"": no such file or directory`,
	} {
		require.Equal(t, want, s.run(t, map[string]any{"command": "true", "cwd": dir}).Text)
	}
	require.NoError(t, os.Remove(filepath.Join(root, "file")))
	if os.Getuid() != 0 {
		require.NoError(t, os.Chmod(filepath.Join(root, "a"), 0))
		defer os.Chmod(filepath.Join(root, "a"), 0o700)
		require.Equal(t, `error: cannot run in "a": permission denied`, s.run(t, map[string]any{"command": "true", "cwd": "a"}).Text)
	}
}

func TestARemovedWorkingDirectory(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	require.NoError(t, os.Remove(s.root))
	require.Equal(t, `error: cannot run in ".": no such file or directory`, s.run(t, command("true")).Text)
}

func TestEnvironmentOfCommands(t *testing.T) {
	t.Setenv("TAU_SECRET", "x")
	t.Setenv("TAU_KEPT", "y")
	t.Setenv("OLDPWD", "/")
	t.Setenv("TERM", "")
	t.Setenv("NO_COLOR", "")
	t.Setenv("PAGER", "swallow")
	show := func(t *testing.T, cfg tools.ShellConfig, names ...string) string {
		t.Helper()
		script := ""
		for _, name := range names {
			script += `printf '%s ' "${` + name + `-unset}"; `
		}
		return strings.TrimPrefix(newShell(t, cfg).run(t, command(script)).Result.Body, "out(no_nl) ")
	}
	fixed := []string{"PAGER", "GIT_PAGER", "MANPAGER", "NO_COLOR", "CLICOLOR", "GIT_EDITOR", "OLDPWD", "TERM", "TAU_SECRET", "TAU_KEPT"}
	require.Equal(t, "cat cat cat 1 0 true unset dumb x y ", show(t, tools.ShellConfig{}, fixed...))
	require.Equal(t, "cat cat cat 2 unset true unset vt100 unset z ", show(t, tools.ShellConfig{
		DropEnv: []string{"TAU_SE*"},
		SetEnv:  map[string]string{"PAGER": "swallow", "NO_COLOR": "2", "CLICOLOR": "", "TERM": "vt100", "TAU_KEPT": "z"},
	}, fixed...))
	require.Equal(t, "less unset unset 1 ", show(t, tools.ShellConfig{KeepPager: true, SetEnv: map[string]string{"PAGER": "less"}}, fixed[:4]...))
}

func TestAHostilePagerDoesNotStall(t *testing.T) {
	pager := filepath.Join(t.TempDir(), "pager")
	require.NoError(t, os.WriteFile(pager, []byte("#!/bin/sh\ncat >/dev/null\nsleep 60\n"), 0o700))
	s := newShell(t, tools.ShellConfig{SetEnv: map[string]string{"PAGER": pager}})
	require.Equal(t, "out(no_nl) x", s.run(t, command(`printf x | "$PAGER"`)).Result.Body)
}

func TestAuthorize(t *testing.T) {
	var asked []string
	s := newShell(t, tools.ShellConfig{Authorize: func(_ context.Context, command, dir string) error {
		asked = append(asked, command, dir)
		if strings.Contains(command, "rm") {
			return errors.New("no\nremoving")
		}
		return nil
	}})
	require.NoError(t, os.Mkdir(filepath.Join(s.root, "d"), 0o700))
	require.NoError(t, os.Symlink("d", filepath.Join(s.root, "link")))
	require.Nil(t, s.run(t, map[string]any{"command": " true ", "cwd": "link"}).Error)
	require.Equal(t, []string{" true ", filepath.Join(s.root, "d")}, asked)
	out := s.run(t, command("rm x"))
	require.Equal(t, tools.CodeShellDenied, out.Error.Code)
	require.Equal(t, `error: no\nremoving`, out.Text)
}

func TestMaxTimeout(t *testing.T) {
	s := newShell(t, tools.ShellConfig{MaxTimeout: 90 * time.Second, DefaultTimeout: 200 * time.Millisecond})
	out := s.run(t, map[string]any{"command": "true", "timeout": 91})
	require.Equal(t, "error: timeout must be <= 90", out.Text)
	out = s.Call(t.Context(), tools.Call{Tool: "shell_command", Arguments: []byte(`{"command":"true","timeout_ms":90000.5}`)})
	require.Equal(t, "error: timeout_ms must be <= 90000", out.Text)
	out = s.Call(t.Context(), tools.Call{Tool: "shell_command", Arguments: []byte(`{"command":"true","timeout":91}`)})
	require.Equal(t, "error: timeout must be <= 90", out.Text)
	out = s.run(t, map[string]any{"command": "sleep 60", "timeout": 0})
	require.Equal(t, "termination_reason: timeout\nsignal: 15", out.Text)
	out = s.UserShell(t.Context(), tools.UserCommand{Command: "true"})
	require.Equal(t, "termination_reason: exit\nstatus: 0", out.Text, "a person's command has an hour")
}

// TestTotals checks R18 and the saved output against a rendering of its own.
func TestTotalsAndSavedOutputAgree(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	out := s.run(t, command("seq 3000"))
	require.Equal(t, []string{
		"termination_reason", "status", "truncated", "total_lines", "total_bytes", "truncation_warning", "full_output_path",
	}, keys(out))
	require.Equal(t, "3000", header(out, "total_lines"))
	require.Equal(t, "25892", header(out, "total_bytes"))
	whole := saved(t, out)
	require.Len(t, whole, 25892)
	lines := strings.Split(whole, "\n")
	require.Len(t, lines, 3000)
	require.Equal(t, "out 3000", lines[2999])
	body := strings.Split(out.Result.Body, "\n")
	require.Equal(t, "out 1", body[0])
	require.Equal(t, "out 3000", body[len(body)-1])
	require.LessOrEqual(t, len(out.Result.Body), 15360)
}

func TestMoreOutputThanIsSaved(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	s.seen = make(chan struct{}, 1<<20)
	const lines = 10_000_000
	out := s.run(t, command("yes | head -n 10000000; echo last"))
	require.Equal(t, "10000001", header(out, "total_lines"))
	require.Equal(t, "60000008", header(out, "total_bytes")) // 10,000,000 times "out y" and LF, "out last"
	require.Equal(t, "16777216", header(out, "saved_output_bytes"))
	require.True(t, strings.HasSuffix(out.Result.Body, "out y\nout last"))
	data, err := os.ReadFile(header(out, "saved_output_path"))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("out y\n", lines)[:16<<20], string(data))
}

func TestALineLongerThanIsKept(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	s.seen = make(chan struct{}, 1<<20)
	out := s.run(t, command("head -c 40000000 /dev/zero | tr '\\0' x; echo; echo last"))
	require.Equal(t, "out(truncated)\nout last", out.Result.Body)
	require.Equal(t, "40000013", header(out, "total_bytes"))
	data, err := os.ReadFile(header(out, "saved_output_path"))
	require.NoError(t, err)
	require.Len(t, data, 16<<20)
	require.Equal(t, "out "+strings.Repeat("x", 16<<20-4), string(data))
}

func TestUserShell(t *testing.T) {
	s := newShell(t, tools.ShellConfig{UserTimeout: 300 * time.Millisecond})
	var live strings.Builder
	run := func(command string) tools.Outcome {
		live.Reset()
		return s.UserShell(t.Context(), tools.UserCommand{Command: command, Live: func(_ shellrec.Stream, p []byte) { live.Write(p) }})
	}
	require.Equal(t, "termination_reason: exit\nstatus: 0\n\nout hi", run("echo hi").Text)
	require.Equal(t, "hi\n", live.String())

	out := run("head -c 30000 /dev/zero | tr '\\0' x")
	require.Equal(t, "out(no_nl,truncated)", out.Result.Body)
	require.Equal(t, strings.Repeat("x", 10240)+"[output truncated]", live.String())

	require.Equal(t, "timeout", header(run("sleep 60"), "termination_reason"))
	for command, want := range map[string]string{
		" \n":                       "error: command must not be empty",
		"a\x00":                     "error: command must not contain NUL",
		strings.Repeat("x", 131072): "error: command exceeds 131071 bytes",
	} {
		require.Equal(t, want, run(command).Text)
	}
	require.Empty(t, s.log.events)
	require.NoError(t, s.Close())
	require.Equal(t, "cancelled: the session is closed", run("echo hi").Text)
}

func TestLiveOutputIsCutBetweenCharacters(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	const most = "head -c 10239 /dev/zero | tr '\\0' x; "
	shown := strings.Repeat("x", 10239)
	for command, want := range map[string]string{
		"printf 'ö'; echo more >&2":                            "[output truncated]",
		"printf '\\303'; sleep 0.1; printf '\\266'":            "[output truncated]",
		"printf '\\303'; sleep 0.1; printf '\\266' >&2":        "\xb6[output truncated]", // one of each stream
		"printf '\\303'":                                       "\xc3",
		"printf '\\342'; sleep 0.1; printf '\\202\\254'":       "[output truncated]",
		"printf '\\342'; sleep 0.1; printf '\\202'; echo more": "\xe2[output truncated]", // no character
	} {
		var live strings.Builder
		s.UserShell(t.Context(), tools.UserCommand{
			Command: most + command,
			Live:    func(_ shellrec.Stream, p []byte) { live.Write(p) },
		})
		require.Equal(t, shown+want, live.String(), command)
	}
}

func TestTheLongestCommand(t *testing.T) {
	s := newShell(t, tools.ShellConfig{})
	text := "echo ok #" + strings.Repeat("x", 131071-9)
	require.Equal(t, "out ok", s.run(t, command(text)).Result.Body)
	require.Equal(t, "error: command exceeds 131071 bytes", s.run(t, command(text+"x")).Text)
}
