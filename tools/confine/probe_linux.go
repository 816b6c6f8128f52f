package confine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// probeTimeout bounds a probe.
	probeTimeout = 5 * time.Second

	// startTimeout bounds what another process has to do before a command runs. It
	// is long, since on a machine with too much to do that is no failure.
	startTimeout = 30 * time.Second
)

// bounded calls start with a context that ends after startTimeout.
func bounded(start func(context.Context, *exec.Cmd, Plan) error, cmd *exec.Cmd, p Plan) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return start(ctx, cmd, p)
}

// probeScript runs in the private directory. Writing is tried in a subshell, since
// some shells end when they cannot redirect; /dev/null must work, or that could
// fail for another reason.
const probeScript = `read -r word < word && [ "$word" = read ] || exit 2
( : > /dev/null ) || exit 3
( : > new ) 2> /dev/null && exit 4
exit 0`

// probe is the Probe of all methods, which start commands by start.
func probe(ctx context.Context, start func(context.Context, *exec.Cmd, Plan) error) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	dir, err := probeDir()
	if err != nil {
		return setup("make a directory to probe in", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command(shell, "-c", probeScript)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := start(ctx, cmd, Plan{ReadOnly: []string{dir}}); err != nil {
		return err
	}
	return judge(ctx, cmd.Process, dir)
}

// probeDir makes the directory that probes use, with a word to read.
func probeDir() (string, error) {
	var failed error
	for _, parent := range []string{os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), sharedMemory} {
		dir, err := os.MkdirTemp(parent, "confine-probe-")
		if err == nil {
			if err = os.WriteFile(filepath.Join(dir, "word"), []byte("read\n"), 0o600); err == nil {
				return dir, nil
			}
			_ = os.RemoveAll(dir)
		}
		failed = errors.Join(failed, err)
	}
	return "", failed
}

var (
	errCannotRead = errors.New("the probe could not read in the protected directory")
	errNoDevices  = errors.New("the probe could not write to /dev/null")
	errNoEffect   = errors.New("the probe could write in the protected directory")
	errNoProbe    = errors.New("the probe did not run to its end")
)

// judge waits for the probe and says what it found. What it tells is not all that
// counts: a file that was made is one.
func judge(ctx context.Context, process *os.Process, dir string) error {
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() })
	defer stop()
	state, err := process.Wait()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		return errNoEffect
	}
	switch state.ExitCode() {
	case 0:
		return nil
	case 2:
		return errCannotRead
	case 3:
		return errNoDevices
	case 4:
		return errNoEffect
	}
	return errNoProbe
}
