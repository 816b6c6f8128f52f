package tools

import (
	"context"
	"errors"
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
	entries, err := readEntries(d, maxSiblings+1)
	if err != nil {
		return nil, err
	}
	if len(entries) > maxSiblings {
		return nil, errManySiblings
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}
