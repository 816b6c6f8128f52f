package search

import (
	"path/filepath"
	"strings"
)

// maxConfigBytes is the size of the largest git configuration that is read.
const maxConfigBytes = 1 << 20

// userIgnoreFile returns the path of the user's ignore file: core.excludesFile
// of the git configuration, or its default. It is "" if there is none.
func userIgnoreFile(home, configHome string) string {
	if configHome == "" && home != "" {
		configHome = filepath.Join(home, ".config")
	}
	if configHome == "" {
		return ""
	}
	path := filepath.Join(configHome, "git", "ignore")
	configs := []string{filepath.Join(configHome, "git", "config"), filepath.Join(home, ".gitconfig")}
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
		line, config, _ = strings.Cut(config, "\n")
		for continues(line) && config != "" {
			var next string
			next, config, _ = strings.Cut(config, "\n")
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\r"), `\`) + next
		}
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

// continues reports whether a line of a configuration goes on in the next one:
// it ends in a backslash that no other one escapes.
func continues(line string) bool {
	line = strings.TrimSuffix(line, "\r")
	bare := strings.TrimRight(line, `\`)
	return (len(line)-len(bare))%2 == 1
}

// unquoteConfig returns the value that a text in a git configuration stands
// for.
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
		case !quoted && (c == '#' || c == ';'):
			return value.String()[:kept]
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
