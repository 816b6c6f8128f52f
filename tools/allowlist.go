package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
)

// Limits of an [Allowlist].
const (
	MaxAllowRules   = 32
	MaxAllowPattern = 2048 // bytes of a pattern
)

// An AllowRule allows commands in directories.
type AllowRule struct {
	// Dir is a glob that the whole canonical directory must match, such as
	// "/home/me/project/**".
	Dir string
	// Exactly one of Glob and Regexp says which commands: a glob, to which "/" is
	// a character like any other, or a regular expression (RE2). It must match
	// the whole command, upper and lower case as they are.
	Glob, Regexp string
}

// Allowlist returns a function for [ShellConfig].Authorize that allows a command
// if one of the rules matches both the command and its directory; no rules allow
// nothing. It guards against accidents: it does not know what a shell makes of a
// command. The error is about the rules.
func Allowlist(rules ...AllowRule) (func(ctx context.Context, command, dir string) error, error) {
	if len(rules) > MaxAllowRules {
		return nil, fmt.Errorf("more than %d rules", MaxAllowRules)
	}
	list := make([]allowRule, len(rules))
	shown := make([]string, len(rules))
	for i, rule := range rules {
		var err error
		if list[i], err = rule.compile(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		shown[i] = rule.String()
	}
	denied := &framing.Error{
		Code:    CodeShellDenied,
		Message: "shell command denied by configured allowlist",
		Output:  strings.Join(shown, "\n"),
	}
	return func(_ context.Context, command, dir string) error {
		for _, rule := range list {
			if rule.allows(command, dir) {
				return nil
			}
		}
		return denied
	}, nil
}

// String returns the rule in one line of escaped fields.
func (r AllowRule) String() string {
	kind, pattern := "glob", r.Glob
	if r.Regexp != "" {
		kind, pattern = "regexp", r.Regexp
	}
	return framing.Record(escape.Path(r.Dir), kind, escape.Path(pattern))
}

// An allowRule is a rule that is ready to be used.
type allowRule struct {
	dir    string
	glob   string
	regexp *regexp.Regexp // nil if there is a glob
}

func (r AllowRule) compile() (allowRule, error) {
	switch {
	case (r.Glob == "") == (r.Regexp == ""):
		return allowRule{}, errors.New("exactly one of a glob and a regular expression is needed")
	case max(len(r.Dir), len(r.Glob), len(r.Regexp)) > MaxAllowPattern:
		return allowRule{}, fmt.Errorf("a pattern exceeds %d bytes", MaxAllowPattern)
	case !filepath.IsAbs(r.Dir):
		return allowRule{}, errors.New("the directory is not absolute")
	case !doublestar.ValidatePattern(r.Dir):
		return allowRule{}, errors.New("the directory is not a valid glob")
	case !doublestar.ValidatePattern(withoutSlashes(r.Glob)):
		return allowRule{}, errors.New("the command is not a valid glob")
	}
	rule := allowRule{dir: r.Dir, glob: withoutSlashes(r.Glob)}
	if r.Regexp != "" {
		_, err := regexp.Compile(r.Regexp) // alone: "a)|(?:b" is none
		if err != nil {
			return allowRule{}, err
		}
		if rule.regexp, err = regexp.Compile(`\A(?:` + r.Regexp + `)\z`); err != nil {
			return allowRule{}, err
		}
	}
	return rule, nil
}

func (r allowRule) allows(command, dir string) bool {
	if !doublestar.MatchUnvalidated(r.dir, dir) {
		return false
	}
	if r.regexp != nil {
		return r.regexp.MatchString(command)
	}
	return doublestar.MatchUnvalidated(r.glob, withoutSlashes(command))
}

// withoutSlashes puts NUL, which no command has, in the place of "/", at which a
// glob would stop.
func withoutSlashes(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
