//go:build !linux

package confine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// MountNS is not available on this system: see the package's comment.
func MountNS() Method { return unsupported{"MountNS", ByBind} }

// UserNS is not available on this system: see the package's comment.
func UserNS() Method { return unsupported{"UserNS", ByBind} }

// Landlock is not available on this system: see the package's comment.
func Landlock() Method { return unsupported{"Landlock", ByLandlock} }

// Bubblewrap is not available on this system: see the package's comment.
func Bubblewrap(string) Method { return unsupported{"Bubblewrap", ByBind} }

// RunHelper does nothing on this system.
func RunHelper() {}

// unsupported is a method of another system.
type unsupported struct {
	name     string
	enforces Enforcement
}

func (m unsupported) Name() string                { return m.name }
func (m unsupported) Enforces() Enforcement       { return m.enforces }
func (m unsupported) Probe(context.Context) error { return errNeedsLinux }
func (m unsupported) Start(*exec.Cmd, Plan) error { return setup("start", errNeedsLinux) }

var errNeedsLinux = fmt.Errorf("needs Linux: %w", errors.ErrUnsupported)
