package search

import (
	"io"

	"github.com/taukit/taukit/search/internal/gitignore"
)

// MaxIgnoreBytes is the size of the largest ignore file in bytes. A larger one
// counts as empty.
const MaxIgnoreBytes = 4 << 20

// A Verdict is what an [IgnoreList] says of a path.
type Verdict = gitignore.Verdict

// The verdicts.
const (
	None    = gitignore.None    // no line matches
	Ignore  = gitignore.Ignore  // the last line that matches says so
	Include = gitignore.Include // the last line that matches begins with "!"
)

// An IgnoreList is one ignore file in the syntax of gitignore(5). It is
// immutable and safe for concurrent use.
type IgnoreList struct {
	list *gitignore.List
}

// ParseIgnore reads an ignore file to its end, or until it is larger than
// MaxIgnoreBytes, and then counts as empty. No content is malformed. The error is
// one of r.
func ParseIgnore(r io.Reader) (*IgnoreList, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxIgnoreBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxIgnoreBytes {
		data = nil
	}
	return &IgnoreList{gitignore.Parse(data)}, nil
}

// Match returns what the list says of a path, by the last line that matches it.
// The path is relative to the directory of the ignore file, with slashes and
// none at its ends; isDir says whether it is a directory. A directory above
// that is ignored is not looked at: what is in it cannot be included again, and
// a walk never comes there.
func (l *IgnoreList) Match(path string, isDir bool) Verdict {
	return l.list.Match(path, isDir)
}
