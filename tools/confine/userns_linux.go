package confine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// UserNS starts a command in a user namespace and a mount namespace of its own,
// with read-only bind mounts over the directories. It needs no privileges, but a
// system that has user namespaces for everybody, and a program that calls
// [RunHelper]: it starts itself again. Users and groups are mapped to themselves,
// but only the own ones: files of others belong to nobody. The command has no
// capabilities, root's neither.
func UserNS() Method { return userNS{} }

type userNS struct{}

func (userNS) Name() string          { return "UserNS" }
func (userNS) Enforces() Enforcement { return ByBind }

func (m userNS) Probe(ctx context.Context) error { return probe(ctx, m.start) }

// helperReady says that this program has called [RunHelper], so that it can be
// started as a helper. It is global because it is a fact about the whole program,
// which no other code can know: without it, a program that never calls RunHelper
// would run a second time, as itself, instead of the command.
var helperReady atomic.Bool

var errNoHelper = errors.New("the program does not call confine.RunHelper")

func (m userNS) Start(cmd *exec.Cmd, p Plan) error { return bounded(m.start, cmd, p) }

func (userNS) start(ctx context.Context, cmd *exec.Cmd, p Plan) error {
	if !helperReady.Load() {
		return setup("start helper", errNoHelper)
	}
	layers, err := p.layers()
	if err != nil {
		return err
	}
	l, err := newLaunch(cmd)
	if err != nil {
		return err
	}
	defer l.close()
	process, err := startHelper(ctx, l, layers)
	if err == nil {
		cmd.Process = process
	}
	return err
}

// startHelper starts this program again, as what will become the command, and
// waits until it has, for as long as ctx lasts.
func startHelper(ctx context.Context, l *launch, layers []layer) (*os.Process, error) {
	data, err := encode(order{layers: layers, dir: l.attr.Dir, path: l.path, argv: l.argv, env: l.attr.Env})
	if err != nil {
		return nil, l.failed(err)
	}
	orders, err := memoryFile(data)
	if err != nil {
		return nil, err
	}
	defer orders.Close()
	report, write, err := os.Pipe()
	if err != nil {
		return nil, setup("pipe", err)
	}
	defer report.Close()
	h, err := l.helper(orders, write)
	if err != nil {
		write.Close()
		return nil, err
	}
	process, err := h.start()
	write.Close()
	if err != nil {
		return nil, setup("start helper", cause(err))
	}
	if err := l.outcome(ctx, report); err != nil {
		_ = process.Kill() // if it hangs
		_, _ = process.Wait()
		return nil, err
	}
	return process, nil
}

// helper returns the launch of the helper. Its own streams lead nowhere, so that
// nothing that this program says when it starts gets into the command's output;
// the command's come behind all other files.
func (l *launch) helper(orders, report *os.File) (*launch, error) {
	null, err := l.devNull()
	if err != nil {
		return nil, err
	}
	streams, extra := l.attr.Files[:3], l.attr.Files[3:]
	first := len(l.attr.Files)
	return &launch{
		path: "/proc/self/exe",
		argv: []string{helperName, strconv.Itoa(first)},
		attr: os.ProcAttr{
			Env:   os.Environ(),
			Files: slices.Concat([]*os.File{null, null, null}, extra, streams, []*os.File{orders, report}),
			Sys:   namespaces(l.attr.Sys, first),
		},
	}, nil
}

// namespaces returns the attributes for a process in a user namespace and a mount
// namespace of its own, whose streams begin at first. Ambient capabilities are
// those that an ordinary user keeps over the exec of the helper.
func namespaces(sys *syscall.SysProcAttr, first int) *syscall.SysProcAttr {
	attr := syscall.SysProcAttr{}
	if sys != nil {
		attr = *sys
	}
	if attr.Setctty && attr.Ctty < 3 {
		attr.Ctty += first
	}
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	return &attr
}

// outcome reads what the helper has to say: see [report]. The pipe ends when the
// helper becomes the command, or ends itself.
func (l *launch) outcome(ctx context.Context, pipe *os.File) error {
	stop := context.AfterFunc(ctx, func() { _ = pipe.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	data, err := io.ReadAll(pipe)
	if ctx.Err() != nil {
		err = ctx.Err() // and not that of a deadline that has passed
	}
	if err != nil {
		return setup("wait for helper", cause(err))
	}
	data, ready := bytes.CutPrefix(data, []byte(helperIsReady))
	switch r, ok := parseReport(data); {
	case ready && len(data) == 0:
		return nil
	case !ok:
		return setup("wait for helper", errHelperEnded)
	case ready:
		return l.failed(r.errno)
	case r.dir != "":
		return &PlanError{r.dir, r.errno}
	default:
		return setup(r.op, r.errno)
	}
}

var errHelperEnded = errors.New("it ended early")

// memoryFile returns a file in memory with the data, to be read from its start.
// Unlike a pipe it takes all at once, and nobody has to be there to write on.
func memoryFile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("confine", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("confine", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, setup("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "confine")
	if _, err = file.WriteAt(data, 0); err != nil {
		file.Close()
		return nil, setup("write orders", cause(err))
	}
	return file, nil
}
