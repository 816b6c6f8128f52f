package search

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits of a glob.
const (
	MaxGlobBytes        = 10_000
	MaxGlobAlternatives = 1_000 // after expansion of all braces
)

// The reasons of a [GlobError].
const (
	GlobUnclosedClass = "unclosed ["
	GlobUnclosedBrace = "unclosed {"
	GlobBackslash     = "trailing backslash"
	GlobRange         = "bad range" // a class that is empty or has a range that is
	GlobAlternatives  = "too many alternatives"
	GlobTooLong       = "too long"
)

// A Glob is a compiled file name pattern. It is immutable and safe for
// concurrent use.
//
//	?          one character other than "/"; a byte that is not UTF-8 is one too
//	*          any run of these
//	[a-z_]     one character of a class; [!a] and [^a] are one that is not in it
//	{a,b/c,}   one of several globs, which may nest, hold "/" and be empty
//	**         as a whole element of a path: any number of elements, also none
//	\x         the character x itself
//
// "**" elsewhere is "*", "a/**" is everything below a but not a, and no class
// matches "/". Case counts, and a leading dot is nothing special.
type Glob struct {
	alternatives []string // without braces, as package doublestar wants them
	byName       bool     // they are about the last element of a path
	prefix       []string // elements that every path begins with
}

// CompileGlob compiles a glob. One without a slash is about the last element of
// a path, at any depth; one with a slash is about the whole path. A leading "/"
// or "./" is dropped after that. A glob that ends in a slash matches nothing.
//
// The error is a [*GlobError].
func CompileGlob(glob string) (*Glob, error) {
	g, reason := compileGlob(glob)
	if reason != "" {
		return nil, &GlobError{glob, reason}
	}
	return g, nil
}

func compileGlob(glob string) (g *Glob, reason string) {
	if len(glob) > MaxGlobBytes {
		return nil, GlobTooLong
	}
	g = &Glob{byName: !strings.Contains(glob, "/")}
	glob, relative := strings.CutPrefix(glob, "./")
	if !relative {
		glob = strings.TrimPrefix(glob, "/")
	}
	expanded, reason := expandBraces(glob)
	if reason != "" {
		return nil, reason
	}
	for _, a := range expanded {
		normal, reason := normalGlob(a)
		if reason != "" {
			return nil, reason
		}
		if !strings.HasSuffix(normal, "/") {
			g.alternatives = append(g.alternatives, normal)
		}
	}
	if !g.byName {
		g.prefix = literalPrefix(expanded)
	}
	return g, ""
}

// RelativeGlob returns a glob without a leading root, an absolute path without
// a slash at its end: "/w/src/*.go" relative to "/w" is "/src/*.go", which is
// still about whole paths. A glob that does not begin with the root and a slash
// is returned as it is.
func RelativeGlob(glob, root string) string {
	if rest, ok := strings.CutPrefix(glob, root); ok && strings.HasPrefix(rest, "/") {
		return rest
	}
	return glob
}

// Match reports whether the glob matches a path, which has slashes, but none at
// its ends.
func (g *Glob) Match(path string) bool {
	if g.byName {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	for _, a := range g.alternatives {
		if doublestar.MatchUnvalidated(a, path) {
			return true
		}
	}
	return false
}

// isNameOrNil reports whether g needs no more than the name of a file.
func (g *Glob) isNameOrNil() bool { return g == nil || g.byName }

// literalPrefix returns the elements before the last one that all paths begin
// with that any of the globs matches, which have no braces.
func literalPrefix(globs []string) []string {
	var prefix []string
	for i, g := range globs {
		elements := strings.Split(g, "/")
		n := 0
		for n < len(elements)-1 && !strings.ContainsAny(elements[n], `*?[\`) && (i == 0 || n < len(prefix) && elements[n] == prefix[n]) {
			n++
		}
		prefix = elements[:n]
	}
	return prefix
}
