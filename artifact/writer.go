package artifact

import (
	"errors"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// Saved describes an artifact that has been committed.
type Saved struct {
	Path     string // absolute path of the file; printable as it is
	Bytes    int64  // size of the file
	Total    int64  // bytes that were written to the Writer
	Complete bool   // whether the file has all of them
}

// A Writer streams the content of one artifact to disk. It belongs to one
// goroutine; only the Spool's methods may run at the same time.
//
// It accepts any number of bytes and keeps the longest prefix of at most
// MaxBytes bytes that does not end inside a UTF-8 sequence. Content that is not
// larger than MaxBytes is kept whole, whatever its bytes are.
//
// Bytes are taken from the Spool's quota as they are written, before they
// reach the disk: Writers in progress share what is left, and together never
// exceed it.
//
// The first error ends the Writer: file and directory are removed at once,
// and every later Write and Commit returns the same error.
type Writer struct {
	spool *Spool
	call  int // calls that had begun when it was created
	born  time.Time
	state state // guarded by spool.mu

	// mu is held for all disk work on the artifact, which may be the Spool's.
	// It is locked before spool.mu.
	mu    sync.Mutex
	dir   *directory // nil before it exists, and again when it is gone
	err   error      // answer to Write and Commit, once there is one
	size  int64      // bytes in the file, and taken from the quota
	total int64      // bytes written by the caller
	full  bool       // something was left out: nothing is added any more
	tail  []byte     // the last bytes in the file, at most lookback
}

// state is where an artifact is in its life.
type state uint8

const (
	writing state = iota // cannot expire
	kept                 // committed: expires
	doomed               // being removed; if that failed, due at every call
)

// lookback is how many bytes an incomplete UTF-8 sequence can have.
const lookback = utf8.UTFMax - 1

// Write adds p to the artifact, or as much of it as the cap lets in: bytes that
// are left out count as written. It keeps no reference to p. The error is
// [ErrQuota], [ErrClosed], or one of the system, and n then is 0.
func (w *Writer) Write(p []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if err := w.add(p); err != nil {
		return 0, w.fail(err)
	}
	w.total += int64(len(p))
	return len(p), nil
}

func (w *Writer) add(p []byte) error {
	room := w.spool.opts.MaxBytes - w.size
	if w.full || int64(len(p)) <= room {
		return w.store(p)
	}
	p = p[:room]
	cut := illformed.Incomplete(lastBytes(w.tail, p))
	if cut > len(p) { // the sequence began in an earlier Write
		return w.shrink(cut - len(p))
	}
	if err := w.store(p[:len(p)-cut]); err != nil {
		return err
	}
	w.full = true
	return nil
}

// store appends p to the file, unless the end has been reached.
func (w *Writer) store(p []byte) error {
	if w.full || len(p) == 0 {
		return nil
	}
	if err := w.spool.reserve(int64(len(p))); err != nil {
		return err
	}
	w.size += int64(len(p))
	w.tail = lastBytes(w.tail, p)
	_, err := w.dir.output.Write(p)
	return err
}

// shrink takes the last n bytes of the file back, for good.
func (w *Writer) shrink(n int) error {
	if err := w.dir.output.Truncate(w.size - int64(n)); err != nil {
		return err
	}
	w.full = true
	w.size -= int64(n)
	return w.spool.reserve(-int64(n))
}

// lastBytes returns the last bytes of tail and p together, at most lookback.
func lastBytes(tail, p []byte) []byte {
	joined := slices.Concat(tail, p[max(0, len(p)-lookback):])
	return joined[max(0, len(joined)-lookback):]
}

// Full reports whether something has been left out, so that nothing written
// from now on is kept.
func (w *Writer) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.full
}

// Commit finishes the artifact: the file is complete and closed when it
// returns, and stays until it expires. It is not synced to the disk, as it is
// of no use after a crash. The error is that of an earlier Write, [ErrClosed],
// or one of the system, as with Write.
func (w *Writer) Commit() (Saved, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return Saved{}, w.err
	}
	if err := w.dir.output.Close(); err != nil {
		return Saved{}, w.fail(err)
	}
	w.err = ErrClosed
	w.spool.mark(w, kept)
	return Saved{Path: w.dir.outputPath(), Bytes: w.size, Total: w.total, Complete: w.size == w.total}, nil
}

// Abort removes an artifact that has not been committed. After Commit, after an
// error and after Abort it does nothing, so that it can be deferred. If the
// error is not nil, the removal failed and the Spool tries it again later.
func (w *Writer) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil
	}
	w.err = ErrClosed
	return w.discard()
}

// expire removes the artifact for the Spool, which has doomed it.
func (w *Writer) expire() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.discard()
}

// close ends the Writer and removes the artifact, for a Spool that is closed.
func (w *Writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = ErrClosed
	}
	err := w.discard()
	if err != nil {
		// Nobody may come back to try again: let other processes do it.
		w.dir.unlock()
	}
	return err
}

// fail ends the Writer with an error, for which it removes the artifact.
func (w *Writer) fail(cause error) error {
	w.err = cause
	if err := w.discard(); err != nil {
		w.err = errors.Join(cause, err)
	}
	return w.spool.report(w.err)
}

// discard removes the directory, if there is one. If that fails the Spool
// remembers to try again. It needs w.mu.
func (w *Writer) discard() error {
	if w.dir != nil {
		if err := w.dir.remove(); err != nil {
			w.spool.mark(w, doomed)
			return err
		}
		w.dir = nil
	}
	w.spool.forget(w, w.size)
	return nil
}
