package rawfs

import (
	"net"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A directory and a link to another one change places all the time.
func TestListFollowsNoLinkThatIsPutInPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("dir", 0o700))
	require.NoError(t, os.MkdirAll("other/secret", 0o700))
	require.NoError(t, os.Symlink("other", "link"))
	over := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, "dir", unix.AT_FDCWD, "link", unix.RENAME_EXCHANGE)
			}
		}
	})
	var l Lister
	found := 0
	for range 20_000 {
		for _, list := range []func([]Entry, string) ([]Entry, error){l.List, listPortably} {
			entries, _ := list(nil, "dir")
			found += len(entries)
		}
	}
	close(over)
	swapping.Wait()
	require.Zero(t, found)
}

func TestASocketIsNoRegularFile(t *testing.T) {
	t.Chdir(t.TempDir())
	l, err := net.Listen("unix", "s")
	require.NoError(t, err)
	defer l.Close()
	_, err = Open("s")
	require.ErrorIs(t, err, ErrNotRegular)
}
