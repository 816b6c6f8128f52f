//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package artifact

import (
	"math"
	"os"
	"time"
)

type directory struct{ output *os.File }

func makeDirectory(string, string) (*directory, error) { return nil, ErrUnsupported }

func (*directory) outputPath() string { return "" }
func (*directory) remove() error      { return nil }
func (*directory) unlock()            {}

func maxDescriptors() int { return math.MaxInt32 }

func sweep(string, string, time.Duration) (int, error) { return 0, ErrUnsupported }
