//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package dirlock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

var errLocked = errors.New("locked")

// refuseRemote refuses all: here are no locks that end with a process.
func refuseRemote(string) error {
	return fmt.Errorf("locks of processes: %w", errors.ErrUnsupported)
}

func openPrivate(path string, flags int) (*os.File, error) { return os.OpenFile(path, flags, 0o600) }

func tryLock(*os.File) error { return errors.ErrUnsupported }

func isOurs(fs.FileInfo) bool    { return false }
func isPrivate(fs.FileInfo) bool { return false }
