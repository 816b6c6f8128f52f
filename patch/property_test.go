package patch

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A model is a tree of files that sections change one after the other.
type model struct {
	files map[string]string
	dirs  map[string]bool
	start map[string]bool // files that were there at first
}

func (m *model) put(key, data string) {
	m.files[key] = data
	for dir := path.Dir(key); dir != "/"; dir = path.Dir(dir) {
		m.dirs[dir] = true
	}
}

// vacant returns why a file cannot be made at a key, "" if it can.
func (m *model) vacant(key string) string {
	for dir := path.Dir(key); dir != "/"; dir = path.Dir(dir) {
		if _, ok := m.files[dir]; ok || m.start[dir] {
			return CodeNotDirectory // also if the patch has removed it
		}
	}
	if _, ok := m.files[key]; ok || m.dirs[key] {
		return CodeExists
	}
	return ""
}

// existing returns why there is no file at a key, "" if there is one.
func (m *model) existing(key string) string {
	if code := m.vacant(key); code != CodeExists {
		return map[string]string{"": CodeNotFound, CodeNotDirectory: CodeNotDirectory}[code]
	}
	if m.dirs[key] {
		return CodeIsDirectory
	}
	return ""
}

// apply does a section, whose hunks make the given text of what is there, and
// returns the code of its error.
func (m *model) apply(s Section, text string) string {
	key := path.Join("/", s.Path)
	switch s.Op {
	case Add:
		if code := m.vacant(key); code != "" {
			return code
		}
		m.put(key, text)
	case Delete:
		if code := m.existing(key); code != "" {
			return code
		}
		delete(m.files, key)
	default:
		code := m.existing(key)
		if code != "" && code != CodeNotFound {
			return code
		}
		dest := key
		if s.MoveTo != "" {
			dest = path.Join("/", s.MoveTo)
			if code := m.vacant(dest); code != "" {
				return code
			}
		}
		if code != "" {
			return code
		}
		if len(s.Hunks) == 0 {
			text = m.files[key]
		}
		delete(m.files, key)
		m.put(dest, text)
	}
	return ""
}

var modelPaths = []string{"a", "./b", "c", "d", "d/a", "d/./b", "d/e/a", "/f", "f/x", "b/y"}

func drawLines(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3", "", " x"}), 0, 4).Draw(t, "lines")
}

func join(lines []string) string {
	text := strings.Join(lines, "\n")
	if len(lines) > 0 {
		text += "\n"
	}
	return text
}

// drawSection returns a section and the text that it leaves.
func drawSection(t *rapid.T, m *model) (Section, string) {
	s := Section{Op: rapid.SampledFrom([]Op{Add, Delete, Update, Update}).Draw(t, "op")}
	s.Path = rapid.SampledFrom(modelPaths).Draw(t, "path")
	if s.Op != Add && len(m.files) > 0 && rapid.IntRange(0, 9).Draw(t, "known") > 0 {
		s.Path = rapid.SampledFrom(slices.Sorted(maps.Keys(m.files))).Draw(t, "file")[1:]
	}
	lines := drawLines(t)
	switch s.Op {
	case Add:
		s.Lines = lines
	case Update:
		if rapid.IntRange(0, 2).Draw(t, "move") == 0 {
			s.MoveTo = rapid.SampledFrom(modelPaths).Draw(t, "to")
		}
		var old []string
		if data := m.files[path.Join("/", s.Path)]; data != "" {
			old = strings.Split(strings.TrimSuffix(data, "\n"), "\n")
		}
		if len(old)+len(lines) > 0 && (s.MoveTo == "" || rapid.Bool().Draw(t, "change")) {
			s.Hunks = []Hunk{diffHunk(old, lines)}
		} else if s.MoveTo == "" {
			s = Section{Op: Delete, Path: s.Path}
		}
	}
	return s, join(lines)
}

func TestRandomTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{map[string]string{}, map[string]bool{}, map[string]bool{}}
		for _, name := range []string{"a", "b", "d/a", "f"} {
			if rapid.Bool().Draw(t, "exists") {
				m.put("/"+name, join(drawLines(t)))
			}
		}
		start := maps.Clone(m.files)
		for key := range start {
			m.start[key] = true
		}
		atomic, sequential := NewMem(start), NewMem(start)
		clean, before := entries(atomic), contents(atomic)

		p := &Patch{}
		code := ""
		for range rapid.IntRange(1, 6).Draw(t, "sections") {
			s, text := drawSection(t, m)
			p.Sections = append(p.Sections, s)
			if code = m.apply(s, text); code != "" {
				break
			}
		}
		parsed, err := Parse(p.String())
		if err != nil {
			t.Fatal(err)
		}

		result, err := Apply(t.Context(), sequential, parsed, Options{Mode: Sequential})
		require.Equal(t, code, codeOf(err), "%s%v", p, err)
		require.Equal(t, m.files, sequential.Files(), "%s", p)
		checkDifference(t, before, contents(sequential), result.Changes)

		result, err = Apply(t.Context(), atomic, parsed, Options{})
		require.Equal(t, code, codeOf(err), "%s%v", p, err)
		if code != "" {
			require.Equal(t, clean, entries(atomic))
			return
		}
		require.Equal(t, m.files, atomic.Files(), "%s", p)
		checkDifference(t, before, contents(atomic), result.Changes)
	})
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return err.(*Error).Code //nolint:errorlint // nothing else may be returned
}

// TestRandomMutations changes a byte or a line of a patch, which then applies or
// is refused without any effect.
func TestRandomMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	applied, refused, invalid := 0, 0, 0
	for range 8000 {
		lines := strings.Split(everything, "\n")
		for range 1 + r.IntN(2) {
			i, j := r.IntN(len(lines)), r.IntN(len(lines))
			switch r.IntN(5) {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines = slices.Insert(lines, i, lines[j])
			case 2:
				lines[i], lines[j] = lines[j], lines[i]
			default:
				line := []byte(lines[i])
				if len(line) > 0 {
					line[r.IntN(len(line))] = pick(r, []byte(" +-@*a/.\x00\t1"))
				}
				lines[i] = string(line)
			}
		}
		m := everythingTree()
		clean, before := entries(m), contents(m)
		p, err := Parse(strings.Join(lines, "\n"))
		if err != nil {
			invalid++
			continue
		}
		result, err := Apply(t.Context(), m, p, Options{})
		if err != nil {
			refused++
			require.Equal(t, clean, entries(m))
			require.Empty(t, result)
			continue
		}
		applied++
		checkDifference(t, before, contents(m), result.Changes)
		require.Equal(t, before["/bystander"], contents(m)["/bystander"])
	}
	for _, count := range []int{applied, refused, invalid} {
		require.Greater(t, count, 500)
	}
}
