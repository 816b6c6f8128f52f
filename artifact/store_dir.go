package artifact

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// A DirStore is a [Store] in a directory, which any number of processes of one
// user may share:
//
//	ROOT/sha256/HEX   an original, mode 0600, in a directory of mode 0700
//	ROOT/put-RANDOM   one that is being written
//
// An original appears with all of its bytes or not at all, is on the disk when
// Put returns, and is then left alone: a second Put of the same bytes verifies
// the first and changes nothing. Only an entry that is not the original which its
// name promises, because it was damaged or planted there, is replaced.
//
// Nothing is ever trusted for its name. An entry that is a symbolic link, a
// FIFO or anything but a regular file is [ErrIntegrity], without being opened,
// and a file that is changed while it is read is so at its end.
//
// A DirStore holds no descriptors between calls and need not be closed. It needs
// the *at system calls and owner and mode bits: elsewhere everything is
// [ErrUnsupported].
type DirStore struct {
	root string // absolute
}

// NewDirStore returns the store in the directory root, which is made if it is
// missing; a relative one starts at the current directory of the process. The
// error is [ErrUnsafeDir] if the directory belongs to another user or if others
// can write to it, [ErrUnsupported], or one of the system.
//
// What processes left in the middle of a Put when they died is removed, if
// it is [StaleAge] old.
func NewDirStore(root string) (*DirStore, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	s := &DirStore{root}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s, nil
}

// Put implements [Store]. Beside its errors it returns [ErrUnsafeDir] and what
// the system reports; [ErrBusy] if there are too many open files.
func (s *DirStore) Put(ctx context.Context, size int64, r io.Reader) (Descriptor, error) {
	if size > MaxBytes {
		return Descriptor{}, ErrTooLarge
	}
	d, err := s.put(ctx, size, r)
	if err != nil {
		return Descriptor{}, orBusy(err)
	}
	return d, nil
}

// Open implements [Store]. Beside its errors it returns [ErrUnsafeDir] and what
// the system reports; [ErrBusy] if there are too many open files.
func (s *DirStore) Open(ctx context.Context, key Key) (io.ReadCloser, Descriptor, error) {
	f, d, err := s.find(ctx, key)
	if err != nil {
		return nil, Descriptor{}, orBusy(err)
	}
	return newVerified(ctx, f, d), d, nil
}

// Stat implements [Store], with the errors of [DirStore.Open]. It does not
// verify the content.
func (s *DirStore) Stat(ctx context.Context, key Key) (Descriptor, error) {
	f, d, err := s.find(ctx, key)
	if err != nil {
		return Descriptor{}, orBusy(err)
	}
	return d, f.Close()
}

func (s *DirStore) find(ctx context.Context, key Key) (*os.File, Descriptor, error) {
	if err := ctx.Err(); err != nil {
		return nil, Descriptor{}, err
	}
	if !key.valid() {
		return nil, Descriptor{}, ErrReference
	}
	return s.open(key)
}
