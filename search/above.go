package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/taukit/taukit/search/internal/gitignore"
)

// rulesAbove returns the rules of the directories above the root and of the
// user, unless they ignore the root.
func (w *walker) rulesAbove() (ruleset, error) {
	s := ruleset{top: w.rootAt}
	if w.o.Ignores != AllIgnores {
		return s, nil
	}
	var err error
	if s.global, err = w.userRules(); err != nil {
		return s, err
	}
	tops := w.directoriesAbove()
	if len(tops) > 0 {
		s.top = len(tops[0]) + 1
	}
	none := ruleset{top: w.rootAt}
	for i, dir := range tops {
		has := sources{repository: i == 0 && isRepository(dir)}
		for kind, name := range ignoreNames {
			has.files[kind] = isRegular(dir + "/" + name)
		}
		if s, err = w.addRules(dir, s, has); err != nil {
			return s, err
		}
		below := w.root
		if i+1 < len(tops) {
			below = tops[i+1]
		}
		if s.ignored(below, true) {
			return none, nil
		}
	}
	if !s.empty() && s.ignored(w.root+"/\x01", false) {
		return none, nil
	}
	return s, nil
}

// directoriesAbove returns the directories above the root whose ignore files
// count, the topmost first.
func (w *walker) directoriesAbove() []string {
	var above []string
	count := 0
	for dir := w.root; ; {
		if isRepository(dir) {
			count = len(above)
			break
		}
		if len(dir)+1 == w.baseAt {
			count = len(above)
		}
		i := strings.LastIndexByte(dir, '/')
		if i < 0 {
			break
		}
		dir = dir[:i]
		above = append(above, dir)
	}
	above = above[:count]
	slices.Reverse(above)
	return above
}

// isRepository reports whether a directory is the top of a repository.
func isRepository(dir string) bool {
	info, err := os.Stat(dir + "/" + repositoryName) // as git follows a symbolic link
	return err == nil && (info.IsDir() || info.Mode().IsRegular())
}

func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// userRules returns the ignore file of the user, nil without one.
func (w *walker) userRules() (*gitignore.List, error) {
	home, _ := os.UserHomeDir()
	path := userIgnoreFile(home, os.Getenv("XDG_CONFIG_HOME"))
	if path == "" {
		return nil, nil
	}
	// Unlike the files of a tree, those of the user may be symbolic links.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return w.readIgnoreFile(path)
}
