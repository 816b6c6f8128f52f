package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Confined is a command that a [Chain] has started.
type Confined struct {
	method Method
	temp   string // the private temporary directory, or ""
}

// Method returns what enforces the plan.
func (c *Confined) Method() Method { return c.method }

// TempDir returns the private temporary directory that the command got, or "" if
// it kept its own.
func (c *Confined) TempDir() string { return c.temp }

// Close removes the private temporary directory, if there is one. It does not end
// the command, and may be called again.
func (c *Confined) Close() error {
	if c.temp == "" {
		return nil
	}
	return os.RemoveAll(c.temp)
}

// prepare gives cmd a private temporary directory if it needs one, and returns
// the plan with it. It changes nothing if none can be made.
func (c *Confined) prepare(cmd *exec.Cmd, p Plan) Plan {
	env := cmd.Environ()
	places := layers(p.ReadOnly, p.Writable)
	if c.canCreate(places, tempOf(env)) {
		return p
	}
	for _, dir := range []string{lookup(env, "XDG_RUNTIME_DIR"), sharedMemory, p.StateDir} {
		if c.temp = privateDir(places, dir); c.temp == "" {
			continue
		}
		cmd.Env = append(slices.Clip(env), "TMPDIR="+c.temp)
		p.Writable = append(slices.Clip(p.Writable), c.temp)
		return p
	}
	return p
}

// sharedMemory is a directory in memory that Linux systems have for everybody.
const sharedMemory = "/dev/shm"

// canCreate reports whether the command can make files in dir. Landlock refuses
// new names also in a directory that contains a protected one.
func (c *Confined) canCreate(places []layer, dir string) bool {
	if protected(places, dir) {
		return false
	}
	return c.method.Enforces() != ByLandlock || !containsProtected(places, dir)
}

// tempOf returns the temporary directory that the environment names, with
// symbolic links resolved if it exists.
func tempOf(env []string) string {
	dir := lookup(env, "TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return filepath.Clean(dir)
}

// lookup returns the value of a variable, of which the last one counts, or "".
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// privateDir makes a new directory in dir for the user alone, and returns its
// canonical path, or "" if dir is not one where this can be done.
func privateDir(places []layer, dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || protected(places, dir) {
		return ""
	}
	temp, err := os.MkdirTemp(dir, "confine-") // its mode is 0700
	if err != nil {
		return ""
	}
	return temp
}
