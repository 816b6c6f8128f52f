//go:build unix && !linux

package workspace

import "os"

func openRegular(name string) (*os.File, error) { return openChecked(name, nonBlocking) }

func openRegularIn(p place) (*os.File, error) { return openCheckedIn(p, os.O_RDONLY) }

func openForWriting(p place) (*os.File, error) { return openCheckedIn(p, os.O_RDWR) }
