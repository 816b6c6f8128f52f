package search

import (
	"path/filepath"
	"strings"
)

// maxConfigBytes is the size of the largest git configuration that is read.
const maxConfigBytes = 1 << 20

// userIgnoreFile returns the path of the user's ignore file: core.excludesFile
// of the git configuration, or its default. It is "" if there is none.
// Neither home nor configHome counts if it is not absolute.
func userIgnoreFile(home, configHome string) string {
	if !filepath.IsAbs(home) {
		home = ""
	}
	if !filepath.IsAbs(configHome) {
		configHome = ""
	}
	if configHome == "" && home != "" {
		configHome = filepath.Join(home, ".config")
	}
	if configHome == "" {
		return ""
	}
	path := filepath.Join(configHome, "git", "ignore")
	configs := []string{filepath.Join(configHome, "git", "config")}
	if home != "" {
		configs = append(configs, filepath.Join(home, ".gitconfig"))
	}
	for _, config := range configs { // the last one that sets it counts
		real, err := filepath.EvalSymlinks(config)
		if err != nil {
			continue
		}
		data, err := readSmall(real, maxConfigBytes)
		if err != nil {
			continue
		}
		if value, ok := excludesFile(string(data)); ok {
			path = value
		}
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		return "" // relative to what, nobody says
	}
	return path
}

// excludesFile returns the value of core.excludesFile in a git configuration,
// the last one if there are several. Other files that it includes are not read.
func excludesFile(config string) (value string, ok bool) {
	core := false
	for config != "" {
		var line string
		line, config = configLine(config)
		line = strings.TrimSpace(line)
		if section, isSection := strings.CutPrefix(line, "["); isSection {
			var rest string
			section, rest, _ = strings.Cut(section, "]")
			core = strings.EqualFold(strings.TrimSpace(section), "core")
			line = strings.TrimSpace(rest)
		}
		key, text, found := strings.Cut(line, "=")
		if core && found && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			value, ok = unquoteConfig(strings.TrimSpace(text)), true
		}
	}
	return value, ok
}

// configLine returns the first line of a configuration without its comment, and
// what is behind it. A backslash at the end of a line makes it go on in the next
// one, but not in a comment.
func configLine(config string) (line, rest string) {
	var b strings.Builder
	quoted, comment := false, false
	for i := 0; i < len(config); i++ {
		switch c := config[i]; {
		case c == '\n':
			return b.String(), config[i+1:]
		case comment:
		case c == '\\' && strings.HasPrefix(config[i+1:], "\n"):
			i++
		case c == '\\' && strings.HasPrefix(config[i+1:], "\r\n"):
			i += 2
		case c == '\\' && i+1 < len(config):
			b.WriteString(config[i : i+2])
			i++
		case !quoted && (c == '#' || c == ';'):
			comment = true
		default:
			quoted = quoted != (c == '"')
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// unquoteConfig returns the value that a text in a git configuration, without
// comments, stands for.
func unquoteConfig(text string) string {
	var value strings.Builder
	quoted := false
	kept := 0 // spaces at the end that are not quoted are dropped
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
			kept = value.Len()
			continue
		case c == '\\' && i+1 < len(text):
			i++
			c = text[i]
			switch c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			}
			value.WriteByte(c)
		case !quoted && (c == ' ' || c == '\t'):
			value.WriteByte(c)
			continue
		default:
			value.WriteByte(c)
		}
		kept = value.Len()
	}
	return value.String()[:kept]
}
