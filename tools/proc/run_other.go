//go:build !linux && !darwin

package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/taukit/taukit/shellrec"
)

// A tree is a running command, where there are no process groups and no poll:
// what the command starts is out of reach. Each stream has a goroutine that
// reads it; the order between them is that in which they come to it.
type tree struct {
	c       Command
	files   []*os.File // that are read
	readers sync.WaitGroup

	mu     sync.Mutex // held during Output
	open   int        // streams that are not at their end
	closed bool       // nobody wants the output any more
}

func run(ctx context.Context, c Command, cmd *exec.Cmd) (Outcome, error) {
	if c.PTY {
		return Outcome{}, &StartError{c.Path, errors.ErrUnsupported}
	}
	t := &tree{c: c}
	ends, err := t.connect(cmd)
	if err == nil {
		err = c.Start(cmd)
	}
	closeAll(ends)
	if err != nil {
		closeAll(t.files)
		return Outcome{}, &StartError{c.Path, err}
	}
	started := time.Now()
	for i, f := range t.files {
		t.readers.Go(func() { t.read(shellrec.Stream(i), f) })
	}
	outcome := wait(ctx, c, cmd.Process)
	outcome.Duration = time.Since(started)
	outcome.OutputOpen = !t.drained()
	return outcome, nil
}

// connect gives the command a pipe for each stream and returns its ends.
func (t *tree) connect(cmd *exec.Cmd) (ends []*os.File, err error) {
	for range 2 {
		r, w, err := os.Pipe()
		if err != nil {
			return ends, err
		}
		t.files, ends = append(t.files, r), append(ends, w)
	}
	t.open = len(t.files)
	cmd.Stdout, cmd.Stderr = ends[0], ends[1]
	return ends, nil
}

func (t *tree) read(s shellrec.Stream, f *os.File) {
	buf := make([]byte, readSize)
	for {
		n, err := f.Read(buf)
		t.mu.Lock()
		if n > 0 && !t.closed {
			t.c.Output(s, buf[:n])
		}
		if err != nil {
			t.open--
		}
		t.mu.Unlock()
		if err != nil {
			f.Close()
			return
		}
	}
}

// wait waits for the process, which it kills when its time is over.
func wait(ctx context.Context, c Command, p *os.Process) (o Outcome) {
	type end struct {
		state *os.ProcessState
		err   error
	}
	ended := make(chan end, 1)
	go func() {
		state, err := p.Wait()
		ended <- end{state, err}
	}()
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	var e end
	select {
	case e = <-ended:
		o.Reason = Exited
	case <-ctx.Done():
		o.Reason = Cancelled
	case <-timeout:
		o.Reason = TimedOut
	}
	if o.Reason != Exited {
		_ = p.Kill() // it fails when the process has ended
		select {
		case e = <-ended:
		case <-time.After(reapLimit):
			return o
		}
	}
	switch {
	case e.err == nil:
		o.Status, o.HasStatus = e.state.ExitCode(), true
	case o.Reason == Exited:
		o.Reason = Unknown
	}
	return o
}

// drained waits for the end of the output as long as the command says, and
// reports whether it came. What comes later goes to nothing.
func (t *tree) drained() bool {
	done := make(chan struct{})
	go func() {
		t.readers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(t.c.DrainWindow):
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.open == 0 {
		return true
	}
	t.c.Drains.add(t.files) // which ends the readers in the end
	return false
}
