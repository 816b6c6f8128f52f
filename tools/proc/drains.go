package proc

import (
	"io"
	"os"
	"sync"
)

// maxDrains is how many commands may have output that is drained.
const maxDrains = 64

// Drains keeps the output of descendants flowing to nothing after their command
// has ended: a server that was started in the background would die of SIGPIPE at
// its next line if nobody read it. The outputs of 64 commands are kept; the
// oldest is closed when there is one more.
//
// The zero value is ready. A nil Drains closes what it is given. Drains is safe
// for concurrent use.
type Drains struct {
	mu     sync.Mutex
	closed bool
	open   []*drain // oldest first
	work   sync.WaitGroup
}

// A drain is the open outputs of one command.
type drain struct {
	files []*os.File
	left  int // files that are not at their end; guarded by Drains.mu
}

// add takes over files, which are open for reading.
func (d *Drains) add(files []*os.File) {
	if len(files) == 0 {
		return
	}
	if d == nil {
		closeAll(files)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		closeAll(files)
		return
	}
	if len(d.open) == maxDrains {
		closeAll(d.open[0].files)
		d.open = d.open[1:]
	}
	one := &drain{files: files, left: len(files)}
	d.open = append(d.open, one)
	for _, f := range files {
		d.work.Go(func() { d.drain(one, f) })
	}
}

// drain reads f to its end, or until it is closed.
func (d *Drains) drain(one *drain, f *os.File) {
	_, _ = io.Copy(io.Discard, f)
	f.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	if one.left--; one.left == 0 {
		d.forget(one)
	}
}

// forget needs d.mu.
func (d *Drains) forget(one *drain) {
	for i, other := range d.open {
		if other == one {
			d.open = append(d.open[:i:i], d.open[i+1:]...)
			return
		}
	}
}

// Close closes what is drained and waits for what read it. What is added later
// is closed at once.
func (d *Drains) Close() error {
	d.mu.Lock()
	d.closed = true
	for _, one := range d.open {
		closeAll(one.files)
	}
	d.open = nil
	d.mu.Unlock()
	d.work.Wait()
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close() // of nil, it only fails
	}
}
