package proc

import (
	"errors"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Environ returns an environment, sorted by name: base without the names in
// drop, then set. An entry of drop that ends in "*" drops all names with that
// prefix; an empty value in set removes its name. Entries of base that are not
// "NAME=VALUE" are left out, and of two with one name the last one counts.
func Environ(base []string, set map[string]string, drop []string) []string {
	vars := make(map[string]string, len(base)+len(set))
	for _, entry := range base {
		if name, value, ok := cutEntry(entry); ok && !dropped(drop, name) {
			vars[name] = value
		}
	}
	for name, value := range set {
		if value == "" {
			delete(vars, name)
		} else {
			vars[name] = value
		}
	}
	env := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}

// cutEntry cuts "NAME=VALUE". Windows has names that start with "=".
func cutEntry(entry string) (name, value string, ok bool) {
	if entry == "" {
		return "", "", false
	}
	i := strings.IndexByte(entry[1:], '=') + 1
	if i == 0 {
		return "", "", false
	}
	return entry[:i], entry[i+1:], true
}

func dropped(drop []string, name string) bool {
	return slices.ContainsFunc(drop, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == pattern
	})
}

// Lookup returns the value of a name in an environment: the last one.
func Lookup(env []string, name string) (string, bool) {
	for _, entry := range slices.Backward(env) {
		if n, value, ok := cutEntry(entry); ok && n == name {
			return value, true
		}
	}
	return "", false
}

// NonInteractive returns the variables that keep common programs from waiting
// for a person who is not there, and from colours: without a terminal, a pager,
// an editor or a prompt can only hang.
func NonInteractive() map[string]string {
	return map[string]string{
		"NO_COLOR":            "1",
		"CLICOLOR":            "0",
		"GIT_TERMINAL_PROMPT": "0",
		"GIT_EDITOR":          "true",
		"SSH_ASKPASS_REQUIRE": "never",
		"DEBIAN_FRONTEND":     "noninteractive",
	}
}

// NoPager returns the variables that make common programs print without a
// pager.
func NoPager() map[string]string {
	return map[string]string{
		"PAGER":         "cat",
		"GIT_PAGER":     "cat",
		"GH_PAGER":      "cat",
		"JJ_PAGER":      "cat",
		"SYSTEMD_PAGER": "cat",
		"MANPAGER":      "cat",
	}
}

// lookPath returns the path of a program, looked up in the PATH of env if name
// has no slash. What has the name of a program but is none is passed over, as
// shells do; if there is nothing else, that is the error.
func lookPath(name string, env []string) (string, error) {
	if name != filepath.Base(name) {
		return name, nil
	}
	err := error(&exec.Error{Name: name, Err: syscall.ENOENT})
	path, _ := Lookup(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, failure := exec.LookPath(filepath.Join(dir, name))
		if failure == nil {
			return found, nil
		}
		if !errors.Is(failure, fs.ErrNotExist) {
			err = failure
		}
	}
	return "", err
}
