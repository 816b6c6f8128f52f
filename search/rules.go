package search

import "github.com/taukit/taukit/search/internal/gitignore"

// The kinds of ignore files in a directory, in the order in which they decide.
const (
	rgignore = iota
	ignore
	gitignoreFile
	ignoreKinds
)

var ignoreNames = [ignoreKinds]string{".rgignore", ".ignore", ".gitignore"}

// repositoryName is what makes a directory the top of a repository: a directory,
// a file that names one, or a symbolic link to either.
const repositoryName = ".git"

// rules are the ignore rules of a directory, with those of the directories
// above it. A directory without rules of its own shares its parent's. The paths
// that rules are asked about are absolute.
type rules struct {
	above *rules
	at    int // path[at:] is relative to the directory
	lists [ignoreKinds]*gitignore.List

	// Of the top of a repository: .git/info/exclude. The .gitignore files above
	// do not reach in here.
	repository bool
	exclude    *gitignore.List
}

// A ruleset is the rules in force: those of a directory, and the file of the
// user, which is relative to the top of the repository, or else of the walk.
type ruleset struct {
	*rules
	global *gitignore.List
	top    int // path[top:] is relative to the top of the walk
}

// ignored reports whether a path is ignored. The directories above it are not.
func (s ruleset) ignored(path string, dir bool) bool {
	for kind := range gitignoreFile {
		for r := s.rules; r != nil; r = r.above {
			if v := r.judge(r.lists[kind], path, dir); v != gitignore.None {
				return v == gitignore.Ignore
			}
		}
	}
	r := s.rules
	for ; r != nil; r = r.above {
		if v := r.judge(r.lists[gitignoreFile], path, dir); v != gitignore.None {
			return v == gitignore.Ignore
		}
		if r.repository {
			break
		}
	}
	top := s.top
	if r != nil {
		top = r.at
		if v := r.judge(r.exclude, path, dir); v != gitignore.None {
			return v == gitignore.Ignore
		}
	}
	return s.global != nil && s.global.Match(path[top:], dir) == gitignore.Ignore
}

func (r *rules) judge(l *gitignore.List, path string, dir bool) gitignore.Verdict {
	if l == nil {
		return gitignore.None
	}
	return l.Match(path[r.at:], dir)
}

// empty reports whether nothing can be ignored.
func (s ruleset) empty() bool { return s.rules == nil && s.global == nil }
