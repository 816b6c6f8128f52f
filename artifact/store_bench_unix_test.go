//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/internal/ratio"
)

// benchOriginals returns files of 100 MB in all, each of the largest size but
// the last.
func benchOriginals(b *testing.B) (paths []string) {
	random := rand.NewChaCha8([32]byte{})
	for left := 100_000_000; left > 0; left -= artifact.MaxBytes {
		data := make([]byte, min(left, artifact.MaxBytes))
		_, _ = random.Read(data)
		path := filepath.Join(b.TempDir(), "original")
		require.NoError(b, os.WriteFile(path, data, 0o600))
		paths = append(paths, path)
	}
	return paths
}

// copyAndHash copies a file to a new one on the disk, and hashes it once.
func copyAndHash(b *testing.B, from, to string) {
	in, err := os.Open(from)
	require.NoError(b, err)
	defer in.Close()
	out, err := os.Create(to)
	require.NoError(b, err)
	defer out.Close()
	h := sha256.New()
	_, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(out, h)}, struct{ io.Reader }{in}, make([]byte, 256<<10))
	require.NoError(b, err)
	require.NoError(b, out.Sync())
}

// BenchmarkExport puts 100 MB of files that are new to a store, relative to
// copying and hashing them once ("x-base").
func BenchmarkExport(b *testing.B) {
	paths, dir, n := benchOriginals(b), b.TempDir(), 0
	b.SetBytes(100_000_000)
	var s *artifact.DirStore
	prepare := func() {
		require.NoError(b, os.RemoveAll(filepath.Join(dir, fmt.Sprint("store", n))))
		n++
		var err error
		s, err = artifact.NewDirStore(filepath.Join(dir, fmt.Sprint("store", n)))
		require.NoError(b, err)
	}
	ratio.RunPrepared(b, prepare, func() {
		for i, path := range paths {
			copyAndHash(b, path, filepath.Join(dir, fmt.Sprint("copy", i)))
		}
	}, func() {
		for _, path := range paths {
			f, err := os.Open(path)
			require.NoError(b, err)
			_, err = artifact.PutFile(b.Context(), s, f)
			require.NoError(b, err)
			f.Close()
		}
	})
}

// BenchmarkImport imports 100 MB of originals, relative to copying and hashing
// them once ("x-base").
func BenchmarkImport(b *testing.B) {
	paths, dir := benchOriginals(b), b.TempDir()
	s, err := artifact.NewDirStore(filepath.Join(dir, "store"))
	require.NoError(b, err)
	m := imports(b, dir)
	var keys []artifact.Key
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(b, err)
		d, err := s.Put(b.Context(), -1, bytes.NewReader(data))
		require.NoError(b, err)
		keys = append(keys, d.Key)
	}
	var made []string
	prepare := func() {
		for _, path := range made {
			require.NoError(b, os.Remove(path))
		}
		made = made[:0]
	}
	b.SetBytes(100_000_000)
	ratio.RunPrepared(b, prepare, func() {
		for i, path := range paths {
			copyAndHash(b, path, filepath.Join(dir, fmt.Sprint("copy", i)))
		}
	}, func() {
		for _, key := range keys {
			got, err := m.Import(b.Context(), s, key, artifact.Hints{})
			require.NoError(b, err)
			made = append(made, got.Path)
		}
	})
}
