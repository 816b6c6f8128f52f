//go:build linux || darwin

package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/shellrec"
)

// An output is where one stream of a command is read. Reading never blocks.
type output struct {
	stream shellrec.Stream
	file   *os.File
	fd     int32 // of file, which owns it
	owed   int   // bytes that the command had written by its end and that are unread
}

func newOutput(s shellrec.Stream, file *os.File) (*output, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	o := &output{stream: s, file: file}
	err = conn.Control(func(fd uintptr) { o.fd = int32(fd) })
	return o, err
}

// The ends of a command are its stdout and its stderr.
type ends [2]*os.File

// close closes the ends that are open.
func (e *ends) close() {
	closeAll(e[:])
	*e = ends{}
}

// openOutputs opens, for each stream, something with an end to read from and one
// for the command. On an error nothing is left open.
func openOutputs(open func() (r, w *os.File, err error)) (out [2]*output, e ends, err error) {
	for _, s := range []shellrec.Stream{shellrec.Stdout, shellrec.Stderr} {
		var r *os.File
		if r, e[s], err = open(); err == nil {
			out[s], err = newOutput(s, r)
		}
		if err != nil {
			r.Close()
			if s == shellrec.Stderr {
				out[shellrec.Stdout].file.Close()
			}
			e.close()
			return [2]*output{}, ends{}, err
		}
	}
	return out, e, nil
}

// pending returns the number of bytes that can be read at once.
func pending(fd int32) int {
	n, err := unix.IoctlGetInt(int(fd), bytesToRead)
	if err != nil {
		return 0
	}
	return n
}

// inherited returns what closes, in a command, the descriptors that this process
// was started with, or got from code that is not Go, and that a command would
// inherit in turn: those Go opens are never inherited. A nil file is a closed
// descriptor.
func inherited() []*os.File {
	const stderr = 2
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return nil
	}
	last := stderr
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= last {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			last = fd
		}
	}
	return make([]*os.File, last-stderr)
}
