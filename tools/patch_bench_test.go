package tools_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/workspace"
)

// BenchmarkApplyPatch compares a patch of 100 files of 10 KiB with the least
// that makes its changes one by one: write, rename, and, unless it is left out,
// fsync of each file and once of the directory.
func BenchmarkApplyPatch(b *testing.B) {
	for _, noSync := range []bool{false, true} {
		b.Run(fmt.Sprintf("noSync=%t", noSync), func(b *testing.B) { benchmarkPatch(b, noSync) })
	}
}

func benchmarkPatch(b *testing.B, noSync bool) {
	const files = 100
	ws, err := workspace.NewFS(b.Context(), workspace.OS{NoSync: noSync}, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	content := [2][]byte{
		[]byte(strings.Repeat("a line of some text\n", 500) + "old\n"),
		[]byte(strings.Repeat("a line of some text\n", 500) + "new\n"),
	}
	var sections []string
	for i := range files {
		sections = append(sections, fmt.Sprintf("*** Update File: f%d", i), "@@", "-old", "+new")
	}
	text := []byte(inPatch(sections...))
	reset := func() {
		for i := range files {
			if err := os.WriteFile(filepath.Join(ws.Dir(), fmt.Sprintf("f%d", i)), content[0], 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	tool := tools.NewApplyPatch(tools.Env{Workspace: ws}, patch.Atomic)
	ratio.RunPrepared(b, reset, func() {
		for i := range files {
			replaceFile(b, filepath.Join(ws.Dir(), fmt.Sprintf("f%d", i)), content[1], noSync)
		}
		syncDir(b, ws.Dir(), noSync)
	}, func() {
		out := tool.Call(context.Background(), tools.Call{Arguments: text})
		if out.Error != nil || len(out.Display.Changes) != files {
			b.Fatal(out.Text)
		}
	})
}

// replaceFile reads a file, writes a new one and renames it over the old one.
func replaceFile(b *testing.B, path string, data []byte, noSync bool) {
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, nil) {
		b.Fatal("empty")
	}
	f, err := os.Create(path + ".tmp")
	if err != nil {
		b.Fatal(err)
	}
	if _, err = f.Write(data); err == nil && !noSync {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func syncDir(b *testing.B, dir string, noSync bool) {
	if noSync {
		return
	}
	d, err := os.Open(dir)
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		b.Fatal(err)
	}
	d.Close()
}
