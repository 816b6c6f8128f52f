//go:build unix

package discovery_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/discovery"
	"github.com/taukit/taukit/tools/workspace"
)

func TestD4WorldWritableAncestors(t *testing.T) {
	root := tree(t, map[string]string{
		"AGENTS.md": "root", "open/AGENTS.md": "planted", "open/.agents/skills/evil.md": skill("planted"), "open/.agents.local/AGENTS.md": "planted",
		"open/p/AGENTS.md": "p", "open/p/.agents/skills/good.md": skill("mine"),
	})
	for _, mode := range []fs.FileMode{0o777, 0o777 | fs.ModeSticky, 0o702} {
		require.NoError(t, os.Chmod(filepath.Join(root, "open"), mode))
		scope := project(t, filepath.Join(root, "open/p"), discovery.Options{})
		require.Equal(t, []string{"AGENTS.md", "open/p/AGENTS.md"}, instructions(root, scope))
		require.Equal(t, []string{"good open/p/.agents/skills/good.md"}, skills(root, scope))
		require.Equal(t, []string{"DISCOVERY_WORLD_WRITABLE open"}, diagnostics(root, scope))

		scope = project(t, filepath.Join(root, "open"), discovery.Options{})
		require.Contains(t, instructions(root, scope), "open/AGENTS.md", "the working directory itself is what the user chose")
	}
}

func TestNothingBlocks(t *testing.T) {
	root := tree(t, map[string]string{".agents/skills/": "", ".agents.local/skills/d/": ""})
	at := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"AGENTS.md", "AGENTS.a.md", ".agents/skills/f.md", ".agents/skills/g", ".agents.local/skills/d/SKILL.md", ".agents.local/AGENTS.md"} {
		require.NoError(t, unix.Mkfifo(at(name), 0o666))
	}
	require.NoError(t, os.Symlink("/dev/zero", at("AGENTS.zero.md")))
	require.NoError(t, os.Symlink("/dev/tty", at(".agents/skills/tty.md")))
	scope := project(t, root, discovery.Options{})
	require.Empty(t, scope.Instructions())
	require.Empty(t, scope.Skills())
	for _, d := range scope.Diagnostics() {
		require.Equal(t, framing.CodeNotRegular, d.Code, d.Path)
	}
	require.Len(t, scope.Diagnostics(), 7)
}

func TestSymbolicLinks(t *testing.T) {
	root := tree(t, map[string]string{
		"AGENTS.md": "once", "real/team.md": "team", "shared/x/SKILL.md": skill("shared"), "shared/y.md": skill("file"), "p/.agents/skills/": "", "p/.agents.local/": "",
	})
	link := func(target, name string) { require.NoError(t, os.Symlink(target, filepath.Join(root, name))) }
	link("AGENTS.md", "AGENTS.again.md")
	link("../AGENTS.md", "p/AGENTS.md")
	link("../../real/team.md", "p/.agents.local/AGENTS.md")
	link("AGENTS.loop.md", "AGENTS.loop.md")
	link("nowhere", "AGENTS.gone.md")
	link("../../../shared/x", "p/.agents/skills/x")
	link("../../../shared/y.md", "p/.agents/skills/y.md")
	link("../../../shared", "p/.agents/skills/group")
	link("../skills", "p/.agents/skills/loop")
	link("self", "p/.agents/skills/self")
	link("nowhere", "p/.agents/skills/gone")
	link("../../../real/team.md", "p/.agents/skills/afile")
	scope := project(t, filepath.Join(root, "p"), discovery.Options{})
	require.Equal(t, []string{"AGENTS.md", "p/.agents.local/AGENTS.md"}, instructions(root, scope), "each canonical path once")
	require.Equal(t, []string{"x p/.agents/skills/group/x/SKILL.md", "y p/.agents/skills/y.md"}, skills(root, scope))
	require.Equal(t, []string{
		framing.CodeLoop + " AGENTS.loop.md", framing.CodeNotFound + " AGENTS.gone.md",
		framing.CodeNotFound + " p/.agents/skills/gone/SKILL.md", framing.CodeLoop + " p/.agents/skills/self/SKILL.md",
		"DISCOVERY_SHADOWED p/.agents/skills/x/SKILL.md p/.agents/skills/group/x/SKILL.md",
	}, diagnostics(root, scope))
}

func TestHomeMayBeALink(t *testing.T) {
	root := tree(t, map[string]string{"AGENTS.md": "above", "h/AGENTS.md": "home", "h/p/AGENTS.md": "p"})
	require.NoError(t, os.Symlink("h", filepath.Join(root, "link")))
	scope := project(t, filepath.Join(root, "link/p"), discovery.Options{Home: filepath.Join(root, "link")})
	require.Equal(t, []string{"h/p/AGENTS.md"}, instructions(root, scope))
}

func TestHugeSparseFiles(t *testing.T) {
	root := tree(t, map[string]string{"AGENTS.md": "x", ".agents/skills/big.md": skill("only its beginning is read"), ".agents/skills/zero.md": ""})
	for _, name := range []string{"AGENTS.md", ".agents/skills/big.md", ".agents/skills/zero.md"} {
		require.NoError(t, os.Truncate(filepath.Join(root, name), 2<<30))
	}
	scope := project(t, root, discovery.Options{})
	require.Empty(t, scope.Instructions())
	require.Equal(t, []string{"big .agents/skills/big.md"}, skills(root, scope))
	require.Equal(t, []string{framing.CodeTooLarge + " AGENTS.md", "DISCOVERY_FRONT_MATTER .agents/skills/zero.md"}, diagnostics(root, scope))
}

func TestHostileNames(t *testing.T) {
	root := tree(t, map[string]string{"AGENTS.\x1b[2J\n.md": "t", ".agents/skills/\xff\n/SKILL.md": skill("d"), ".agents/skills/..md": skill("d")})
	scope := project(t, root, discovery.Options{})
	require.Equal(t, "AGENTS.\x1b[2J\n.md", filepath.Base(scope.Instructions()[0].Path), "paths are handed on as they are")
	require.Empty(t, scope.Skills())
	require.Len(t, scope.Diagnostics(), 1)
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	root := tree(t, map[string]string{"a/AGENTS.md": "a", "a/AGENTS.x.md": "x", "a/w/AGENTS.md": "w", "a/w/AGENTS.no.md": "no", "a/w/.agents/skills/x.md": skill("d")})
	require.NoError(t, os.Chmod(filepath.Join(root, "a/w/AGENTS.no.md"), 0))
	require.NoError(t, os.Chmod(filepath.Join(root, "a/w/.agents/skills"), 0))
	require.NoError(t, os.Chmod(filepath.Join(root, "a"), 0o111))
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(root, "a"), 0o755)
		_ = os.Chmod(filepath.Join(root, "a/w/.agents/skills"), 0o755)
	})
	scope := project(t, filepath.Join(root, "a/w"), discovery.Options{})
	require.Equal(t, []string{"a/AGENTS.md", "a/w/AGENTS.md"}, instructions(root, scope))
	require.Equal(t, []string{framing.CodePermission + " a", framing.CodePermission + " a/w/AGENTS.no.md", framing.CodePermission + " a/w/.agents/skills"}, diagnostics(root, scope))

	_, err := discovery.New(discovery.Options{}).Project(t.Context(), filepath.Join(root, "a"))
	require.ErrorIs(t, err, workspace.ErrPermission, "the working directory must be listed")
	var e *workspace.Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, "permission denied", e.Reason)
}

func TestTooManyEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many files")
	}
	root := tree(t, map[string]string{".agents/skills/": "", ".agents.local/skills/kept.md": skill("d")})
	for i := range discovery.MaxSkillEntries + 10 {
		require.NoError(t, os.Symlink("nowhere", filepath.Join(root, ".agents/skills", fmt.Sprint("e", i))))
	}
	scope := project(t, root, discovery.Options{})
	require.Equal(t, []string{"kept .agents.local/skills/kept.md"}, skills(root, scope))
	require.Len(t, scope.Diagnostics(), discovery.MaxDiagnostics)
	require.Equal(t, "DISCOVERY_LIMIT .agents/skills", diagnostics(root, scope)[0])
}

// TestScansWhileFilesChange looks at files that others exchange: a scan sees one
// version of each or none, and never fails.
func TestScansWhileFilesChange(t *testing.T) {
	root := tree(t, map[string]string{".agents/skills/": ""})
	path, dir := filepath.Join(root, "AGENTS.md"), filepath.Join(root, ".agents/skills/x")
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Remove(path)
			switch i % 3 {
			case 0:
				_ = os.WriteFile(path+".new", []byte(strings.Repeat(fmt.Sprint(i%10), 5000)), 0o644)
				_ = os.Rename(path+".new", path)
			case 1:
				_ = unix.Mkfifo(path, 0o644)
			default:
				_ = os.Symlink("/dev/zero", path)
			}
			_ = os.RemoveAll(dir)
			_ = os.MkdirAll(dir, 0o755)
			_ = os.WriteFile(dir+"/SKILL.md", []byte(skill("d")), 0o644)
		}
	})
	for range 200 {
		scope := project(t, root, discovery.Options{})
		for _, i := range scope.Instructions() {
			require.Equal(t, strings.Repeat(i.Text[:1], 5000), i.Text)
		}
	}
	close(stop)
	all.Wait()
}
