package discovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/tools/discovery"
)

// BenchmarkProject scans a project with 1,000 skills and their front matter,
// relative to reading their files ("x-base").
func BenchmarkProject(b *testing.B) {
	files := map[string]string{"AGENTS.md": "rules\n"}
	var paths []string
	for i := range discovery.MaxSkills {
		name := fmt.Sprintf(".agents/skills/skill-%03d/SKILL.md", i)
		files[name] = fmt.Sprintf("---\nname: skill-%03d\ndescription: What it is for, and when it is to be used\nlicense: MIT\n---\n# Title\n\nBody\n", i)
		paths = append(paths, name)
	}
	root := tree(b, files)
	f := discovery.New(discovery.Options{})
	ratio.Run(b, func() {
		for _, path := range paths {
			_, err := os.ReadFile(filepath.Join(root, path))
			require.NoError(b, err)
		}
	}, func() {
		scope, err := f.Project(b.Context(), root)
		require.NoError(b, err)
		require.Len(b, scope.Skills(), discovery.MaxSkills)
	})
}
