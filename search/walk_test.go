package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWalkOrder(t *testing.T) {
	noUser(t)
	root := tree(t, "B/x.txt", "", "a.txt", "", "a/y.txt", "", "b.txt", "", "a-b/z.txt", "", "a0", "", "Zeta", "", "É", "", "é", "", "zz", "", "\xffn", "")
	want := []string{"a-b/z.txt", "a.txt", "a/y.txt", "a0", "b.txt", "B/x.txt", "Zeta", "zz", "É", "é", "\xffn"}
	require.Equal(t, want, walk(t, WalkOptions{Root: root}))
}

func TestWalkOrderIsThatOfWholePathsInLowerCase(t *testing.T) {
	noUser(t)
	r := rand.New(rand.NewPCG(31, 32))
	for range 8 {
		var files []string
		taken := map[string]bool{}
		for range 40 {
			path := pick(r, []string{"a", "A", "b", "B", "-", ".x", "0", "/", "/", "_"}, 1+r.IntN(8))
			path = strings.Trim(path, "/")
			key := strings.ToLower(path)
			clash := path == "" || strings.Contains(path, "//")
			for other := range taken { // neither twice nor both file and directory
				clash = clash || other == key || strings.HasPrefix(other, key+"/") || strings.HasPrefix(key, other+"/")
			}
			if !clash {
				taken[key] = true
				files = append(files, path, "")
			}
		}
		paths := walk(t, WalkOptions{Root: tree(t, files...)})
		require.Len(t, paths, len(files)/2)
		require.True(t, slices.IsSortedFunc(paths, func(a, b string) int {
			// What a directory holds lies together even if two directories
			// differ in case alone.
			return strings.Compare(strings.ToLower(a), strings.ToLower(b))
		}), "%q", paths)
	}
}

func TestWalkOrderIsNotThatOfDirectories(t *testing.T) {
	noUser(t)
	var paths []string
	for i := range 200 {
		paths = append(paths, fmt.Sprintf("d%d/%d", i%7, i))
	}
	var want []string
	for seed := range 5 {
		r := rand.New(rand.NewPCG(uint64(seed), 33))
		r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		var files []string
		for _, path := range paths {
			files = append(files, path, "")
		}
		got := walk(t, WalkOptions{Root: tree(t, files...)})
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
	}
}

func TestWalkGivesRegularFiles(t *testing.T) {
	noUser(t)
	root := tree(t, ".env", "", ".github/w.yml", "", "real/t.txt", "", ".git/config", "", ".hg/x", "", ".svn/x", "", ".jj/x", "", "sub/.git", "gitdir: x", "sub/.git2", "")
	for link, target := range map[string]string{"l.txt": "real/t.txt", "ld": "real", "loop": ".", "self": "self", "gone": "nothing"} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}
	require.Equal(t, []string{".env", ".github/w.yml", "real/t.txt", "sub/.git2"}, walk(t, WalkOptions{Root: root}))

	require.Equal(t, []string{"config"}, walk(t, WalkOptions{Root: root + "/.git"}), "the root is a version-control directory")
	require.Equal(t, []string{"t.txt"}, walk(t, WalkOptions{Root: root + "/ld"}), "a symbolic link as the root")
}

func TestWalkErrors(t *testing.T) {
	root := tree(t, "a.txt", "")
	for _, tt := range []struct {
		rule, root string
		is         error
	}{
		{"not there", "gone", fs.ErrNotExist},
		{"a file", "a.txt", ErrNotDirectory},
		{"below a file", "a.txt/b", nil},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			calls := 0
			for path, err := range Walk(t.Context(), WalkOptions{Root: filepath.Join(root, tt.root)}) {
				calls++
				require.Empty(t, path)
				var e *fs.PathError
				require.ErrorAs(t, err, &e)
				require.Equal(t, filepath.Join(root, tt.root), e.Path)
				if tt.is != nil {
					require.ErrorIs(t, err, tt.is)
				}
			}
			require.Equal(t, 1, calls)
		})
	}
}

func TestWalkIsCancelled(t *testing.T) {
	noUser(t)
	root := tree(t, "a/x", "", "b/x", "")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var got []string
	for path, err := range Walk(ctx, WalkOptions{Root: root}) {
		if err != nil {
			require.Equal(t, cause, err)
			got = append(got, "error")
			continue
		}
		got = append(got, path)
		cancel(cause)
	}
	require.Equal(t, []string{"a/x", "error"}, got)
	for _, err := range Walk(ctx, WalkOptions{Root: root}) {
		require.Equal(t, cause, err)
	}
}

func TestWalkStopsWithTheLoop(t *testing.T) {
	noUser(t)
	for path := range Walk(t.Context(), WalkOptions{Root: tree(t, "a", "", "d/b", "", "e", "")}) {
		if path == "d/b" {
			break
		}
	}
}

func TestGlobAndFilterOfAWalk(t *testing.T) {
	noUser(t)
	root := tree(t, ".gitignore", "debug.log\nout/\n", "debug.log", "", "a.go", "", "out/debug.log", "", "src/b.go", "", "src/c.ts", "", "src/deep/d.ts", "", "src/x/c.go", "")
	src := filepath.Join(root, "src")
	for _, tt := range []struct {
		rule string
		o    WalkOptions
		want []string
	}{
		{"a name", WalkOptions{Root: root, Glob: mustGlob(t, "*.go")}, []string{"a.go", "src/b.go", "src/x/c.go"}},
		{"a path", WalkOptions{Root: root, Glob: mustGlob(t, "src/*.go")}, []string{"src/b.go"}},
		{"a literal prefix", WalkOptions{Root: root, Glob: mustGlob(t, "src/x/*")}, []string{"src/x/c.go"}},
		{"a literal path", WalkOptions{Root: root, Glob: mustGlob(t, "./src/b.go")}, []string{"src/b.go"}},
		{"a prefix that is ignored", WalkOptions{Root: root, Glob: mustGlob(t, "out/*")}, nil},
		{"a glob outranks nothing", WalkOptions{Root: root, Glob: mustGlob(t, "debug.log")}, nil},
		{"a filter outranks for files", WalkOptions{Root: root, Filter: mustFilter(t, "debug.log")}, []string{"debug.log"}},
		{"one that names nothing does not", WalkOptions{Root: root, Filter: mustFilter(t, "**/*.*g")}, []string{"debug.log"}},
		{"one of wildcards does not", WalkOptions{Root: root, Filter: mustFilter(t, "*.*")}, []string{".gitignore", "a.go", "src/b.go", "src/c.ts", "src/deep/d.ts", "src/x/c.go"}},
		{"a filter leaves directories out", WalkOptions{Root: root, Filter: mustFilter(t, "!x/")}, []string{".gitignore", "a.go", "src/b.go", "src/c.ts", "src/deep/d.ts"}},
		{"a filter relative to the base", WalkOptions{Root: src, Base: root, Filter: mustFilter(t, "src/*.ts")}, []string{"c.ts"}},
		{"a filter relative to the root", WalkOptions{Root: src, Base: root, Filter: mustFilter(t, "deep/*")}, []string{"deep/d.ts"}},
		{"both", WalkOptions{Root: root, Glob: mustGlob(t, "*.go"), Filter: mustFilter(t, "!src/")}, []string{"a.go"}},
	} {
		t.Run(tt.rule, func(t *testing.T) { require.Equal(t, tt.want, walk(t, tt.o)) })
	}
}

func TestWideAndDeepTrees(t *testing.T) {
	noUser(t)
	root := t.TempDir()
	wide, deep := filepath.Join(root, "wide"), filepath.Join(root, "deep")
	require.NoError(t, os.Mkdir(wide, 0o700))
	const files = 5_000
	for i := range files {
		f, err := os.Create(filepath.Join(wide, fmt.Sprintf("%d", i)))
		require.NoError(t, err)
		f.Close()
	}
	paths := walk(t, WalkOptions{Root: wide})
	require.Len(t, paths, files)
	require.True(t, slices.IsSorted(paths))

	const depth = 1000
	path := deep + strings.Repeat("/d", depth)
	require.NoError(t, os.MkdirAll(path, 0o700))
	require.NoError(t, os.WriteFile(path+"/f", nil, 0o600))
	require.Equal(t, []string{strings.Repeat("d/", depth) + "f"}, walk(t, WalkOptions{Root: deep}))
}
