package confine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// Bubblewrap starts a command by the program bwrap, which is at path, or in PATH
// if path is empty. It is for systems where nothing else works, such as one where
// bwrap is set-user-id root, and it is not as exact as the others: the process
// that is started is bwrap, and the command its child; the command's first
// argument is its path; a signal that ends it shows as the status 128 + signal;
// and each start does the set-up twice, because bwrap would report that it failed
// as output of the command.
func Bubblewrap(path string) Method { return bubblewrap{path} }

type bubblewrap struct{ path string }

func (bubblewrap) Name() string          { return "Bubblewrap" }
func (bubblewrap) Enforces() Enforcement { return ByBind }

func (m bubblewrap) Probe(ctx context.Context) error { return probe(ctx, m.start) }

func (m bubblewrap) Start(cmd *exec.Cmd, p Plan) error { return bounded(m.start, cmd, p) }

func (m bubblewrap) start(ctx context.Context, cmd *exec.Cmd, p Plan) error {
	layers, err := p.layers()
	if err != nil {
		return err
	}
	l, err := newLaunch(cmd)
	if err != nil {
		return err
	}
	defer l.close()
	bwrap, err := m.find()
	if err != nil {
		return setup("find bwrap", err)
	}
	if err := l.check(); err != nil {
		return err
	}
	args := wrapping(layers)
	if err := rehearse(ctx, bwrap, args); err != nil {
		return err
	}
	if l.attr.Dir != "" {
		args = append(args, "--chdir", l.attr.Dir)
	}
	args = append(args, "--", l.path)
	l.argv = append(args, l.argv[1:]...)
	l.path, l.attr.Dir = bwrap, ""
	return onThread(func() error {
		if err := unblockSignals(); err != nil {
			return err
		}
		process, err := l.start()
		if err == nil {
			cmd.Process = process
		}
		return err
	})
}

func (m bubblewrap) find() (string, error) {
	name := m.path
	if name == "" {
		name = "bwrap"
	}
	path, err := exec.LookPath(name)
	var failed *exec.Error
	if errors.As(err, &failed) {
		return "", failed.Err
	}
	return path, err
}

// check finds out beforehand what would keep the command from starting: bwrap
// reports that as output of the command.
func (l *launch) check() error {
	path := l.path
	if l.attr.Dir != "" {
		if err := unix.Access(l.attr.Dir, unix.X_OK); err != nil {
			return l.failed(err)
		}
		if !strings.HasPrefix(path, "/") {
			path = l.attr.Dir + "/" + path
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return l.failed(cause(err))
	}
	if info.IsDir() {
		return l.failed(unix.EACCES)
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return l.failed(err)
	}
	return nil
}

// wrapping returns the arguments, the zeroth included, that make the layers.
func wrapping(layers []layer) []string {
	args := []string{
		// Otherwise root keeps all capabilities, and sees the old view by way of the
		// bwrap that waits for the command.
		"bwrap", "--unshare-user-try",
		"--cap-drop", "CAP_SYS_ADMIN", "--cap-drop", "CAP_SYS_PTRACE", "--cap-drop", "CAP_DAC_READ_SEARCH",
		"--dev-bind", "/", "/",
	}
	for _, l := range layers {
		option := "--dev-bind"
		if l.readOnly {
			option = "--ro-bind"
		}
		args = append(args, option, l.path, l.path)
	}
	for _, path := range devices { // bwrap takes them away with what it makes read-only
		if protected(layers, path) {
			args = append(args, "--dev-bind-try", path, path)
		}
	}
	return args
}

// maxWords is how much of what bwrap says is kept, in bytes.
const maxWords = 1 << 10

// rehearse makes the layers for a command that does nothing.
func rehearse(ctx context.Context, bwrap string, args []string) error {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return setup("find sh", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return setup("pipe", err)
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, bwrap)
	cmd.Args = append(args[:len(args):len(args)], "--", shell, "-c", "exit 0")
	cmd.Dir = "/"
	cmd.Stderr = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		return setup("start bwrap", cause(err))
	}
	words, _ := io.ReadAll(io.LimitReader(r, maxWords))
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return setup("wait for bwrap", ctx.Err())
		}
		line, _, _ := bytes.Cut(bytes.TrimSpace(words), []byte("\n"))
		return setup("bwrap", errors.New(strings.ToValidUTF8(string(line), "�")))
	}
	return nil
}
