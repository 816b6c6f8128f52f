package confine

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// onThread runs f on a thread of its own, which ends with it, and returns what f
// returns. Namespaces, Landlock domains, capabilities and the signal mask belong
// to a thread, and a process inherits those of the thread that starts it.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends
		if unix.Gettid() != unix.Getpid() {
			done <- f()
			return
		}
		// The main thread does not end, and is what /proc/PID shows of the whole
		// process. While this goroutine holds it, another one gets another.
		other := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(other)
			done <- f()
		}()
		<-other
		runtime.UnlockOSThread()
	}()
	return <-done
}

// unblockSignals empties the signal mask of this thread: what it starts would
// inherit the signals that were blocked when this program was started.
func unblockSignals() error {
	return setup("unblock signals", unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil))
}

// A launch is a command made ready: what [os.StartProcess] takes. It is not
// [exec.Cmd.Start] that starts it, since the methods need to change what is
// started, where and how, and no goroutine may serve it.
type launch struct {
	path string
	argv []string
	attr os.ProcAttr
	null *os.File // what stands for a stream that is nil
}

// newLaunch makes cmd ready. The caller must call close.
func newLaunch(cmd *exec.Cmd) (*launch, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	if err := checkAttributes(cmd.SysProcAttr); err != nil {
		return nil, err
	}
	l := &launch{path: cmd.Path, argv: cmd.Args}
	if len(l.argv) == 0 {
		l.argv = []string{cmd.Path}
	}
	l.attr = os.ProcAttr{Dir: directory(cmd.Dir), Env: cmd.Environ(), Sys: cmd.SysProcAttr}
	if err := l.open(cmd); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// directory returns the absolute path of where the command shall run. A thread
// whose view changes stays in the directory of the old view, below the one that
// is mounted over it, so even the own directory must be entered anew.
func directory(dir string) string {
	if dir != "" && dir[0] == '/' {
		return dir
	}
	wd, err := os.Getwd()
	if err != nil {
		return dir // it was removed: nothing can be made there
	}
	if dir == "" {
		return wd
	}
	return wd + "/" + dir
}

func (l *launch) open(cmd *exec.Cmd) error {
	for _, stream := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		file, err := l.file(stream)
		if err != nil {
			return err
		}
		l.attr.Files = append(l.attr.Files, file)
	}
	l.attr.Files = append(l.attr.Files, cmd.ExtraFiles...)
	return nil
}

func (l *launch) file(stream any) (*os.File, error) {
	if file, ok := stream.(*os.File); ok {
		return file, nil
	}
	if stream != nil {
		return nil, ErrStream
	}
	return l.devNull()
}

// devNull returns the null device, which belongs to l.
func (l *launch) devNull() (*os.File, error) {
	if l.null == nil {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		l.null = null
	}
	return l.null, nil
}

func (l *launch) close() {
	if l.null != nil {
		l.null.Close()
	}
}

// start starts the command from this thread.
func (l *launch) start() (*os.Process, error) {
	return os.StartProcess(l.path, l.argv, &l.attr)
}

// failed returns the error that start gives when the system says err.
func (l *launch) failed(err error) error {
	return &os.PathError{Op: "fork/exec", Path: l.path, Err: err}
}

// startOnThread starts cmd from a thread of its own on which confine, which may
// change that thread, has run before.
func startOnThread(cmd *exec.Cmd, confine func() error) error {
	l, err := newLaunch(cmd)
	if err != nil {
		return err
	}
	defer l.close()
	return onThread(func() error {
		if err := unblockSignals(); err != nil {
			return err
		}
		if err := confine(); err != nil {
			return err
		}
		process, err := l.start()
		if err == nil {
			cmd.Process = process
		}
		return err
	})
}

// checkAttributes refuses whatever a method would have to carry over by hand, or
// that could undo its work.
func checkAttributes(sys *syscall.SysProcAttr) error {
	if sys == nil {
		return nil
	}
	rest := *sys
	rest.Setsid, rest.Setpgid, rest.Pgid = false, false, 0
	rest.Setctty, rest.Noctty, rest.Ctty, rest.Foreground = false, false, 0, false
	rest.UseCgroupFD, rest.CgroupFD, rest.PidFD = false, 0, nil
	if !reflect.ValueOf(rest).IsZero() {
		return ErrAttributes
	}
	return nil
}

// retried calls f again for as long as a signal interrupts it.
func retried(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
