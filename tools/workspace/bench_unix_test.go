//go:build unix

package workspace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/tools/workspace"
)

// BenchmarkCommit compares a commit of 1 MiB to a file that was read with the
// least that makes one atomic and durable: write, fsync, rename, fsync of the
// directory.
func BenchmarkCommit(b *testing.B) {
	ws, err := workspace.New(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(ws.Dir(), "f")
	contents := [2][]byte{bytes.Repeat([]byte("old\n"), 1<<18), bytes.Repeat([]byte("new\n"), 1<<18)}
	if err := os.WriteFile(path, contents[0], 0o666); err != nil {
		b.Fatal(err)
	}
	turn := 0
	next := func() []byte {
		turn++
		return contents[turn%2]
	}
	var c *workspace.Change
	begin := func() {
		long := time.Now().Add(-time.Hour) // ago: most files were not written just now
		if err := os.Chtimes(path, long, long); err != nil {
			b.Fatal(err)
		}
		if c, err = ws.Change(b.Context(), workspace.OpEdit, "", "f"); err == nil {
			_, err = c.Read(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(1 << 20)
	ratio.RunPrepared(b, begin, func() { bareCommit(b, path, next()) }, func() {
		if _, err := c.Commit(b.Context(), next(), nil); err != nil {
			b.Fatal(err)
		}
		c.Close()
	})
}

func bareCommit(b *testing.B, path string, data []byte) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		b.Fatal(err)
	}
	defer dir.Close()
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		b.Fatal(err)
	}
	if err := dir.Sync(); err != nil {
		b.Fatal(err)
	}
}
