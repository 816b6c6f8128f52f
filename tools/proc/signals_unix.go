//go:build linux || darwin

package proc

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// numSignals is one more than the highest signal that package signal knows.
const numSignals = 65

// caught is the signals that are ignored by this process but for the moments in
// which it starts commands. It is one for the process, as the signals are.
var caught struct {
	mu      sync.Mutex
	starts  int // that are under way
	signals []os.Signal
}

// withDefaultSignals calls start, which starts a command, in such a way that the
// command has the default action for every signal. It would inherit those that
// this process ignores, and a shell cannot undo that (POSIX, trap). Those that
// are caught are not inherited. So for the moment the ignored ones are caught,
// and come to nothing.
func withDefaultSignals(start func() error) error {
	catch()
	defer release()
	return withEmptyMask(start)
}

// learnIgnored makes package signal know what this process was started with
// ignored: of the signals of job control it does not look (Go 1.26).
var learnIgnored = sync.OnceFunc(func() {
	for _, s := range systemIgnored() {
		signal.Ignore(s)
	}
})

func catch() {
	caught.mu.Lock()
	defer caught.mu.Unlock()
	learnIgnored()
	caught.starts++
	var more []os.Signal
	for n := syscall.Signal(1); n < numSignals; n++ {
		if signal.Ignored(n) {
			more = append(more, n)
		}
	}
	if len(more) > 0 { // or all signals would be caught
		signal.Notify(make(chan os.Signal, 1), more...)
		caught.signals = slices.Concat(caught.signals, more)
	}
}

func release() {
	caught.mu.Lock()
	defer caught.mu.Unlock()
	if caught.starts--; caught.starts == 0 && len(caught.signals) > 0 {
		signal.Ignore(caught.signals...)
		caught.signals = nil
	}
}
