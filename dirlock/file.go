package dirlock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Limits of [File].
const (
	MaxRegistryBytes = 4 << 20               // of the table on disk
	PollMin          = 50 * time.Millisecond // between two looks of a waiter at the registry; doubles
	PollMax          = time.Second           // up to this
	RegistryTimeout  = 10 * time.Second      // of waiting for registry.lock
	registryRetryMin = time.Millisecond      // between two tries to lock it; doubles
	registryRetryMax = 20 * time.Millisecond // up to this
)

// Names in the state directory.
const (
	registryLock = "registry.lock"     // locked around each look at the registry
	registryName = "registry.json"     // the table; absent if there never was a lock
	registryTemp = "registry.json.tmp" // becomes the registry; under the lock only one has it
	registryBad  = "registry.json.bad" // what was no table
	instancesDir = "instances"         // in it ID.lock, locked for the life of the instance
	leaseSuffix  = ".lock"
)

// FileOptions configure a [File].
type FileOptions struct {
	// Dir is the state directory. If it exists it must be a real directory of
	// this user with mode 0700. By default it is taukit/dirlock in
	// XDG_RUNTIME_DIR, or else taukit-dirlock-UID in [os.TempDir].
	Dir string
	// Clock is by default that of the system.
	Clock Clock
}

// File is a [Backend] for the processes of one user on one host. It keeps the
// table in a file that is replaced as a whole, under a lock of the operating
// system. Another one tells that an instance is alive: it ends with the process,
// however that ends, and who looks next removes what the instance had. No process
// id and no time says that a process is dead.
//
// Nothing is synced to disk: after a power failure all instances are dead, and
// the table means nothing.
//
// A File needs no release. Its sessions in one process wake each other at once;
// between processes, who waits looks at the registry from time to time.
type File struct {
	dir    string
	ownDir bool // it is the default one
	clock  Clock

	turn chan struct{} // holds a value while a session is at the registry
	// With turn held:
	data  []byte // the registry as it was read or written last, and
	table *Table // what it means; nil if not known
	fault func(step string) error

	mu   sync.Mutex
	wake chan struct{} // closed when a session of this File decides on a waiter
}

// NewFile returns a File, whose state directory then exists. The error says what
// is wrong with it. There is no other place that would be used instead.
func NewFile(opts FileOptions) (*File, error) {
	dir, err := stateDir(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("dirlock: %w", err)
	}
	if opts.Clock == nil {
		opts.Clock = newSystemClock()
	}
	return &File{dir: dir, ownDir: opts.Dir == "", clock: opts.Clock, turn: make(chan struct{}, 1), wake: make(chan struct{})}, nil
}

// Dir returns the state directory.
func (f *File) Dir() string { return f.dir }

// Attach makes a new instance, and removes what dead ones have left.
func (f *File) Attach(ctx context.Context) (Session, error) {
	if err := prepareStateDir(f.dir, f.ownDir); err != nil {
		return nil, err // it may have been removed since
	}
	s := newFileSession(f)
	err := f.locked(ctx, func() error {
		if err := f.recover(); err != nil {
			return err
		}
		if err := f.sweep(); err != nil {
			return err
		}
		lease, err := os.OpenFile(f.leasePath(s.id), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		if err := tryLock(lease); err != nil {
			lease.Close()
			_ = os.Remove(lease.Name())
			return err
		}
		s.lease = lease
		return nil
	})
	if err != nil {
		s.end()
		return nil, err
	}
	go s.watch()
	return s, nil
}

func (f *File) path(name string) string { return filepath.Join(f.dir, name) }

func (f *File) leasePath(id string) string {
	return filepath.Join(f.dir, instancesDir, id+leaseSuffix)
}

// locked calls do while no other session, in this process or another, is at the
// registry.
func (f *File) locked(ctx context.Context, do func() error) error {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	lock, err := f.lockRegistry(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	return do()
}

var (
	errRegistryBusy = errors.New("the registry is locked by another process")
	errNoStateDir   = errors.New("the state directory is gone")
)

// lockRegistry returns registry.lock, open and so locked.
func (f *File) lockRegistry(ctx context.Context) (*os.File, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, RegistryTimeout, errRegistryBusy)
	defer cancel()
	for delay := registryRetryMin; ; delay = min(2*delay, registryRetryMax) {
		lock, err := openPrivate(f.path(registryLock), os.O_RDWR|os.O_CREATE)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %w", errNoStateDir, err)
		}
		if err != nil {
			return nil, err
		}
		there := false
		if err = tryLock(lock); err == nil {
			there, err = isAt(lock, f.path(registryLock))
		}
		if there { // and nobody has removed the file meanwhile
			return lock, nil
		}
		lock.Close()
		if err != nil && !errors.Is(err, errLocked) {
			return nil, err
		}
		// A waiting lock could not be given up when the context ends.
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// isAt reports whether file is what is at path.
func isAt(file *os.File, path string) (bool, error) {
	open, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(open, there), err
}
