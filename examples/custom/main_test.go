package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/tools"
)

func TestCustom(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example\n\ngo 1.26\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Error(\"error: not a header\") }\nfunc TestB(*testing.T) {}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Setenv("GOFLAGS", "-mod=mod") // whatever the tests themselves run with
	answer := true
	handler, err := newHandler(dir, func(string) bool { return answer })
	require.NoError(t, err)
	call := func(tool, arguments string) string {
		return handler(t.Context(), tools.Call{Agent: "main", Tool: tool, Arguments: []byte(arguments)}).Text
	}

	require.Regexp(t, `(?s)^ended_by: exit\nstatus: 1\n\n.*\nout     a_test.go:5: error: not a header\n`, call("go_test", `{}`))
	require.Regexp(t, `^ended_by: exit\nstatus: 0\n\nout ok `, call("go_test", `{"run": "TestB"}`))

	answer = false
	require.Equal(t, "error: the user said no", call("go_test", `{}`), "tests can do anything")
	edit := `{"path": "a_test.go", "edits": [{"oldText": "t.Error(\"error: not a header\")", "newText": ""}]}`
	require.Equal(t, "error: the user said no", call("edit", edit))
	answer = true
	require.Contains(t, call("edit", edit), "read the file, then retry")
	call("read", `{"path": "a_test.go"}`)
	require.Contains(t, call("edit", edit), "changed: true")
	require.Contains(t, call("go_test", `{}`), "status: 0")
}
