//go:build unix && !linux

package workspace

import "os"

// searchOnly is not there: a directory that cannot be read cannot be used.
const searchOnly = 0

func openRegular(name string) (*os.File, error) { return openChecked(name, nonBlocking) }

func openRegularIn(p place) (*os.File, error) { return openCheckedIn(p, os.O_RDONLY) }

func openForWriting(p place) (*os.File, error) { return openCheckedIn(p, os.O_RDWR) }

// path returns the path of the directory without symbolic links, for one of its
// paths.
func (d openDir) path(path string) (string, error) { return d.evalPath(path) }
