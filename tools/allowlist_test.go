package tools_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

func TestAllowlist(t *testing.T) {
	for _, tt := range []struct {
		rule         tools.AllowRule
		command, dir string
		want         bool
	}{
		{tools.AllowRule{Dir: "/w", Glob: "git *"}, "git log", "/w", true},
		{tools.AllowRule{Dir: "/w", Glob: "git *"}, "git log", "/w/a", false},
		{tools.AllowRule{Dir: "/w/**", Glob: "git *"}, "git log", "/w/a/b", true},
		{tools.AllowRule{Dir: "/w/**", Glob: "git *"}, "git log", "/w", true},
		{tools.AllowRule{Dir: "/w/*", Glob: "*"}, "x", "/w/a/b", false},
		{tools.AllowRule{Dir: "/**", Glob: "cat *"}, "cat a/b/c", "/w", true}, // "/" is ordinary
		{tools.AllowRule{Dir: "/**", Glob: "cat a/?"}, "cat a/b", "/w", true},
		{tools.AllowRule{Dir: "/**", Glob: "cat ?b"}, "cat /b", "/w", true},
		{tools.AllowRule{Dir: "/**", Glob: "GIT *"}, "git log", "/w", false},
		{tools.AllowRule{Dir: "/**", Glob: "git"}, "git log", "/w", false},
		{tools.AllowRule{Dir: "/**", Glob: "{ls,cat} *"}, "cat x", "/w", true},
		{tools.AllowRule{Dir: "/**", Regexp: "ls|cat x"}, "cat x", "/w", true},
		{tools.AllowRule{Dir: "/**", Regexp: "ls|cat"}, "cat x", "/w", false}, // the whole command
		{tools.AllowRule{Dir: "/**", Regexp: "ls"}, "ls\nrm x", "/w", false},
		{tools.AllowRule{Dir: "/**", Regexp: "(?m)^ls$"}, "ls\nrm x", "/w", false},
		{tools.AllowRule{Dir: "/**", Regexp: "LS"}, "ls", "/w", false},
	} {
		authorize, err := tools.Allowlist(tt.rule)
		require.NoError(t, err)
		require.Equal(t, tt.want, authorize(t.Context(), tt.command, tt.dir) == nil, "%+v", tt)
	}
}

func TestAllowlistDenies(t *testing.T) {
	authorize, err := tools.Allowlist(
		tools.AllowRule{Dir: "/w/**", Glob: "git *"},
		tools.AllowRule{Dir: "/a b", Regexp: "ls\n"},
	)
	require.NoError(t, err)
	err = authorize(t.Context(), "secret", "/w")
	var e *framing.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "shell command denied by configured allowlist", e.Error())
	require.Equal(t, 2, len(strings.Split(e.Output, "\n")))
	require.NotContains(t, e.Render(), "secret")

	authorize, err = tools.Allowlist()
	require.NoError(t, err)
	require.Error(t, authorize(t.Context(), "true", "/"), "no rules allow nothing")
}

func TestAllowlistRefusesRules(t *testing.T) {
	long := strings.Repeat("x", tools.MaxAllowPattern+1)
	for want, rule := range map[string]tools.AllowRule{
		"rule 1: exactly one of a glob and a regular expression is needed": {Dir: "/w"},
		"rule 1: the directory is not absolute":                            {Dir: "w", Glob: "*"},
		"rule 1: the directory is not a valid glob":                        {Dir: "/[", Glob: "*"},
		"rule 1: the command is not a valid glob":                          {Dir: "/", Glob: "["},
		"rule 1: a pattern exceeds 2048 bytes":                             {Dir: "/", Glob: long},
	} {
		_, err := tools.Allowlist(rule)
		require.EqualError(t, err, want)
	}
	for _, unbalanced := range []string{"(", "ls)|(?:cat"} { // the second one would not match the whole command
		_, err := tools.Allowlist(tools.AllowRule{Dir: "/", Regexp: unbalanced})
		require.Error(t, err)
	}
	_, err := tools.Allowlist(tools.AllowRule{Dir: "/", Regexp: "a", Glob: "a"})
	require.Error(t, err)
	_, err = tools.Allowlist(make([]tools.AllowRule, 33)...)
	require.EqualError(t, err, "more than 32 rules")
}

func ExampleAllowlist() {
	authorize, err := tools.Allowlist(tools.AllowRule{Dir: "/home/me/project/**", Glob: "go test *"})
	if err != nil {
		panic(err)
	}
	fmt.Println(authorize(context.Background(), "go test ./...", "/home/me/project"))
	var denied *framing.Error
	if errors.As(authorize(context.Background(), "rm -rf .", "/home/me/project"), &denied) {
		fmt.Println(denied.Render())
	}
	// Output:
	// <nil>
	// error: shell command denied by configured allowlist
	//
	// /home/me/project/** glob go test *
}
