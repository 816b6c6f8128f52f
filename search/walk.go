package search

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/taukit/taukit/search/internal/rawfs"
)

// IgnoreMode says which ignore files count.
type IgnoreMode uint8

// The modes.
const (
	AllIgnores IgnoreMode = iota // those in the root, below and above it, of the repository and of the user
	BelowRoot                    // those in the root and below
	NoIgnores                    // none
)

// WalkOptions say what to walk. Only Root is needed.
//
// # Which files
//
// A walk gives regular files. Symbolic links are neither followed nor given,
// hidden files are. Entries named .git, .hg, .svn and .jj are left out, unless
// the root is one or lies in one.
//
// Files and directories are opened by path, and only of the last element is it
// made sure that it is no symbolic link. Somebody who may write in the tree can
// lead a search out of it by putting a link in the place of a directory that it
// is in, so nothing is confined to the root.
//
// # Ignore files
//
// They have the syntax of gitignore(5): the files .rgignore, .ignore and
// .gitignore in every directory, with or without a repository; then
// .git/info/exclude of the repository; then the file that core.excludesFile of
// the user's git configuration names, or its default. The first kind in this
// order that has a verdict decides; within a kind the deepest file does, within
// a file the last line that matches. An ignored directory is not entered. The
// .gitignore files above a nested repository do not reach into it.
//
// Of the directories above the root, those up to the top of the repository
// count, or if there is none, those up to the base. If their rules ignore the
// root, a directory above it, or whatever is in it, none of them count: naming
// a directory is asking for it.
type WalkOptions struct {
	// Root is the directory to walk, "" for the current one. A symbolic link is
	// followed, and ".." behind one is what is above its target, as the system
	// has it.
	Root string

	// Base is the directory up to which ignore files above Root count outside
	// of a repository, and which a Filter may be relative to. A Base that Root
	// is not in, such as "", is of no effect.
	Base string

	Glob    *Glob   // if not nil, only files that match, relative to Root
	Filter  *Filter // if not nil, only files that pass
	Ignores IgnoreMode

	// Errors, if not nil, is told once of each file or directory that could not
	// be searched, in walk order, by the goroutine that runs the loop. The path
	// is relative to Root, "" for Root itself; that of an ignore file that is
	// not below Root is absolute. The error is an errno of the system,
	// ErrLineTooLong or ErrTooLarge, without the path. What vanished since it
	// was listed is left out silently.
	Errors func(path string, err error)
}

// Walk returns the paths of the files under a root, relative to it and with
// slashes. In every directory the entries are in the order of their names in
// lower case, bytewise, those of directories with a "/" behind; what a directory
// holds comes in its place.
//
// The error is that of the context, or an [*fs.PathError] if the root cannot be
// read; it ends the loop. The context is looked at for each directory.
// Directories are read as the loop comes to them; of those that a Glob with a
// literal beginning, common to all its alternatives, rules out, none is.
func Walk(ctx context.Context, o WalkOptions) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		w, mode, err := newWalker(ctx, &o)
		if err == nil && !mode.IsDir() {
			err = o.rootError(ErrNotDirectory)
		}
		if err != nil {
			yield("", err)
			return
		}
		w.emit = func(i item) bool {
			if i.err != nil {
				o.report(i.path(), i.err)
				return true
			}
			return yield(i.path(), nil)
		}
		if err := w.walk(); err != nil {
			yield("", err)
		}
	}
}

func (o *WalkOptions) report(path string, err error) {
	if o.Errors != nil {
		o.Errors(path, err)
	}
}

// An item is what a walk comes to: a file, or with an error what could not be
// read.
type item struct {
	full string // the absolute path
	at   int    // full[at:] is the path relative to the root
	err  error
}

func (i item) path() string { return i.full[i.at:] }

// newWalker returns a walker of o.Root, and the type of that: it can walk only a
// directory. Its emit is to be set.
func newWalker(ctx context.Context, o *WalkOptions) (w *walker, mode fs.FileMode, err error) {
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	root, mode, err := realPath(o.Root)
	if err != nil {
		return nil, 0, err
	}
	w = &walker{ctx: ctx, o: o, root: root, rootAt: len(root) + 1}
	for element := range strings.SplitSeq(root, "/") {
		w.vcs = w.vcs || isVersionControl(element)
	}
	if o.Base != "" {
		base, _, err := realPath(o.Base)
		if err == nil && (root == base || strings.HasPrefix(root, base+"/")) {
			w.baseAt = len(base) + 1
		}
	}
	return w, mode, nil
}

// realPath returns the absolute path of a file or directory, without symbolic
// links and with slashes, "" for the root of the file system, and its type. The
// error is an *fs.PathError.
func realPath(name string) (string, fs.FileMode, error) {
	abs, err := absolute(name)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(abs) // EvalSymlinks words some errors itself
	}
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", 0, &fs.PathError{Op: "search", Path: name, Err: reason(err)}
	}
	return strings.TrimSuffix(filepath.ToSlash(abs), "/"), info.Mode(), nil
}

// absolute returns name below the working directory if it is relative. It is not
// cleaned: what ".." is behind a symbolic link, and whether what stands before
// it or before a slash is a directory, only the system can tell.
func absolute(name string) (string, error) {
	if runtime.GOOS == "windows" { // the system itself goes by the text
		return filepath.Abs(name)
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	wd, err := os.Getwd()
	return wd + "/" + name, err
}

// rootError returns err as that of the root.
func (o *WalkOptions) rootError(err error) error {
	return &fs.PathError{Op: "search", Path: o.Root, Err: reason(err)}
}

// reason returns the error below the wrappers that add a path.
func reason(err error) error {
	for {
		below := errors.Unwrap(err)
		if below == nil {
			return err
		}
		err = below
	}
}

// isVanished reports whether what was listed is no longer there, or something
// else is in its place.
func isVanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, rawfs.ErrNotRegular) ||
		errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

func isVersionControl(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj":
		return true
	default:
		return false
	}
}
