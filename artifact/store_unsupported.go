//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package artifact

import (
	"context"
	"io"
	"os"
	"time"
)

func (*DirStore) prepare() error { return ErrUnsupported }

func (*DirStore) put(context.Context, int64, io.Reader) (Descriptor, error) {
	return Descriptor{}, ErrUnsupported
}

func (*DirStore) open(Key) (*os.File, Descriptor, error) { return nil, Descriptor{}, ErrUnsupported }

func orBusy(err error) error { return err }

type importDir struct{}

func makeImportDir(string, string) (*importDir, error) { return nil, ErrUnsupported }

func (*importDir) inPlace() error { return ErrUnsupported }
func (*importDir) remove() error  { return nil }

func (*importDir) write(context.Context, string, io.Reader) (Imported, error) {
	return Imported{}, ErrUnsupported
}

func sweepImports(string, string, time.Duration) (int, error) { return 0, ErrUnsupported }
