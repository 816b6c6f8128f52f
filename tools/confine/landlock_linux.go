package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxEntries is how many entries of a directory that contains a protected one
// may be listed to grant each. Of a directory with more none is writable.
const maxEntries = 4096

// landlockABI is the first version of Landlock that can refuse to truncate.
const landlockABI = 3

const (
	// fileRights are those that a grant for a plain file or a device can have.
	fileRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE

	// changing are the rights that a protected directory does not give. Others
	// are not handled, so they are as they were.
	changing = fileRights |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_REFER
)

// devices can be written to wherever they are: a read-only mount lets devices be
// used, and shells need them.
var devices = []string{
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx",
}

// Landlock starts a command in a Landlock domain that cannot change what is in
// the directories. It needs no privileges.
func Landlock() Method { return landlock{} }

type landlock struct{}

func (landlock) Name() string          { return "Landlock" }
func (landlock) Enforces() Enforcement { return ByLandlock }

func (m landlock) Probe(ctx context.Context) error {
	return probe(ctx, func(_ context.Context, cmd *exec.Cmd, p Plan) error { return m.Start(cmd, p) })
}

func (landlock) Start(cmd *exec.Cmd, p Plan) error {
	layers, err := p.layers()
	if err != nil {
		return err
	}
	rules, err := newRuleset()
	if err != nil {
		return err
	}
	defer rules.Close()
	rules.grant(layers)
	return startOnThread(cmd, func() error {
		if err := noNewPrivileges(); err != nil {
			return err
		}
		return rules.restrictThread()
	})
}

// A ruleset is a Landlock ruleset. Rules can only grant, and hold for all below.
type ruleset struct {
	*os.File
	// parents are the directories that contain a read-only layer. A rule belongs
	// to a directory, not to a path, so none of them may have one, even if another
	// mount shows it with nothing in it that is protected.
	parents []identity
}

// identity tells files apart.
type identity struct{ dev, ino uint64 }

// identify converts: the types of these fields differ between architectures.
func identify(st *unix.Stat_t) identity {
	return identity{dev: uint64(st.Dev), ino: uint64(st.Ino)} //nolint:unconvert // see above
}

func newRuleset() (*ruleset, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil, setup("landlock_create_ruleset", errno)
	}
	if abi < landlockABI {
		return nil, setup("landlock", fmt.Errorf("ABI %d cannot refuse truncation: %w", abi, errors.ErrUnsupported))
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: changing}
	// Its first member is all that the first version knew, and all that is used.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return nil, setup("landlock_create_ruleset", errno)
	}
	return &ruleset{File: os.NewFile(fd, "landlock-ruleset")}, nil
}

// grant gives the rights to change all but the read-only layers. What cannot be
// granted stays refused.
func (r *ruleset) grant(layers []layer) {
	parents := parents(layers)
	for _, dir := range parents {
		var st unix.Stat_t
		if unix.Lstat(dir, &st) == nil {
			r.parents = append(r.parents, identify(&st))
		}
	}
	for _, dir := range tops(layers) {
		if !containsProtected(layers, dir) {
			r.grantAt(unix.AT_FDCWD, dir)
		}
	}
	for _, dir := range parents {
		r.grantEntries(dir, layers)
	}
	for _, path := range devices {
		r.grantDevice(path)
	}
}

// tops returns the directories from which on downwards all is writable, up to
// the read-only layers.
func tops(layers []layer) []string {
	var dirs []string
	if !protected(layers, "/") {
		dirs = append(dirs, "/")
	}
	for _, l := range layers {
		if !l.readOnly {
			dirs = append(dirs, l.path)
		}
	}
	return dirs
}

// parents returns the writable directories that contain a read-only layer.
func parents(layers []layer) []string {
	var dirs []string
	for _, l := range layers {
		if !l.readOnly {
			continue
		}
		for dir := l.path; dir != "/"; {
			dir = path.Dir(dir)
			if !protected(layers, dir) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// grantEntries grants each entry of dir that neither is nor contains a read-only
// layer.
func (r *ruleset) grantEntries(dir string, layers []layer) {
	file, err := os.Open(dir)
	if err != nil {
		return
	}
	defer file.Close()
	names, _ := file.Readdirnames(maxEntries + 1)
	if len(names) > maxEntries {
		return
	}
	for _, name := range names {
		entry := path.Join(dir, name)
		if !protected(layers, entry) && !containsProtected(layers, entry) {
			r.grantAt(int(file.Fd()), name)
		}
	}
}

// grantAt grants what has the name in the open directory, and all below it. A
// symbolic link gives no rights to what it leads to.
func (r *ruleset) grantAt(dir int, name string) {
	r.open(dir, name, func(fd int, st *unix.Stat_t) {
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
		case unix.S_IFDIR:
			if !slices.Contains(r.parents, identify(st)) {
				r.add(fd, changing)
			}
		default:
			r.add(fd, fileRights)
		}
	})
}

func (r *ruleset) grantDevice(path string) {
	r.open(unix.AT_FDCWD, path, func(fd int, st *unix.Stat_t) {
		if st.Mode&unix.S_IFMT == unix.S_IFCHR {
			r.add(fd, fileRights)
		}
	})
}

// open calls use with what has the name, which is not opened for anything else.
func (r *ruleset) open(dir int, name string, use func(fd int, st *unix.Stat_t)) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		use(fd, &st)
	}
}

func (r *ruleset) add(fd int, rights uint64) {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, _ = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, r.Fd(), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
}

// restrictThread confines this thread, and what is started from it, for good.
func (r *ruleset) restrictThread() error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, r.Fd(), 0, 0)
	if errno != 0 {
		return setup("landlock_restrict_self", errno)
	}
	return nil
}
