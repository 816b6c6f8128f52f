package confine

import (
	"errors"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// layers returns what the plan comes to in the mounts as they are now. A
// directory that is mounted at several places is protected at all of them.
func (p Plan) layers() ([]layer, error) {
	p, err := p.canonical()
	if err != nil {
		return nil, err
	}
	mounts, err := readMounts()
	if err != nil {
		return nil, err
	}
	aliases, err := aliases(mounts, layers(p.ReadOnly, p.Writable))
	if err != nil {
		return nil, err
	}
	return layers(append(p.ReadOnly, aliases...), p.Writable), nil
}

// A mount shows a directory, or a file, of a file system somewhere.
type mount struct {
	id     int
	device string // major:minor
	kind   string // of file system
	root   string // what it shows, as a path in the file system
	point  string // where
}

// readMounts returns the mounts that this process can reach.
func readMounts() ([]mount, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, setup("read mountinfo", cause(err))
	}
	mounts := make([]mount, 0, strings.Count(string(data), "\n"))
	for line := range strings.Lines(string(data)) {
		m, ok := parseMount(line)
		if !ok {
			return nil, setup("read mountinfo", errors.New("unknown line "+strconv.Quote(line)))
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// parseMount parses a line of proc_pid_mountinfo(5).
func parseMount(line string) (mount, bool) {
	own, super, ok := strings.Cut(line, " - ")
	fields := strings.Fields(own) // white space in names is escaped
	kind, _, hasKind := strings.Cut(super, " ")
	if !ok || !hasKind || len(fields) < 6 {
		return mount{}, false
	}
	id, err := strconv.Atoi(fields[0])
	m := mount{id, fields[2], kind, unescape(fields[3]), unescape(fields[4])}
	return m, err == nil
}

// unescape replaces \NNN, an octal number, as the kernel writes space, tab, line
// feed and backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// A subtree is a directory of a file system with all below it, wherever that is
// mounted.
type subtree struct{ device, path string }

// aliases returns where else than in the read-only layers the mounts show what
// is in them.
func aliases(mounts []mount, layers []layer) ([]string, error) {
	var trees []subtree
	for _, l := range layers {
		if l.readOnly {
			found, err := subtrees(mounts, l.path)
			if err != nil {
				return nil, err
			}
			trees = append(trees, found...)
		}
	}
	var found []string
	for _, m := range mounts {
		for _, t := range trees {
			place, ok := m.shows(t)
			if ok && !protected(layers, place) && !slices.Contains(found, place) && m.isAt(place) {
				found = append(found, place)
			}
		}
	}
	return found, nil
}

// subtrees returns what dir shows: a part of the mount that it is in, and all
// that is mounted below it.
func subtrees(mounts []mount, dir string) ([]subtree, error) {
	id, err := mountID(dir)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(mounts, func(m mount) bool { return m.id == id })
	if at < 0 || !within(mounts[at].point, dir) {
		return nil, setup("find the mount of "+quote(dir), unix.ENOENT)
	}
	m := mounts[at]
	trees := []subtree{{m.device, path.Join(m.root, strings.TrimPrefix(dir, m.point))}}
	for _, m := range mounts {
		if m.point != dir && within(dir, m.point) && !slices.Contains(kernelFiles, m.kind) {
			trees = append(trees, subtree{m.device, m.root})
		}
	}
	return trees, nil
}

// kernelFiles are file systems that hold nothing of the user's. They are mounted
// below every directory with another system in it; to protect /dev because of
// that would take /dev/null from the command.
var kernelFiles = []string{
	"bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
	"fusectl", "mqueue", "proc", "pstore", "securityfs", "sysfs", "tracefs",
}

// shows returns the path of the subtree, or of the part of it that m shows.
func (m mount) shows(t subtree) (string, bool) {
	switch {
	case m.device != t.device:
		return "", false
	case within(t.path, m.root):
		return m.point, true
	case within(m.root, t.path):
		return path.Join(m.point, strings.TrimPrefix(t.path, m.root)), true
	}
	return "", false
}

// isAt reports whether the path leads to m, not to another mount over it.
func (m mount) isAt(path string) bool {
	id, err := mountID(path)
	return err == nil && id == m.id
}

// mountID returns the mount that path, which has no symbolic links, leads to.
func mountID(path string) (int, error) {
	var st unix.Statx_t
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT | unix.AT_STATX_DONT_SYNC
	err := retried(func() error { return unix.Statx(unix.AT_FDCWD, path, flags, unix.STATX_MNT_ID, &st) })
	if err != nil {
		return 0, setup("statx "+quote(path), err)
	}
	if st.Mask&unix.STATX_MNT_ID == 0 { // before Linux 5.8
		return 0, setup("statx", unix.ENOSYS)
	}
	return int(st.Mnt_id), nil
}
