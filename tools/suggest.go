package tools

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/levenshtein"
	"github.com/taukit/taukit/tools/workspace"
)

// Limits of a suggestion for a path that was not found.
const (
	maxSiblings     = 64 // entries of the directory
	maxSiblingChars = 80 // characters of a name
)

// suggest returns the path of the one file beside path whose name is nearest.
// It gives up quietly whenever it cannot be sure.
func suggest(ctx context.Context, ws *workspace.Workspace, dir, path string) (string, bool) {
	at := strings.LastIndexAny(path, "/"+string(filepath.Separator)) + 1
	parent, name := path[:at], path[at:]
	if !suggestible(name) {
		return "", false
	}
	if parent == "" {
		parent = "."
	}
	names, err := siblings(ctx, ws, dir, parent)
	if err != nil || slices.Contains(names, name) { // it is there, but leads nowhere
		return "", false
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !suggestible(n) })
	near, ok := levenshtein.Nearest(name, names)
	return path[:at] + near, ok
}

func suggestible(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxSiblingChars
}

// errManySiblings says that a directory has too many entries to look at.
var errManySiblings = errors.New("too many entries")

func siblings(ctx context.Context, ws *workspace.Workspace, dir, parent string) ([]string, error) {
	d, err := ws.OpenDir(ctx, dir, parent)
	if err != nil {
		return nil, err
	}
	defer d.Close() //nolint:errcheck // nothing was written
	names, err := readNames(d, maxSiblings+1)
	if err == nil && len(names) > maxSiblings {
		err = errManySiblings
	}
	return names, err
}

// namesPerCheck is how many names are read between two looks at the context.
const namesPerCheck = 1024

// maxEmptyBatches is how many batches in a row may hold no name before a
// directory counts as broken.
const maxEmptyBatches = 100

// readNames returns the names in a directory, at most limit of them.
func readNames(d workspace.Dir, limit int) ([]string, error) {
	var names []string
	for empty := 0; len(names) < limit; empty++ {
		batch, err := d.ReadNames(min(namesPerCheck, limit-len(names)))
		names = append(names, batch...)
		if errors.Is(err, io.EOF) {
			break
		}
		if len(batch) > 0 {
			empty = 0
		}
		if err == nil && empty == maxEmptyBatches {
			err = io.ErrNoProgress
		}
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
