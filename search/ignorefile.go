package search

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/taukit/taukit/search/internal/gitignore"
	"github.com/taukit/taukit/search/internal/rawfs"
)

// rulesOf returns the rules of the directory listed last: those of its own
// ignore files and those of the directories above.
func (w *walker) rulesOf(path string, s ruleset) (ruleset, error) {
	if w.o.Ignores == NoIgnores {
		return s, nil
	}
	var has sources
	for _, e := range w.listed {
		switch {
		case e.Name == "" || e.Name[0] != '.':
		case e.Name == repositoryName:
			has.repository = e.Kind != rawfs.Other || isRepository(path)
		case e.Kind == rawfs.Regular:
			for kind, name := range ignoreNames {
				has.files[kind] = has.files[kind] || e.Name == name
			}
		}
	}
	return w.addRules(path, s, has)
}

// sources are what a directory has that rules come from.
type sources struct {
	files      [ignoreKinds]bool // its ignore files
	repository bool              // it is the top of a repository
}

// addRules adds the rules of a directory.
func (w *walker) addRules(path string, s ruleset, has sources) (ruleset, error) {
	if has == (sources{}) {
		return s, nil
	}
	r := &rules{above: s.rules, at: len(path) + 1, repository: has.repository}
	var err error
	for kind, name := range ignoreNames {
		if has.files[kind] && err == nil {
			r.lists[kind], err = w.readIgnoreFile(path + "/" + name)
		}
	}
	if has.repository && err == nil {
		r.exclude, err = w.readIgnoreFile(excludeFile(path))
	}
	s.rules = r
	return s, err
}

// readIgnoreFile reads one ignore file. It is nil if the file is not there or is
// too large, and if it cannot be read, which is reported. The error is
// errStopped.
func (w *walker) readIgnoreFile(path string) (*gitignore.List, error) {
	data, err := readSmall(path, MaxIgnoreBytes)
	if err != nil {
		if isVanished(err) {
			return nil, nil
		}
		at := 0
		if strings.HasPrefix(path, w.root+"/") {
			at = w.rootAt
		}
		return nil, w.report(path, at, err)
	}
	if list := gitignore.Parse(data); !list.Empty() {
		return list, nil
	}
	return nil, nil
}

// readSmall reads a regular file. One over the limit in bytes counts as empty.
func readSmall(path string, limit int) ([]byte, error) {
	f, err := rawfs.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size() > int64(limit) {
		return nil, nil
	}
	data := make([]byte, 0, f.Size()+1)
	for {
		n, err := f.ReadAt(data[len(data):cap(data)], int64(len(data)))
		data = data[:len(data)+n]
		if err != nil || n == 0 {
			return data, err
		}
		if len(data) > limit {
			return nil, nil
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// excludeFile returns the path of the exclude file of the repository with its
// top in dir. In a linked work tree and a submodule .git is a file that names
// the directory, and that may name the one it shares with others.
func excludeFile(dir string) string {
	git := dir + "/" + repositoryName
	if target, err := filepath.EvalSymlinks(git); err == nil {
		git = filepath.ToSlash(target)
	}
	if data, err := readSmall(git, maxPointerBytes); err == nil {
		git = pointer(git[:strings.LastIndexByte(git, '/')], bytes.TrimPrefix(data, []byte("gitdir: ")))
	}
	if data, err := readSmall(git+"/commondir", maxPointerBytes); err == nil {
		git = pointer(git, data)
	}
	return git + "/info/exclude"
}

// maxPointerBytes is the size of the largest file that names a directory.
const maxPointerBytes = 64 << 10

// pointer returns the path that a file names, which may be relative to dir.
func pointer(dir string, data []byte) string {
	path := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(path) {
		path = dir + "/" + path
	}
	return filepath.ToSlash(path)
}
