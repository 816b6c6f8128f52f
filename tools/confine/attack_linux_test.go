package confine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// orders are what attackHelper is told, as JSON in its first argument.
type orders struct {
	Protected string
	Outside   string   // writable, with a file x and a directory d
	Routes    []string // other paths of Protected
	Metadata  bool     // whether that is guarded too
	Harness   int      // the process that started the command
	Nested    bool     // in a user namespace of its own
}

// attackHelper tries to change what is in the protected directory and prints what
// it could do. Then it reads there.
func attackHelper() error {
	var o orders
	if err := json.Unmarshal([]byte(os.Args[1]), &o); err != nil {
		return err
	}
	o.escape()
	o.tryRoutes() // from the directory that it was started in
	if err := os.Chdir(o.Outside); err != nil {
		return err
	}
	o.tryRoutes()
	data, err := os.ReadFile(filepath.Join(o.Protected, "f"))
	if err != nil {
		return err
	}
	fmt.Printf("read: %s\n", data)
	if o.Nested {
		return nil
	}
	return o.nest()
}

func (o *orders) tryRoutes() {
	for _, route := range o.routes() {
		if _, err := os.Lstat(route + "/f"); err != nil {
			continue // it does not lead there, for example because the harness cannot be seen
		}
		o.change(route)
	}
}

func (o *orders) routes() []string {
	wd, err := os.Getwd()
	relative, err2 := filepath.Rel(wd, o.Protected)
	if err != nil || err2 != nil {
		relative = o.Protected
	}
	routes := append(o.Routes, o.Protected, relative, "/proc/self/root"+o.Protected)
	for _, pid := range []int{o.Harness, os.Getppid()} {
		harness := "/proc/" + strconv.Itoa(pid)
		routes = append(routes, harness+"/root"+o.Protected)
		if cwd, err := os.Readlink(harness + "/cwd"); err == nil {
			if rel, err := filepath.Rel(cwd, o.Protected); err == nil {
				routes = append(routes, harness+"/cwd/"+rel)
			}
		}
	}
	return routes
}

// escape tries to undo the protection, or to get another view.
func (o *orders) escape() {
	for _, path := range append(o.Routes, o.Protected, "/") {
		_ = unix.Mount("", path, "", unix.MS_REMOUNT, "")
		_ = unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND, "")
		_ = unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		for range 3 {
			_ = unix.Unmount(o.Protected, unix.MNT_DETACH)
		}
	}
	bound := filepath.Join(o.Outside, "d")
	for _, flags := range []uintptr{unix.MS_BIND | unix.MS_REC, unix.MS_BIND} {
		if unix.Mount(o.Protected, bound, "", flags, "") == nil {
			_ = unix.Mount("", bound, "", unix.MS_REMOUNT|unix.MS_BIND, "")
			o.Routes = append(o.Routes, bound)
		}
		if unix.Mount(filepath.Dir(o.Protected), bound, "", flags, "") == nil {
			o.Routes = append(o.Routes, filepath.Join(bound, filepath.Base(o.Protected)))
		}
	}
	for _, pid := range []int{o.Harness, 1} {
		if ns, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/mnt"); err == nil {
			_ = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNS)
			ns.Close()
		}
	}
	o.byHandle()
}

// byHandle opens the file by its handle on the mount of the root and of the parent.
func (o *orders) byHandle() {
	path := filepath.Join(o.Protected, "f")
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		return
	}
	for _, at := range []string{"/", filepath.Dir(o.Protected)} {
		mount, err := os.Open(at)
		if err != nil {
			continue
		}
		if fd, err := unix.OpenByHandleAt(int(mount.Fd()), handle, unix.O_WRONLY); err == nil {
			fmt.Printf("could open by handle at %q\n", at)
			unix.Close(fd)
		}
		mount.Close()
	}
}

// nest tries all again as root of a user namespace.
func (o *orders) nest() error {
	o.Nested = true
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", string(data))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Println("not nested:", err)
		return nil
	}
	fmt.Println("nested:", err)
	return err
}

// change tries every way to change something in dir.
func (o *orders) change(dir string) {
	in := func(name string) string { return dir + "/" + name } // as written: a link is followed first
	out := func(name string) string { return filepath.Join(o.Outside, name) }
	attempt := func(name string, err error) {
		if err == nil {
			fmt.Printf("could %s by %q\n", name, dir)
		}
	}
	open := func(path string, flags int) error {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if flags&unix.O_TMPFILE == unix.O_TMPFILE {
			return nil
		}
		_, err = unix.Write(fd, []byte("!"))
		return err
	}
	attempt("write", open(in("f"), unix.O_WRONLY))
	attempt("append", open(in("sub/g"), unix.O_WRONLY|unix.O_APPEND))
	attempt("open to read and write", open(in("f"), unix.O_RDWR))
	attempt("open to truncate", open(in("f"), unix.O_RDONLY|unix.O_TRUNC))
	attempt("truncate", unix.Truncate(in("f"), 1))
	attempt("create", open(in("new"), unix.O_WRONLY|unix.O_CREAT))
	attempt("create below", open(in("sub/new"), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL))
	attempt("make a nameless file", open(dir, unix.O_WRONLY|unix.O_TMPFILE))
	attempt("make a directory", unix.Mkdir(in("newdir"), 0o700))
	attempt("make a fifo", unix.Mkfifo(in("newfifo"), 0o600))
	attempt("make a symbolic link", unix.Symlink("f", in("newlink")))
	attempt("make a socket", listen(in("s")))
	attempt("remove", unix.Unlink(in("f")))
	attempt("remove a directory", unix.Rmdir(in("empty")))
	attempt("rename", unix.Rename(in("f"), in("f2")))
	attempt("rename a directory", unix.Rename(in("sub"), in("sub2")))
	attempt("move out", unix.Rename(in("f"), out("f")))
	attempt("move in", unix.Rename(out("x"), in("x")))
	attempt("move over", unix.Rename(out("x"), in("f")))
	attempt("exchange", unix.Renameat2(unix.AT_FDCWD, out("x"), unix.AT_FDCWD, in("f"), unix.RENAME_EXCHANGE))
	attempt("link in", unix.Link(out("x"), in("l")))
	attempt("link out", unix.Link(in("f"), out("l")))
	attempt("link", unix.Link(in("f"), in("l")))
	if o.Metadata {
		attempt("chmod", unix.Chmod(in("f"), 0o777))
		attempt("chown", unix.Chown(in("f"), os.Getuid(), os.Getgid()))
		attempt("set times", unix.UtimesNano(in("f"), make([]unix.Timespec, 2)))
		attempt("set an attribute", unix.Setxattr(in("f"), "user.confine", []byte("1"), 0))
		attempt("chmod the directory", unix.Chmod(in("."), 0o777))
	}
}

func listen(path string) error {
	if len(path) > 100 {
		return syscall.ENAMETOOLONG // of a socket address
	}
	l, err := net.Listen("unix", path)
	if err == nil {
		l.Close()
	}
	return err
}

// reportHelper prints what a command has: arguments, environment, directory,
// descriptors, session, ids, signals.
func reportHelper() error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return err
	}
	fmt.Printf("args %q\nenv %q\ndir %q\ninput %q\n", os.Args, os.Environ(), wd, input)
	fmt.Printf("ids %d %d %d %d\n", os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid())
	sid, _ := unix.Getsid(0)
	fmt.Printf("leader %t %t\n", sid == os.Getpid(), unix.Getpgrp() == os.Getpid())
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NPROC, &limit)
	fmt.Printf("limits %v\n", limit)
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "SigBlk") || strings.HasPrefix(line, "Umask") {
			fmt.Print(line)
		}
	}
	return nil
}
