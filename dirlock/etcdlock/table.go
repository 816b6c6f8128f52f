package etcdlock

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/dirlock"
)

// A tree maps the tables of this host to what is stored. That is the same JSON,
// but paths are relative to the root, with slashes, "." for the root itself; and
// the identities of directories, which mean nothing on another host, are left
// out. In JSON, paths are escaped, byte by byte; so is the root here.
type tree struct {
	root   string
	prefix string // of what is below it
}

func newTree(root string) tree {
	root = escapePath(root)
	return tree{root, strings.TrimSuffix(root, string(filepath.Separator)) + string(filepath.Separator)}
}

// encode fails for a lock on a directory that is not in the tree.
func (t tree) encode(table *dirlock.Table) ([]byte, error) {
	return rewrite(table.Encode(), t.store)
}

// decode fails with [dirlock.ErrTable] for what is no stored table.
func (t tree) decode(data []byte) (*dirlock.Table, error) {
	local, err := rewrite(data, t.load)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dirlock.ErrTable, err)
	}
	return dirlock.DecodeTable(local)
}

func (t tree) store(path string) (string, error) {
	if path == t.root {
		return ".", nil
	}
	below, ok := strings.CutPrefix(path, t.prefix)
	if !ok {
		return "", fmt.Errorf("directory %q is outside the shared root %q", path, t.root)
	}
	return filepath.ToSlash(below), nil
}

// load leaves it to [dirlock.DecodeTable] to refuse what is not canonical then.
func (t tree) load(path string) (string, error) {
	if path == "." {
		return t.root, nil
	}
	if path == "" || filepath.Separator != '/' && strings.ContainsRune(path, filepath.Separator) {
		return "", fmt.Errorf("path %q cannot be on this host", path)
	}
	return t.prefix + filepath.FromSlash(path), nil
}

// The parts of the JSON of a table that have paths; what else there is stays as
// it is.
type (
	tableJSON struct {
		Manual  []*entryJSON   `json:"manual"`
		Auto    []*entryJSON   `json:"auto"`
		Waiters []*entryJSON   `json:"waiters"`
		Notices []*entryJSON   `json:"notices"`
		Rest    jsontext.Value `json:",embed"`
	}
	entryJSON struct {
		Dir     *string        `json:"dir,omitzero"`
		Dirs    []string       `json:"dirs,omitzero"`
		Ident   jsontext.Value `json:"ident"`
		Refused *refusalJSON   `json:"refused,omitzero"`
		Rest    jsontext.Value `json:",embed"`
	}
	refusalJSON struct {
		Directory *string        `json:"directory,omitzero"`
		Held      *string        `json:"held,omitzero"`
		Rest      jsontext.Value `json:",embed"`
	}
)

// rewrite replaces the paths in the JSON of a table, and drops the identities.
func rewrite(data []byte, rename func(string) (string, error)) ([]byte, error) {
	var table tableJSON
	if err := json.Unmarshal(data, &table); err != nil {
		return nil, err
	}
	for _, list := range [][]*entryJSON{table.Manual, table.Auto, table.Waiters, table.Notices} {
		for _, entry := range list {
			if entry == nil {
				return nil, fmt.Errorf("an entry that is null")
			}
			entry.dropIdentities()
			for path := range entry.paths {
				var err error
				if *path, err = rename(*path); err != nil {
					return nil, err
				}
			}
		}
	}
	return json.Marshal(&table)
}

// dropIdentities leaves as many lists of them as the entry needs.
func (e *entryJSON) dropIdentities() {
	e.Ident = jsontext.Value("[]")
	if len(e.Dirs) > 0 {
		e.Ident = jsontext.Value("[" + strings.Repeat("[],", len(e.Dirs)-1) + "[]]")
	}
}

// paths yields where the paths of the entry are.
func (e *entryJSON) paths(yield func(*string) bool) {
	all := []*string{e.Dir}
	for i := range e.Dirs {
		all = append(all, &e.Dirs[i])
	}
	if e.Refused != nil {
		all = append(all, e.Refused.Directory, e.Refused.Held)
	}
	for _, path := range all {
		if path != nil && !yield(path) {
			return
		}
	}
}

// escapePath escapes a path as the JSON of a table does.
func escapePath(path string) string {
	if utf8.ValidString(path) && !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i, r := range path {
		_, size := utf8.DecodeRuneInString(path[i:])
		if r == '%' || r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02x", path[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
