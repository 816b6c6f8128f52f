package search

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/taukit/taukit/search/internal/rawfs"
)

// A walker walks a tree once. It is for one goroutine.
type walker struct {
	ctx    context.Context
	o      *WalkOptions
	root   string // absolute, "" for "/"
	rootAt int    // path[rootAt:] is relative to the root
	baseAt int    // path[baseAt:] is relative to the base; 0 without one
	vcs    bool   // the root lies in a version-control directory

	// emit is called for each item in walk order. It stops the walk by
	// returning false.
	emit func(item) bool

	lister rawfs.Lister
	listed []rawfs.Entry // of the directory read last
	stack  []entry       // of that and the directories above it, what is to come
}

// errStopped ends a walk whose emit has had enough.
var errStopped = errors.New("stopped")

// walk walks the tree. The error is that of the context, or that of reading the
// root.
func (w *walker) walk() error {
	rules, err := w.rulesAbove()
	if err == nil {
		err = w.directory(w.root, 0, rules)
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// directory walks a directory, depth levels below the root. The rules are those
// of the directories above.
func (w *walker) directory(path string, depth int, rules ruleset) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	var err error
	w.listed, err = w.lister.List(w.listed[:0], orRoot(path))
	if err != nil {
		return w.unreadable(path, depth, err)
	}
	if rules, err = w.rulesOf(path, rules); err != nil {
		return err
	}
	first := len(w.stack)
	for _, l := range w.listed {
		if e, ok := w.choose(path, l, depth, rules); ok {
			e.key = sortKey(e.name)
			w.stack = append(w.stack, e)
		}
	}
	slices.SortFunc(w.stack[first:], compareEntries)

	last := len(w.stack)
	for i := first; i < last; i++ {
		e := w.stack[i]
		if e.path == "" {
			e.path = path + "/" + e.name
		}
		if e.dir {
			err = w.directory(e.path, depth+1, rules)
		} else if !w.emit(item{full: e.path, at: w.rootAt}) {
			err = errStopped
		}
		if err != nil {
			return err
		}
	}
	w.stack = w.stack[:first]
	return nil
}

// unreadable handles a directory that cannot be listed.
func (w *walker) unreadable(path string, depth int, err error) error {
	switch {
	case depth == 0:
		return w.o.rootError(err)
	case isVanished(err):
		return nil
	default:
		return w.report(path, w.rootAt, err)
	}
}

// report emits an error about path[at:].
func (w *walker) report(path string, at int, err error) error {
	if !w.emit(item{path, at, reason(err)}) {
		return errStopped
	}
	return nil
}

// choose returns an entry of a directory, and whether the walk goes there.
func (w *walker) choose(dir string, l rawfs.Entry, depth int, rules ruleset) (entry, bool) {
	e := entry{name: l.Name, dir: l.Kind == rawfs.Directory}
	if l.Kind == rawfs.Other || !w.vcs && isVersionControl(l.Name) || !w.onTheWay(e, depth) {
		return e, false
	}
	if w.o.Glob.isNameOrNil() && w.o.Filter == nil && rules.empty() {
		return e, true // nothing more to ask, and no need of the path
	}
	e.path = dir + "/" + l.Name
	if g := w.o.Glob; !g.isNameOrNil() && !e.dir && !g.Match(e.path[w.rootAt:]) {
		return e, false
	}
	pass, outranks := w.filter(e)
	return e, pass && (outranks || rules.empty() || !rules.ignored(e.path, e.dir))
}

// onTheWay reports whether the glob can match an entry or what it holds, as far
// as its name tells.
func (w *walker) onTheWay(e entry, depth int) bool {
	g := w.o.Glob
	switch {
	case g == nil:
		return true
	case depth < len(g.prefix):
		return e.dir && e.name == g.prefix[depth]
	case e.dir:
		return true
	default:
		return !g.byName || g.Match(e.name)
	}
}

// filter returns whether an entry passes the filter, and whether that outranks
// ignore files.
func (w *walker) filter(e entry) (pass, outranks bool) {
	relative, fromBase := e.path[w.rootAt:], ""
	if w.baseAt > 0 {
		fromBase = e.path[w.baseAt:]
	}
	if e.dir {
		return w.o.Filter.directory(relative, fromBase), false
	}
	return w.o.Filter.file(relative, fromBase)
}

// orRoot returns the path of a directory for the system: that of the root of
// the file system, or of a volume, needs its slash.
func orRoot(path string) string {
	if path == "" || strings.HasSuffix(path, ":") {
		return path + "/"
	}
	return path
}
