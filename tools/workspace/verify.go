package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// racyAge is how old the times of a file must be for equal times to prove that
// nothing was written since. Clocks of file systems tick every few
// milliseconds, some every two seconds.
const racyAge = 2 * time.Second

// Verify reports whether what has been read is still there, as an error if
// not. A file that was merely touched, or replaced by one with the same bytes,
// is.
func (e *entry) Verify(ctx context.Context) error {
	_, err := e.verify(ctx)
	return err
}

// verify returns the state that the file is in now.
func (e *entry) verify(ctx context.Context) (stamp, error) {
	if e.found == nil {
		return stamp{}, e.verifyAbsent()
	}
	for range maxTouches {
		now, err := e.lstat()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return stamp{}, errGone
		case err != nil:
			return stamp{}, err
		case now == *e.found && !e.racy():
			return now, nil
		case !now.mode().IsRegular() || !e.found.mode().IsRegular():
			return stamp{}, ErrStaleVersion
		}
		if now, err = e.verifyContent(ctx); err != nil {
			return stamp{}, err
		}
		// The comparison took its time.
		if again, err := e.lstat(); err == nil && again == now {
			return now, nil
		}
	}
	return stamp{}, ErrStaleVersion
}

// maxTouches is how often a file may be touched while it is being looked at, or
// replaced.
const maxTouches = 3

// verifyContent compares the content that the file has now with what has been
// read, and returns the state that the file was in before.
func (e *entry) verifyContent(ctx context.Context) (stamp, error) {
	f, now, err := e.open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stamp{}, errGone
	case errors.Is(err, ErrNotRegular), errors.Is(err, ErrIsDirectory):
		return stamp{}, ErrStaleVersion
	case err != nil:
		return stamp{}, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return now, e.compare(ctx, f, now)
}

// orStale returns why something failed: because the file is not what was found
// any more, if that is so.
func (e *entry) orStale(ctx context.Context, err error) error {
	if err == nil || e.found == nil || ctx.Err() != nil {
		return err
	}
	if stale := e.Verify(ctx); errors.Is(stale, ErrStaleVersion) {
		return stale
	}
	return err
}

// verifyAbsent reports whether there is still no file, as an error if not.
func (e *entry) verifyAbsent() error {
	err := e.exists()
	switch {
	case err == nil:
		return ErrExists
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// racy reports whether the file may have been written after it was read and
// yet have the same times. If its content is not known, that cannot be told.
func (e *entry) racy() bool {
	return (e.data != nil || e.version != "") && e.found.lastTime().After(e.readAt.Add(-racyAge))
}

// compare compares the content of a file with what has been read.
func (e *entry) compare(ctx context.Context, f io.Reader, now stamp) error {
	switch {
	case e.data != nil:
		if now.size() != e.found.size() {
			return ErrStaleVersion
		}
		same := &matcher{want: e.data}
		if err := copyBlocks(ctx, same, io.LimitReader(f, int64(len(e.data))+1)); err != nil && !errors.Is(err, errDiffers) {
			return err
		}
		if same.differs || len(same.want) > 0 {
			return ErrStaleVersion
		}
		return nil
	case e.version != "":
		sum := new(Digest)
		if err := copyBlocks(ctx, sum, f); err != nil {
			return err
		}
		if sum.Version() != e.version {
			return ErrStaleVersion
		}
		return nil
	case now != *e.found:
		return ErrStaleVersion
	default:
		return nil
	}
}

var errDiffers = errors.New("content differs")

// A matcher takes content that is to be equal to want.
type matcher struct {
	want    []byte
	differs bool
}

func (m *matcher) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(m.want, p) {
		m.differs = true
		return 0, errDiffers
	}
	m.want = m.want[len(p):]
	return len(p), nil
}
