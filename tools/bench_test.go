package tools_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/args"
)

const codeLine = "\tif err := run(ctx); err != nil { x\n"

// bigFile writes a file of 16 MiB and returns its directory, its path and its
// number of lines.
func bigFile(b *testing.B) (dir, path string, lines int) {
	b.Helper()
	lines = tools.MaxReadBytes / len(codeLine)
	dir = newWorkspace(b, map[string]string{"f": strings.Repeat(codeLine, lines)}).Dir()
	return dir, dir + "/f", lines
}

// mustRun calls a tool of the session, which must succeed.
func mustRun(b *testing.B, s *tools.Session, tool string, arguments []byte) {
	if out := s.Call(b.Context(), tools.Call{Tool: tool, Arguments: arguments}); out.Error != nil {
		b.Fatal(out.Text)
	}
}

// BenchmarkReadTail reads the last 10 lines of a file of 16 MiB. The base is
// to have the file in memory; the target is 1.5 times as long.
func BenchmarkReadTail(b *testing.B) {
	dir, path, lines := bigFile(b)
	s, _ := openSession(b, tools.Config{Root: dir})
	arguments := encode(b, readArgs{Path: "f", Start: lines - 9})
	b.SetBytes(tools.MaxReadBytes)
	ratio.Run(b, func() {
		_, err := os.ReadFile(path)
		require.NoError(b, err)
	}, func() { mustRun(b, s, "read", arguments) })
}

// BenchmarkReadSmall reads a file of 1 KiB. The base is to decode the same
// arguments and to have the file in memory; the target is 4 times as long.
func BenchmarkReadSmall(b *testing.B) {
	dir := newWorkspace(b, map[string]string{"f": strings.Repeat(codeLine, 1<<10/len(codeLine))}).Dir()
	s, _ := openSession(b, tools.Config{Root: dir})
	arguments, decoder := encode(b, whole), args.For[args.Read]()
	ratio.Run(b, func() {
		_, err := decoder.Decode(arguments)
		require.NoError(b, err)
		_, err = os.ReadFile(dir + "/f")
		require.NoError(b, err)
	}, func() { mustRun(b, s, "read", arguments) })
}

// BenchmarkReadWhole reads a whole file of 16 MiB, which is cut and saved.
// The base is to have the file in memory and to write it to another file.
func BenchmarkReadWhole(b *testing.B) {
	dir, path, _ := bigFile(b)
	for name, none := range map[string]bool{"saved": false, "unsaved": true} {
		b.Run(name, func(b *testing.B) {
			s, _ := openSession(b, tools.Config{Root: dir, NoSpool: none})
			target := b.TempDir() + "/copy"
			b.SetBytes(tools.MaxReadBytes)
			ratio.Run(b, func() {
				data, err := os.ReadFile(path)
				require.NoError(b, err)
				if !none {
					require.NoError(b, os.WriteFile(target, data, 0o666))
				}
			}, func() { mustRun(b, s, "read", encode(b, whole)) })
		})
	}
}

// BenchmarkLs lists 500 entries. The base is to list them with their types.
func BenchmarkLs(b *testing.B) {
	files := make(map[string]string)
	for i := range 500 {
		files[fmt.Sprintf("file%d.go", i)] = ""
	}
	dir := newWorkspace(b, files).Dir()
	s, _ := openSession(b, tools.Config{Root: dir})
	ratio.Run(b, func() {
		_, err := os.ReadDir(dir)
		require.NoError(b, err)
	}, func() { mustRun(b, s, "ls", []byte(`{}`)) })
}
