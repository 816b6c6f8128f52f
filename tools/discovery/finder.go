package discovery

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/taukit/taukit/tools/workspace"
)

// An FS is the file system that is scanned. It must be safe for concurrent use.
type FS interface {
	workspace.FS
	// Resolve finds what a name leads to, without opening it: its path
	// without symbolic links, and what it is.
	Resolve(ctx context.Context, name string) (canonical string, info fs.FileInfo, err error)
}

// Options configure a [Finder]. The zero value scans projects of the host, and
// nothing of a user.
type Options struct {
	// Home is the home directory of the user: an absolute path, or "" for
	// none. Then there is no user scope, and no home for the way up from a
	// working directory to stop at.
	Home string
	// FS is the file system, nil for that of the host.
	FS FS
}

// A Finder is the [Discoverer] for the rules of this package. It keeps nothing
// between scans and is safe for concurrent use.
type Finder struct {
	home string
	fs   FS
}

var _ Discoverer = (*Finder)(nil)

// New returns a Finder. It does not touch the disk.
func New(opts Options) *Finder {
	if opts.FS == nil {
		opts.FS = host{}
	}
	return &Finder{opts.Home, opts.FS}
}

// User scans the user scope. Without a home directory, or if it does not exist,
// that is empty. The error is [fs.ErrInvalid] for a relative home, an
// [*workspace.Error] if the home cannot be reached, or that of ctx.
func (f *Finder) User(ctx context.Context) (Scope, error) {
	if f.home == "" {
		return Scope{}, ctx.Err()
	}
	s, err := f.begin(ctx, f.home)
	if errors.Is(err, workspace.ErrNotFound) {
		return Scope{}, ctx.Err()
	}
	if err != nil {
		return Scope{}, err
	}
	roots := make([]string, 0, 4)
	for _, name := range []string{".config/agents", ".config/agents.local", ".agents", ".agents.local"} {
		roots = append(roots, filepath.Join(f.home, filepath.FromSlash(name)))
	}
	for _, root := range roots {
		if err := s.instructions(ctx, root); err != nil {
			return Scope{}, err
		}
	}
	if err := s.readInstructions(ctx); err != nil {
		return Scope{}, err
	}
	// The most specific first: local roots before the others, those of
	// .config before the legacy ones.
	for _, i := range []int{1, 0, 3, 2} {
		if err := s.skills(ctx, filepath.Join(roots[i], skillsName)); err != nil {
			return Scope{}, err
		}
	}
	return s.found.scope(), nil
}

const (
	agentsName = ".agents"
	localName  = ".agents.local"
	skillsName = "skills"
	gitName    = ".git"
)

// Project scans the project of an absolute directory. The error is an
// [*workspace.Error] if that is no directory or cannot be listed, or that of ctx.
func (f *Finder) Project(ctx context.Context, dir string) (Scope, error) {
	s, err := f.begin(ctx, dir)
	if err != nil {
		return Scope{}, err
	}
	dirs, err := s.upwards(ctx, f.canonicalHome(ctx))
	if err != nil {
		return Scope{}, err
	}
	for _, d := range slices.Backward(dirs) {
		if err := s.projectInstructions(ctx, d); err != nil {
			return Scope{}, err
		}
	}
	if err := s.readInstructions(ctx); err != nil {
		return Scope{}, err
	}
	for _, d := range dirs {
		for _, name := range []string{localName, agentsName} {
			if err := s.skills(ctx, filepath.Join(d, name, skillsName)); err != nil {
				return Scope{}, err
			}
		}
	}
	return s.found.scope(), nil
}

// projectInstructions notes those of one directory of a project. That the working
// directory itself cannot be listed is an error: what cannot be seen must not
// pass for empty.
func (s *scan) projectInstructions(ctx context.Context, dir string) error {
	var err error
	if dir == s.ws.Dir() {
		var entries []entry
		if entries, err = s.list(ctx, dir, isInstruction); err == nil {
			s.note(ctx, dir, entries)
		}
	} else {
		err = s.instructions(ctx, dir)
	}
	if err != nil {
		return err
	}
	return s.instructions(ctx, filepath.Join(dir, localName))
}

func (f *Finder) canonicalHome(ctx context.Context) string {
	if f.home == "" {
		return ""
	}
	canonical, _, err := f.fs.Resolve(ctx, f.home)
	if err != nil {
		return filepath.Clean(f.home)
	}
	return canonical
}

// A scan is one scan of a scope.
type scan struct {
	ws    *workspace.Workspace
	fs    FS
	found builder

	places []place         // of instruction files, the most specific last
	noted  map[string]bool // canonical paths of those
	bytes  int             // of instruction files, so far

	entries int             // of directories of skills, so far
	visited map[string]bool // canonical paths of those directories
}

func (f *Finder) begin(ctx context.Context, dir string) (*scan, error) {
	ws, err := workspace.NewFS(ctx, f.fs, dir)
	if err != nil {
		return nil, err
	}
	return &scan{ws: ws, fs: f.fs, noted: map[string]bool{}, visited: map[string]bool{}}, nil
}

// upwards returns the directories of the project, the working directory first:
// up to the one that holds .git, or to the last below home, or to the root. An
// ancestor in which everybody can write is left out: everybody could have
// planted instructions there.
func (s *scan) upwards(ctx context.Context, home string) ([]string, error) {
	dirs := []string{s.ws.Dir()}
	for dir := s.ws.Dir(); dir != home && !s.holdsGit(ctx, dir); {
		parent := filepath.Dir(dir)
		if parent == dir || parent == home {
			break
		}
		dir = parent
		_, info, err := s.fs.Resolve(ctx, dir)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			s.found.diagnose(Diagnostic{Code: workspace.ErrPermission.Code, Path: dir, Reason: "who may write to it is not known"})
		case everybodyWrites(info):
			s.found.diagnose(Diagnostic{Code: CodeWorldWritable, Path: dir, Reason: "everybody can write to it"})
		default:
			dirs = append(dirs, dir)
		}
	}
	return dirs, ctx.Err()
}

// holdsGit reports whether dir is the root of a work tree: .git is a directory,
// or a file in linked work trees and submodules.
func (s *scan) holdsGit(ctx context.Context, dir string) bool {
	_, info, err := s.fs.Resolve(ctx, filepath.Join(dir, gitName))
	return err == nil && (info.IsDir() || info.Mode().IsRegular())
}

// everybodyWrites cannot be told on Windows, where modes say nothing.
func everybodyWrites(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode()&0o002 != 0
}

// host is the file system of the host.
type host struct{ workspace.OS }

func (host) Resolve(_ context.Context, name string) (string, fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", nil, err
	}
	canonical, err := filepath.EvalSymlinks(name)
	return canonical, info, err
}
