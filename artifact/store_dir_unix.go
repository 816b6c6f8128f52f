//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	objectsName = "sha256"
	tempPrefix  = "put-"
	modePrivate = 0o700 // of the directories of a store
)

// prepare makes the directories and removes what crashes have left.
func (s *DirStore) prepare() error {
	if err := os.MkdirAll(filepath.Dir(s.root), modePrivate); err != nil {
		return err
	}
	err := os.Mkdir(s.root, modePrivate)
	if err == nil {
		err = os.Chmod(s.root, modePrivate) // whatever the umask is
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	d, err := s.openDirs()
	if err != nil {
		return err
	}
	defer d.close()
	d.sweep()
	return nil
}

// storeDirs are the open directories of a store. Everything is done relative to
// their descriptors, found safe each time, so that nobody can exchange a
// directory in the middle of a Put.
type storeDirs struct{ root, objects *os.File }

func (s *DirStore) openDirs() (storeDirs, error) {
	root, err := os.OpenFile(s.root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return storeDirs{}, err
	}
	if err := checkPrivate(root, 0o022); err != nil {
		root.Close()
		return storeDirs{}, err
	}
	objects, err := openObjects(root)
	if err != nil {
		root.Close()
		return storeDirs{}, err
	}
	return storeDirs{root, objects}, nil
}

// openObjects opens the directory of the originals, and makes it if there is
// none.
func openObjects(root *os.File) (*os.File, error) {
	err := at("mkdir", root, objectsName, func(dir int) error { return unix.Mkdirat(dir, objectsName, modePrivate) })
	if err == nil {
		err = at("chmod", root, objectsName, func(dir int) error { return unix.Fchmodat(dir, objectsName, modePrivate, 0) })
		_ = root.Sync() // no original is safe in a directory that a crash takes away
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	objects, err := openAt(root, objectsName, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := checkPrivate(objects, 0o077); err != nil {
		objects.Close()
		return nil, err
	}
	return objects, nil
}

// checkPrivate fails unless the directory belongs to this user and has none of
// the forbidden permissions.
func checkPrivate(dir *os.File, forbidden uint32) error {
	st, err := stat(dir)
	switch {
	case err != nil:
		return err
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %q belongs to another user", ErrUnsafeDir, dir.Name())
	case uint32(st.Mode)&forbidden != 0:
		return fmt.Errorf("%w: others have permissions for %q", ErrUnsafeDir, dir.Name())
	}
	return nil
}

func (d storeDirs) close() {
	d.objects.Close()
	d.root.Close()
}

// put writes a temporary file and links it to the name that its content has.
// That is what renameio does too, but for two things: the name is known only
// after the last byte, and a link never takes the place of something else.
func (s *DirStore) put(ctx context.Context, size int64, r io.Reader) (Descriptor, error) {
	dirs, err := s.openDirs()
	if err != nil {
		return Descriptor{}, err
	}
	defer dirs.close()
	temp, name, err := dirs.createTemp()
	if err != nil {
		return Descriptor{}, err
	}
	defer temp.Close()
	defer unlinkAt(dirs.root, name, 0) //nolint:errcheck // it may be gone; a later sweep removes it otherwise

	d, err := receive(ctx, temp, size, r)
	if err != nil {
		return Descriptor{}, err
	}
	return d, dirs.publish(temp, name, d)
}

func (d storeDirs) createTemp() (*os.File, string, error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	name := tempPrefix + hex.EncodeToString(random[:])
	f, err := createFile(d.root, name)
	if err != nil {
		_ = unlinkAt(d.root, name, 0)
		return nil, "", err
	}
	// It tells sweeps that somebody is at work here. Where there are no locks
	// the age must do: losing the file fails the Put, and no more.
	_ = flock(f)
	return f, name, nil
}

// publish gives the content of temp the name of its key.
func (d storeDirs) publish(temp *os.File, name string, want Descriptor) error {
	digits := want.Key.digits()
	if !d.intact(want) {
		// The content must be on the disk before the name is: after a crash a
		// name without content would be taken for the original.
		if err := temp.Sync(); err != nil {
			return err
		}
		err := at("link", d.objects, digits, func(dir int) error {
			return unix.Linkat(int(d.root.Fd()), name, dir, digits, 0)
		})
		// Another Put of the same content may have been faster. If not, what is
		// there is no original; or the file system knows no links.
		if err != nil && !d.intact(want) {
			err = at("rename", d.objects, digits, func(dir int) error {
				return unix.Renameat(int(d.root.Fd()), name, dir, digits)
			})
			if err != nil {
				return err
			}
		}
	}
	return d.objects.Sync() // also for one who was faster and is not so far yet
}

// intact reports whether the original is there and is what it should be.
func (d storeDirs) intact(want Descriptor) bool {
	f, found, err := d.openObject(want.Key)
	if err != nil {
		return false
	}
	defer f.Close()
	if found != want {
		return false
	}
	_, err = io.CopyBuffer(writerOnly{io.Discard}, newVerified(context.Background(), f, want), make([]byte, chunkBytes))
	return err == nil
}

// writerOnly hides io.ReaderFrom, so that a copy uses its buffer.
type writerOnly struct{ io.Writer }

func (s *DirStore) open(key Key) (*os.File, Descriptor, error) {
	dirs, err := s.openDirs()
	if err != nil {
		return nil, Descriptor{}, err
	}
	defer dirs.close()
	return dirs.openObject(key)
}

// openObject opens a regular file, and nothing else. What is there is looked at
// before it is opened, as opening a FIFO or device may have effects, and after.
func (d storeDirs) openObject(key Key) (*os.File, Descriptor, error) {
	digits := key.digits()
	st, err := lstatAt(d.objects, digits)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Descriptor{}, ErrNotFound
	case err != nil:
		return nil, Descriptor{}, err
	case !isRegular(&st):
		return nil, Descriptor{}, ErrIntegrity
	}
	f, err := openAt(d.objects, digits, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Descriptor{}, ErrNotFound
	case errors.Is(err, unix.ELOOP): // exchanged for a link just now
		return nil, Descriptor{}, ErrIntegrity
	case err != nil:
		return nil, Descriptor{}, err
	}
	st, err = stat(f)
	if err == nil && !isRegular(&st) {
		err = ErrIntegrity
	}
	if err != nil {
		f.Close()
		return nil, Descriptor{}, err
	}
	return f, Descriptor{Key: key, Size: st.Size}, nil
}

func isRegular(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFREG }

// sweep removes temporary files of dead processes. Every doubt means that one is
// left, and errors are nobody's problem.
func (d storeDirs) sweep() {
	names, _ := d.root.Readdirnames(MaxSwept)
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) {
			d.sweepTemp(name)
		}
	}
}

func (d storeDirs) sweepTemp(name string) {
	st, err := lstatAt(d.root, name)
	if err != nil || !isRegular(&st) || int(st.Uid) != os.Geteuid() ||
		time.Since(time.Unix(st.Mtim.Unix())) < StaleAge {
		return
	}
	f, err := openAt(d.root, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f) == nil {
		_ = unlinkAt(d.root, name, 0)
	}
}

// orBusy marks an error that will be gone when others are done.
func orBusy(err error) error {
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}
