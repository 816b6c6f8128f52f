//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	outputName = "output"
	lockName   = "owner.lock"

	modeFilling = 0o700 // while its files are created
	modeKept    = 0o300 // enter and unlink, but not list
	modeFile    = 0o600

	mkdirAttempts = 10
)

// directory is one artifact on disk. All that is done to it is done relative to
// a descriptor of its parent, opened and found safe each time: what is true of
// the parent today need not be true when the artifact expires.
type directory struct {
	parent, name string
	id           identity // zero if it could not be found out
	output       *os.File // open for writing until Commit
	lock         *os.File // open, and so locked, until the directory is gone
}

// makeDirectory makes a new directory with an open output file and a locked
// lock file. With an error there still may be a directory, to be removed by the
// caller.
func makeDirectory(dir, prefix string) (*directory, error) {
	parent, err := openParent(dir, openSearch)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	name, err := mkdir(parent, func() string { return randomName(prefix) })
	if err != nil {
		return nil, err
	}
	d := &directory{parent: dir, name: name}
	return d, d.fill(parent)
}

// openParent opens dir, for the use that flags say, if it is safe to work in.
//
// It is safe if only this user and root can exchange its entries. Then an entry
// that has been seen to be ours stays ours: system calls may use its name again
// without a race with anybody else. A last symbolic link is followed, as the
// system temporary directory is one on some systems; what it leads to counts.
func openParent(dir string, flags int) (*os.File, error) {
	if !filepath.IsAbs(dir) || !printable(dir) {
		return nil, fmt.Errorf("%w: %q is not an absolute, printable path", ErrUnsafeDir, dir)
	}
	parent, err := os.OpenFile(dir, flags|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	st, err := stat(parent)
	switch {
	case err != nil:
	case int(st.Uid) != os.Geteuid() && st.Uid != 0:
		err = fmt.Errorf("%w: %q belongs to another user", ErrUnsafeDir, dir)
	case st.Mode&0o022 != 0 && st.Mode&unix.S_ISVTX == 0:
		err = fmt.Errorf("%w: others can write to %q", ErrUnsafeDir, dir)
	}
	if err != nil {
		parent.Close()
		return nil, err
	}
	return parent, nil
}

// mkdir makes a directory with a name that is not taken.
func mkdir(parent *os.File, newName func() string) (name string, err error) {
	for range mkdirAttempts {
		name = newName()
		err = at("mkdir", parent, name, func(dir int) error { return unix.Mkdirat(dir, name, modeFilling) })
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return name, err
}

func randomName(prefix string) string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return namePrefix(prefix) + hex.EncodeToString(random[:])
}

// namePrefix begins the names of all artifacts of this user.
func namePrefix(prefix string) string {
	return prefix + "-" + strconv.Itoa(os.Geteuid()) + "-"
}

// fill creates the files in a new directory and closes it to listing.
func (d *directory) fill(parent *os.File) error {
	// The umask may have taken the owner's permissions away, without which the
	// directory cannot be opened. Following a link is no danger: see openParent.
	err := at("chmod", parent, d.name, func(dir int) error { return unix.Fchmodat(dir, d.name, modeFilling, 0) })
	if err != nil {
		return err
	}
	self, err := openAt(parent, d.name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer self.Close()
	if d.id, err = setMode(self, modeFilling); err != nil {
		return err
	}
	// The lock comes first: from then on no sweep of another process can take
	// the directory for dead. Until then its age protects it.
	if d.lock, err = createFile(self, lockName); err != nil {
		return err
	}
	if err := flock(d.lock); err != nil {
		return err
	}
	if d.output, err = createFile(self, outputName); err != nil {
		return err
	}
	// Last, as this descriptor could not be opened any more afterwards.
	_, err = setMode(self, modeKept)
	return err
}

func createFile(dir *os.File, name string) (*os.File, error) {
	file, err := openAt(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, modeFile)
	if err != nil {
		return nil, err
	}
	if _, err := setMode(file, modeFile); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// setMode gives a new file or directory its exact mode, whatever the umask is.
// It looks again, as some file systems (FAT, network mounts) accept any mode
// and keep none, or give files to another user.
func setMode(file *os.File, mode os.FileMode) (identity, error) {
	if err := file.Chmod(mode); err != nil {
		return identity{}, err
	}
	st, err := stat(file)
	if err != nil {
		return identity{}, err
	}
	if os.FileMode(st.Mode).Perm() != mode || int(st.Uid) != os.Geteuid() {
		return identity{}, fmt.Errorf("%w: %q did not keep its mode or owner", ErrUnsafeDir, file.Name())
	}
	return identify(&st), nil
}

func (d *directory) outputPath() string {
	return strings.TrimRight(d.parent, "/") + "/" + d.name + "/" + outputName
}

// remove removes the directory; one that is gone already is a success. After an
// error it is still locked, and remove can be called again.
func (d *directory) remove() error {
	d.output.Close() // again, after Commit; no descriptor may outlive the file
	err := d.unlink()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		d.unlock()
		return nil
	}
	return err
}

func (d *directory) unlink() error {
	parent, err := openParent(d.parent, openSearch)
	if err != nil {
		return err
	}
	defer parent.Close()
	st, err := lstatAt(parent, d.name)
	if err != nil {
		return err
	}
	if d.id != (identity{}) && identify(&st) != d.id {
		return fs.ErrNotExist // ours is gone, this one is not for us to touch
	}
	return unlinkAll(parent, d.name, outputName, lockName)
}

// unlock lets sweeps of other processes remove the directory.
func (d *directory) unlock() {
	d.lock.Close()
}

// unlinkAll unlinks the named files of a directory in this order, and then
// removes it. Files that do not exist are fine. The directory may have mode
// 0300, so it is reached by its name: it could not be opened.
func unlinkAll(parent *os.File, name string, files ...string) error {
	for _, file := range files {
		if err := unlinkAt(parent, name+"/"+file, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return unlinkAt(parent, name, unix.AT_REMOVEDIR)
}
