//go:build linux || darwin

package proc

import (
	"os"
	"sync"
)

// A bell wakes a poll from other goroutines.
type bell struct {
	*output             // that the poll waits for
	unhook  func() bool // takes the bell from a context

	mu   sync.Mutex
	rope *os.File // nil when closed
}

func newBell() (*bell, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o, err := newOutput(0, r)
	if err != nil {
		closeAll([]*os.File{r, w})
		return nil, err
	}
	return &bell{output: o, unhook: func() bool { return true }, rope: w}, nil
}

// ring makes the bell readable. After close it does nothing.
func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rope != nil {
		_, _ = b.rope.Write([]byte{0})
	}
}

// silence takes back what rang; what rings afterwards counts again.
func (b *bell) silence() {
	var buf [8]byte
	_, _ = b.file.Read(buf[:])
}

func (b *bell) close() {
	if b == nil {
		return
	}
	b.unhook()
	b.mu.Lock()
	defer b.mu.Unlock()
	closeAll([]*os.File{b.file, b.rope})
	b.rope = nil
}
