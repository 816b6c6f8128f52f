//go:build linux || darwin

package proc

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A tree is a running command. One goroutine waits for output, for the end of
// the command and of the context, and for the next deadline, all at once: no
// flood of output keeps it from any of the others.
type tree struct {
	c       Command
	ctx     context.Context
	out     [2]*output // by stream; nil at end-of-file
	ends    ends       // those of the command, while it needs them open here
	bell    *bell
	buf     []byte
	process *os.Process
	exited  chan struct{} // closed when the process has ended
	started time.Time

	rang    bool // the bell did, once
	state   state
	until   time.Time // when the state is over; zero means never
	dead    time.Time // when a group that was killed counts as gone
	late    bool      // all has been looked at after the time to wait for output
	outcome Outcome
}

// A state is how far the end of a command is.
type state uint8

const (
	running state = iota
	asked         // SIGTERM was sent; until the grace is over
	killed        // SIGKILL was sent; until nobody waits any longer
	ended         // reaped; until the output is no longer awaited
)

func run(ctx context.Context, c Command, cmd *exec.Cmd) (Outcome, error) {
	t := &tree{c: c, ctx: ctx, buf: make([]byte, readSize)}
	defer t.close()
	if err := t.start(cmd); err != nil {
		return Outcome{}, &StartError{c.Path, err}
	}
	for !t.over() {
		t.turn()
	}
	t.outcome.OutputOpen = t.open()
	return t.outcome, nil
}

func (t *tree) start(cmd *exec.Cmd) (err error) {
	open := os.Pipe
	if t.c.PTY {
		open = openTerminal
	}
	if t.out, t.ends, err = openOutputs(open); err != nil {
		return err
	}
	if t.bell, err = newBell(); err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = t.ends[0], t.ends[1]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = inherited()
	if err := withDefaultSignals(func() error { return t.c.Start(cmd) }); err != nil {
		return err
	}
	t.started = time.Now()
	if t.c.Timeout > 0 {
		t.until = t.started.Add(t.c.Timeout)
	}
	t.watch(cmd.Process)
	if !t.c.PTY { // a terminal that nobody has open would hang up
		t.ends.close()
	}
	return nil
}

// watch rings the bell when the process or the context ends, or somebody is in a
// hurry. It does not reap: until that is done, no other process can get the id.
func (t *tree) watch(p *os.Process) {
	t.process, t.exited = p, make(chan struct{})
	go func() {
		waitExit(p.Pid)
		t.bell.ring()
		close(t.exited)
	}()
	t.bell.unhook = context.AfterFunc(t.ctx, t.bell.ring)
	if t.c.Hurry != nil {
		go func() {
			select {
			case <-t.c.Hurry:
				t.bell.ring()
			case <-t.exited:
			}
		}()
	}
}

// turn waits until there is something to do, and does it.
func (t *tree) turn() {
	ready := t.poll()
	for s, o := range t.out {
		if o != nil && ready[s] && !t.read(o) {
			o.file.Close()
			t.out[s] = nil
		}
	}
	if !t.rang && !t.due() {
		return
	}
	switch t.state {
	case running:
		t.whileRunning()
	case asked:
		t.whileAsked()
	case killed:
		t.whileKilled()
	}
}

// poll waits for output, the bell, or the end of the state, and tells which
// streams are to be read.
func (t *tree) poll() (ready [2]bool) {
	fds := [3]unix.PollFd{{Fd: t.bell.fd, Events: unix.POLLIN}, {Fd: -1}, {Fd: -1}} // -1 is passed over
	for s, o := range t.out {
		if o != nil {
			fds[1+s] = unix.PollFd{Fd: o.fd, Events: unix.POLLIN}
		}
	}
	if t.state == ended && t.due() && t.dying() {
		t.until = time.Now().Add(dyingInterval)
	}
	late := t.state == ended && t.due() && !t.owed()
	if _, err := unix.Poll(fds[:], t.pollTimeout()); err != nil {
		return ready // interrupted: the next turn waits again
	}
	t.late = late
	if fds[0].Revents != 0 {
		t.bell.silence()
		t.rang = true
	}
	return [2]bool{fds[1].Revents != 0, fds[2].Revents != 0}
}

// pollTimeout returns the time to the end of the state in milliseconds, rounded
// up so that nothing turns for less than one; -1 means for ever.
func (t *tree) pollTimeout() int {
	if t.until.IsZero() {
		return -1
	}
	left := max(time.Until(t.until), 0)
	return int(min(left+time.Millisecond-1, time.Hour) / time.Millisecond)
}

// read reads once, and reports whether more may come. A terminal that nobody
// has open any more gives an error.
func (t *tree) read(o *output) bool {
	n, err := unix.Read(int(o.fd), t.buf)
	switch {
	case n > 0:
		o.owed -= n
		t.c.Output(o.stream, t.buf[:n])
		return true
	case err == unix.EAGAIN || err == unix.EINTR: //nolint:errorlint // a bare number
		return true
	default:
		return false
	}
}

func (t *tree) whileRunning() {
	switch {
	case hasExited(t.process.Pid): // first, so that it counts if several are true
		t.end()
	case t.ctx.Err() != nil:
		t.ask(Cancelled)
	case t.due():
		t.ask(TimedOut)
	}
}

func (t *tree) whileAsked() {
	switch {
	case hasExited(t.process.Pid):
		t.kill() // who ignored the first signal has no grace of its own
		t.end()
	case t.due(), t.hurried(), t.outcome.Reason == TimedOut && t.ctx.Err() != nil:
		t.kill()
	}
}

func (t *tree) hurried() bool {
	select {
	case <-t.c.Hurry:
		return true
	default:
		return false
	}
}

func (t *tree) whileKilled() {
	switch {
	case hasExited(t.process.Pid):
		t.end()
	case t.due():
		t.abandon()
	}
}

func (t *tree) due() bool { return !t.until.IsZero() && !time.Now().Before(t.until) }

// ask asks the group to end. A stopped process acts on a signal when it goes on.
func (t *tree) ask(why Reason) {
	t.signal(unix.SIGTERM)
	t.signal(unix.SIGCONT)
	t.outcome.Reason = why
	t.state, t.until = asked, time.Now().Add(t.c.KillGrace)
}

func (t *tree) kill() {
	t.signal(unix.SIGKILL)
	t.state, t.until = killed, time.Now().Add(reapLimit)
	t.dead = time.Now().Add(dyingLimit)
}

// How long the rest of a group that was killed may take to die, and the time
// between two looks.
const (
	dyingLimit    = time.Second
	dyingInterval = 5 * time.Millisecond
)

// dying reports whether a group that was killed has members left, who hold the
// output open until they are gone. Nobody may be there to reap them, so the time
// is limited.
func (t *tree) dying() bool {
	return time.Now().Before(t.dead) && unix.Kill(-t.process.Pid, 0) == nil
}

// signal signals the whole group. The leader is not reaped yet, so its id is
// not another group's.
func (t *tree) signal(s syscall.Signal) {
	_ = unix.Kill(-t.process.Pid, s) // it fails when nobody is left
}

// end reaps the process, which has ended, and sees what it has left to read.
func (t *tree) end() {
	now := time.Now()
	<-t.exited // it must not wait for an id that may be another's
	state, err := t.process.Wait()
	t.outcome.Duration = now.Sub(t.started)
	byItself := t.outcome.Reason == ""
	switch status, known := waitStatus(state, err); {
	case !known && byItself:
		t.outcome.Reason = Unknown
	case !known:
	case status.Signaled():
		t.outcome.Signal = int(status.Signal())
		if byItself {
			t.outcome.Reason = Signaled
		}
	default:
		t.outcome.Status, t.outcome.HasStatus = status.ExitStatus(), true
		if byItself {
			t.outcome.Reason = Exited
		}
	}
	for _, o := range t.out {
		if o != nil {
			o.owed = pending(o.fd)
		}
	}
	t.ends.close() // or there would be no end-of-file
	t.state, t.until = ended, now.Add(t.c.DrainWindow)
}

func waitStatus(state *os.ProcessState, err error) (status syscall.WaitStatus, known bool) {
	if err != nil {
		return 0, false
	}
	status, known = state.Sys().(syscall.WaitStatus)
	return status, known
}

// abandon gives up on a process that SIGKILL has not ended: the system cannot
// interrupt what it does. It is reaped when that is over.
func (t *tree) abandon() {
	t.outcome.Duration = time.Since(t.started)
	t.state = ended
	go func() {
		<-t.exited
		_, _ = t.process.Wait()
	}()
}

// over reports whether the process has ended, and its output too or the time to
// wait for it. What it had written by its end is read in any case, and so is an
// end-of-file that was there in time: on a busy machine, the time may be over
// before anybody has looked.
func (t *tree) over() bool {
	return t.state == ended && (!t.open() || t.late)
}

// owed reports whether the command had written by its end what is still unread.
func (t *tree) owed() bool {
	for _, o := range t.out {
		if o != nil && o.owed > 0 {
			return true
		}
	}
	return false
}

// open reports whether somebody holds the output open.
func (t *tree) open() bool { return t.out[0] != nil || t.out[1] != nil }

// close leaves nothing behind, not even after a panic of Output.
func (t *tree) close() {
	if t.process != nil && t.state != ended {
		t.signal(unix.SIGKILL)
		<-t.exited
		_, _ = t.process.Wait()
	}
	t.ends.close()
	var files []*os.File
	for _, o := range t.out {
		if o != nil {
			files = append(files, o.file)
		}
	}
	if t.process == nil {
		closeAll(files)
	} else {
		t.c.Drains.add(files)
	}
	t.bell.close()
}
