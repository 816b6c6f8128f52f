package search

import "strings"

// A Filter says by path which files of a tree are searched. It is immutable and
// safe for concurrent use.
type Filter struct {
	glob     *Glob
	negated  bool // what matches is left out
	dirs     bool // negated: it is about directories, with all that is in them
	outranks bool // files that match are searched even if ignored
}

// CompileFilter compiles a filter: a glob, and only files that match it are
// searched; or "!" and a glob, and files that match it are left out.
//
// A path matches if it does relative to the root or relative to the base of the
// walk. A glob that ends in a slash stands for everything below a directory;
// with "!", whether it holds another slash decides if it is about the name or
// the whole path of that directory.
//
// Files that match a glob without "!" are searched even if ignore files say
// otherwise, but not those in an ignored directory, and not for a glob that
// names nothing: one of only "*", "?", "." and "/".
//
// The error is a [*GlobError].
func CompileFilter(filter string) (*Filter, error) {
	f := new(Filter)
	glob, negated := strings.CutPrefix(filter, "!")
	f.negated = negated
	if negated {
		glob, f.dirs = strings.CutSuffix(glob, "/")
	} else {
		f.outranks = strings.Trim(glob, "*?./") != ""
		if strings.HasSuffix(glob, "/") {
			glob += "**"
		}
	}
	var reason string
	if f.glob, reason = compileGlob(glob); reason != "" {
		return nil, &GlobError{filter, reason}
	}
	return f, nil
}

// file returns whether a file passes the filter, and whether that outranks
// ignore files. The path is given relative to the root and to the base; ""
// means that it is not below the base.
func (f *Filter) file(path, fromBase string) (pass, outranks bool) {
	if f == nil || f.negated && f.dirs {
		return true, false
	}
	match := f.match(path, fromBase)
	return match != f.negated, match && f.outranks
}

// directory returns whether a directory passes the filter.
func (f *Filter) directory(path, fromBase string) bool {
	return f == nil || !f.negated || !f.dirs || !f.match(path, fromBase)
}

func (f *Filter) match(path, fromBase string) bool {
	return f.glob.Match(path) || fromBase != "" && !f.glob.byName && f.glob.Match(fromBase)
}
