package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// What the zero values of [Options] stand for.
const (
	DefaultPrefix   = "tool-output"
	DefaultMaxBytes = 16 << 20         // bytes in one artifact
	DefaultQuota    = 1 << 30          // bytes in all live artifacts of a Spool
	DefaultMaxFiles = 1024             // live artifacts of a Spool
	DefaultMinCalls = 32               // later calls before an artifact may go
	DefaultMinAge   = 15 * time.Minute // age before an artifact may go
)

// Errors of this package; test with [errors.Is]. Whatever the system reports
// (no space, no permission, no such directory) is returned as it is, in an
// [fs.PathError].
var (
	// ErrClosed: the Spool is closed, or the Writer was committed or aborted.
	ErrClosed = errors.New("artifact: closed")
	// ErrQuota: the live artifacts leave no room for more.
	ErrQuota = errors.New("artifact: quota is used up")
	// ErrUnavailable: there is no Spool (it is nil), saving is switched off.
	ErrUnavailable = errors.New("artifact: saving is switched off")
	// ErrUnsafeDir: the parent directory or its file system does not protect
	// what is put there, or its path cannot be shown as it is.
	ErrUnsafeDir = errors.New("artifact: unsafe directory")
	// ErrUnsupported: the operating system cannot give the guarantees. It also
	// is [errors.ErrUnsupported].
	ErrUnsupported = fmt.Errorf("artifact: private files: %w", errors.ErrUnsupported)
)

// Options configure a [Spool]. A zero field stands for its default.
type Options struct {
	// Dir is the parent directory, by default the one of [os.TempDir]. It must
	// be an absolute path without control characters and line separators, owned
	// by this user or root, and either closed to writing by others or sticky.
	// That is checked each time an artifact is created or removed.
	Dir string
	// Prefix begins the name of each artifact's directory. It cannot contain a
	// slash. Programs with the same Prefix clean up after each other's crashes.
	Prefix string
	// MaxBytes is how much of one output is kept.
	MaxBytes int64
	// Quota and MaxFiles bound all live artifacts together: those that are being
	// written, those that are kept, and those whose removal failed so far. Each
	// holds a file descriptor, so there are never more of them than a quarter of
	// what the process may have open.
	Quota    int64
	MaxFiles int
	// MinCalls and MinAge are how many calls must have begun since an artifact
	// was created, and how old it must be, before it is removed; both must hold.
	MinCalls int
	MinAge   time.Duration
	// Log is told why an output could not be saved, which those who asked for it
	// seldom are; nil means that nobody is.
	Log *slog.Logger
	// Now is the clock, by default [time.Now]. Ages are differences between two
	// of its times, so with time.Now they do not depend on the wall clock. It
	// must be safe for concurrent use.
	Now func() time.Time
}

// A Spool saves output and removes it again when it is no longer needed.
//
// It is safe for concurrent use, and so is any number of Spools and processes
// with the same directory and prefix. A nil Spool stands for saving that is
// switched off: Create and Save give [ErrUnavailable], Call and Close do
// nothing.
//
// No method takes a context. All they wait for is a bounded number of system
// calls on a local disk, which could not be interrupted anyway; whoever streams
// into a Writer for long stops writing and aborts it when the work is cancelled.
type Spool struct {
	opts Options

	mu     sync.Mutex // never held during disk work
	closed bool
	calls  int       // calls begun
	bytes  int64     // of the quota, in use by live artifacts
	live   []*Writer // from the start of Create until the directory is gone, oldest first
}

// NewSpool returns a Spool. It does not touch the disk: whether the directory
// can be used turns out when an artifact is created. The error is
// [fs.ErrInvalid] for options that cannot work: a negative number, or a prefix
// that is not part of a printable file name.
func NewSpool(opts Options) (*Spool, error) {
	if min(opts.MaxBytes, opts.Quota) < 0 || min(opts.MaxFiles, opts.MinCalls) < 0 || opts.MinAge < 0 {
		return nil, fmt.Errorf("artifact: negative limit: %w", fs.ErrInvalid)
	}
	opts.Dir, opts.Prefix = defaults(opts.Dir, opts.Prefix)
	if err := checkPrefix(opts.Prefix); err != nil {
		return nil, err
	}
	setDefault(&opts.MaxBytes, DefaultMaxBytes)
	setDefault(&opts.Quota, DefaultQuota)
	setDefault(&opts.MaxFiles, DefaultMaxFiles)
	setDefault(&opts.MinCalls, DefaultMinCalls)
	setDefault(&opts.MinAge, DefaultMinAge)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Spool{opts: opts}, nil
}

// Call tells the Spool that a tool call begins, and removes what is due: an
// artifact created after call number k goes at the start of the first call
// c ≥ k + MinCalls at which it is at least MinAge old. An artifact that is
// still being written stays. What cannot be removed is tried again at each
// later call and by Close.
//
// The first call also removes what crashed processes have left, like [Sweep]
// with [StaleAge].
func (s *Spool) Call() {
	if s == nil {
		return
	}
	due, first := s.begin(s.opts.Now())
	if first {
		_, _ = Sweep(s.opts.Dir, s.opts.Prefix, StaleAge) // a courtesy: its failure is nobody's problem
	}
	for _, w := range due {
		_ = w.expire() // stays in s.live, doomed
	}
}

// begin counts a call and returns the artifacts to remove.
func (s *Spool) begin(now time.Time) (due []*Writer, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.calls++
	for _, w := range s.live {
		if w.state == kept && s.calls-w.call >= s.opts.MinCalls && now.Sub(w.born) >= s.opts.MinAge {
			w.state = doomed
		}
		if w.state == doomed {
			due = append(due, w)
		}
	}
	return due, s.calls == 1
}

// Save keeps data, of which it needs nothing after it returns: Create, Write
// and Commit in one. The errors are theirs; after an error nothing is left on
// disk.
func (s *Spool) Save(data []byte) (Saved, error) {
	w, err := s.Create()
	if err != nil {
		return Saved{}, err
	}
	if _, err := w.Write(data); err != nil {
		return Saved{}, err
	}
	return w.Commit()
}

// Create makes a new, empty artifact and returns the Writer for its content.
// It counts against the quota, and its age and calls count, from now on. The
// Writer must be committed or aborted; otherwise the artifact exists until
// Close.
//
// The error is [ErrUnavailable], [ErrClosed], [ErrQuota] (MaxFiles are live),
// [ErrUnsafeDir], [ErrUnsupported], or one of the system.
func (s *Spool) Create() (*Writer, error) {
	if s == nil {
		return nil, ErrUnavailable
	}
	w := &Writer{spool: s, born: s.opts.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	// The Spool knows of the artifact before the disk does, so that a Close
	// meanwhile waits for w.mu and leaves no directory behind.
	if err := s.admit(w); err != nil {
		return nil, s.report(err)
	}
	var err error
	if w.dir, err = makeDirectory(s.opts.Dir, s.opts.Prefix); err != nil {
		return nil, w.fail(err)
	}
	return w, nil
}

// Close removes all artifacts of the Spool, whatever their age, and aborts the
// Writers in use; it waits for a Create or Write that is under way. Later calls
// of Create and Save, and of the methods of those Writers, give [ErrClosed].
//
// The result joins the errors of the removals that failed. Close may be called
// again: it tries again what failed, and otherwise does nothing.
func (s *Spool) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	s.closed = true
	live := slices.Clone(s.live)
	s.mu.Unlock()

	var errs []error
	for _, w := range live {
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}

// report logs why an output is not saved, and returns it.
func (s *Spool) report(err error) error {
	s.opts.Log.Warn("output is not saved", "dir", s.opts.Dir, "err", err)
	return err
}

// admit starts to track w.
func (s *Spool) admit(w *Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if len(s.live) >= min(s.opts.MaxFiles, maxDescriptors()/4) {
		return ErrQuota
	}
	w.call = s.calls
	s.live = append(s.live, w)
	return nil
}

// reserve takes n bytes from the quota; a negative n gives bytes back.
func (s *Spool) reserve(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.opts.Quota-s.bytes {
		return ErrQuota
	}
	s.bytes += n
	return nil
}

// mark changes the state of w.
func (s *Spool) mark(w *Writer, to state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.state = to
}

// forget stops tracking w, which has n bytes of the quota. It does nothing for
// a Writer that is not tracked any more.
func (s *Spool) forget(w *Writer, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.live, w); i >= 0 {
		s.live = slices.Delete(s.live, i, i+1)
		s.bytes -= n
	}
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

func defaults(dir, prefix string) (string, string) {
	if dir == "" {
		dir = os.TempDir()
	}
	if prefix == "" {
		prefix = DefaultPrefix
	}
	return dir, prefix
}

func checkPrefix(prefix string) error {
	if !printable(prefix) || strings.Contains(prefix, "/") {
		return fmt.Errorf("artifact: prefix %q: %w", prefix, fs.ErrInvalid)
	}
	return nil
}

// printable reports whether path can stand in a line of text as it is, without
// escapes.
func printable(path string) bool {
	return utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	})
}
