package discovery

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxFrontMatterBytes is within how many bytes of a file its front matter must
// close.
const MaxFrontMatterBytes = 64 << 10

// maxReasonBytes cuts what a parser has to say.
const maxReasonBytes = 200

var (
	errNoFrontMatter = errors.New("it has no front matter")
	errNotClosed     = fmt.Errorf("front matter does not close within %d bytes", MaxFrontMatterBytes)
	errNotUTF8       = errors.New("front matter is not valid UTF-8")
	errNoMapping     = errors.New("front matter is not a mapping")
	errKey           = errors.New("front matter has a key that is not a scalar")
	errDescription   = errors.New("description is missing")
	errName          = errors.New("name must consist of a-z, 0-9 and -")
)

// parseSkill returns the skill that a file begins with; begin is the file up to
// one byte more than front matter may have. The name is the one of the front
// matter, or else the given one.
func parseSkill(begin []byte, name string) (Skill, error) {
	front, err := frontMatter(begin)
	if err != nil {
		return Skill{}, err
	}
	root, err := parseYAML(front)
	if err != nil {
		return Skill{}, err
	}
	skill := Skill{Name: name}
	source := strings.Split(string(front), "\n")
	seen := map[string]bool{}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			return Skill{}, errKey
		case seen[key.Value]:
			return Skill{}, fmt.Errorf("front matter has the key %s twice", shorten(key.Value))
		}
		seen[key.Value] = true
		if err := skill.set(key.Value, value, text(root, i, source)); err != nil {
			return Skill{}, err
		}
	}
	switch {
	case strings.TrimSpace(skill.Description) == "":
		return Skill{}, errDescription
	case skill.Name == "" || strings.Trim(skill.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return Skill{}, errName
	}
	return skill, nil
}

// set takes over one key of the front matter.
func (s *Skill) set(key string, value *yaml.Node, source string) error {
	scalar, ok := scalarOf(value)
	switch key {
	case "name":
		switch {
		case ok:
			s.Name = scalar
		case value.Tag != "!!null": // which says as little as no name
			return errName
		}
	case "description":
		if !ok {
			return errDescription
		}
		s.Description = scalar
	default:
		if !ok {
			scalar = source
		}
		s.fields = append(s.fields, field{key, scalar})
	}
	return nil
}

// scalarOf returns the text of a scalar that is not null.
func scalarOf(n *yaml.Node) (string, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n.Value, n.Kind == yaml.ScalarNode && n.Tag != "!!null"
}

// frontMatter returns what is between the line --- that a file begins with and
// the next one.
func frontMatter(begin []byte) ([]byte, error) {
	all := len(begin) <= MaxFrontMatterBytes // of the file
	begin = bytes.TrimPrefix(begin, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(begin, []byte("\n"))
	if !isFence(first) {
		return nil, errNoFrontMatter
	}
	for at := 0; at < len(rest); {
		line, _, ended := bytes.Cut(rest[at:], []byte("\n"))
		if (ended || all) && isFence(line) {
			front := rest[:at]
			if !utf8.Valid(front) {
				return nil, errNotUTF8
			}
			return front, nil
		}
		at += len(line) + 1
	}
	return nil, errNotClosed
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }

// parseYAML returns the mapping that the text is. Aliases stay what they are:
// nothing is expanded.
func parseYAML(front []byte) (root *yaml.Node, err error) {
	defer func() {
		if recover() != nil { // of the parser, on hostile input
			root, err = nil, errors.New("front matter is not YAML")
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(front, &doc); err != nil {
		reason, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), "\n")
		return nil, fmt.Errorf("front matter is not YAML: %s", shorten(reason))
	}
	switch {
	case doc.Kind == 0: // nothing but comments
		return nil, errDescription
	case doc.Content[0].Kind != yaml.MappingNode:
		return nil, errNoMapping
	}
	return doc.Content[0], nil
}

// text returns the source of value i of a mapping, without comments around it
// being told apart. In a mapping in braces it is not known where a value ends.
func text(root *yaml.Node, i int, source []string) string {
	key, value := root.Content[i], root.Content[i+1]
	if root.Style&yaml.FlowStyle != 0 || value.Kind == yaml.ScalarNode || value.Kind == yaml.AliasNode {
		return ""
	}
	end := len(source)
	if i+2 < len(root.Content) {
		end = root.Content[i+2].Line - 1
	}
	if value.Line < 1 || value.Line > end || end > len(source) {
		return ""
	}
	lines := append([]string(nil), source[value.Line-1:end]...)
	if value.Line == key.Line {
		first := []rune(lines[0])
		lines[0] = string(first[min(max(value.Column-1, 0), len(first)):])
	}
	return strings.TrimRight(strings.Join(lines, "\n"), " \t\r\n")
}

// shorten cuts s at a character boundary.
func shorten(s string) string {
	if len(s) <= maxReasonBytes {
		return s
	}
	n := maxReasonBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
