package confine

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// helperName is the first argument of a program that is started as a helper; the
// second is the number of the command's stdin. Its stdout, its stderr, the orders
// and the report follow.
const helperName = "confine.RunHelper"

// RunHelper lets [UserNS] start this program as its helper. A program that wants
// UserNS calls it first in main, before flags are parsed and anything is opened,
// and its tests call it first in TestMain. It returns at once unless the process
// is the helper; then it does not return: it becomes the command.
func RunHelper() {
	helperReady.Store(true)
	if len(os.Args) != 2 || os.Args[0] != helperName {
		return
	}
	// Capabilities and the signal mask are those of the thread that calls exec.
	runtime.LockOSThread()
	first, err := strconv.Atoi(os.Args[1])
	if err != nil || first < 3 {
		os.Exit(helperFailed)
	}
	h := helper{streams: first, orders: first + 3, report: first + 4}
	h.say(h.run())
	os.Exit(helperFailed)
}

// helperFailed is the status of a helper that did not become the command. Nobody
// sees it who did not start it by hand.
const helperFailed = 125

// A helper knows its descriptors.
type helper struct{ streams, orders, report int }

// run carries out the orders. If all goes well it does not return.
func (h helper) run() error {
	for fd := h.streams; fd <= h.report; fd++ {
		unix.CloseOnExec(fd)
	}
	data, err := io.ReadAll(os.NewFile(uintptr(h.orders), "orders"))
	if err != nil {
		return setup("read orders", err)
	}
	o, ok := parseOrder(data)
	if !ok {
		return setup("read orders", unix.EINVAL)
	}
	if err := h.confine(o.layers); err != nil {
		return err
	}
	if _, err := unix.Write(h.report, []byte(helperIsReady)); err != nil {
		return setup("report", err)
	}
	return h.become(o)
}

func (h helper) confine(layers []layer) error {
	if err := bind(layers); err != nil {
		return err
	}
	if err := dropAll(); err != nil {
		return err
	}
	if err := noNewPrivileges(); err != nil {
		return err
	}
	return unblockSignals()
}

// become replaces the helper by the command. Errors are the command's from here.
func (h helper) become(o order) error {
	for i := range 3 {
		if err := unix.Dup3(h.streams+i, i, 0); err != nil {
			return err
		}
	}
	if o.dir != "" {
		if err := unix.Chdir(o.dir); err != nil {
			return err
		}
	}
	// This one also gives back the limit of open files that the Go runtime raised.
	return syscall.Exec(o.path, o.argv, o.env)
}

// say reports the error. Should that fail too, the report ends without it, which
// says enough.
func (h helper) say(err error) {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		errno = unix.EIO
	}
	r := report{errno: errno}
	var failed *SetupError
	var plan *PlanError
	switch {
	case errors.As(err, &failed):
		r.op = failed.Op
	case errors.As(err, &plan):
		r.dir = plan.Dir
	}
	_, _ = unix.Write(h.report, r.encode())
}

// helperIsReady begins a report when the set-up is done. If nothing follows, the
// helper has become the command.
const helperIsReady = "ready\x00"

// A report is why a helper could not become the command.
type report struct {
	op    string // what failed, if it was the set-up
	dir   string // of the plan, if that could not be carried out
	errno unix.Errno
}

func (r report) encode() []byte {
	return []byte(r.op + "\x00" + r.dir + "\x00" + strconv.Itoa(int(r.errno)))
}

func parseReport(data []byte) (report, bool) {
	fields := strings.Split(string(data), "\x00")
	if len(fields) != 3 {
		return report{}, false
	}
	errno, err := strconv.Atoi(fields[2])
	return report{fields[0], fields[1], unix.Errno(errno)}, err == nil
}

// An order is what a helper has to do. No text in it can have a NUL.
type order struct {
	layers    []layer
	dir, path string
	argv, env []string
}

// encode returns the order as a list of texts, each with a NUL behind it, or
// EINVAL.
func encode(o order) ([]byte, error) {
	texts := []string{strconv.Itoa(len(o.layers))}
	for _, l := range o.layers {
		texts = append(texts, strconv.FormatBool(l.readOnly), l.path)
	}
	texts = append(texts, o.dir, o.path, strconv.Itoa(len(o.argv)))
	texts = append(texts, o.argv...)
	texts = append(texts, o.env...)
	data := []byte(strings.Join(texts, "\x00"))
	if strings.Count(string(data), "\x00") != len(texts)-1 {
		return nil, syscall.EINVAL
	}
	return data, nil
}

// parseOrder is the inverse of encode.
func parseOrder(data []byte) (o order, ok bool) {
	texts := strings.Split(string(data), "\x00")
	next := func() (text string) {
		if ok = len(texts) > 0; ok {
			text, texts = texts[0], texts[1:]
		}
		return text
	}
	count := func() int {
		n, err := strconv.Atoi(next())
		if err != nil || n < 0 || n > len(texts) {
			return len(texts) + 1 // more than there are
		}
		return n
	}
	for range count() {
		readOnly := next() == "true"
		o.layers = append(o.layers, layer{next(), readOnly})
	}
	o.dir, o.path = next(), next()
	n := count()
	if !ok || n > len(texts) {
		return order{}, false
	}
	o.argv, o.env = texts[:n], texts[n:]
	return o, true
}
