//go:build unix && !linux

package workspace

import "os"

func openRegular(name string) (*os.File, error) { return openChecked(name, nonBlocking) }
