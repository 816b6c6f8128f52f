package etcdlock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/dirlock"
)

const instance = "00000000000000000000000000000001"

// busyTable has all kinds of records, on directories in root and on itself.
func busyTable(root string) *dirlock.Table {
	t := dirlock.NewTable()
	limits := dirlock.Limits{MaxWaiters: 10, MaxHeld: 10}
	claim := func(agent dirlock.Owner, manual bool, names ...string) {
		c := dirlock.Claim{Holder: dirlock.Holder{Instance: instance, Agent: agent}, Call: "/c\xff%", Manual: manual}
		for _, name := range names {
			d := dirlock.Dir{Path: filepath.Join(root, name)}
			for range strings.Count(d.Path, string(filepath.Separator)) + 1 {
				d.Chain = append(d.Chain, dirlock.Identity{Device: 1, File: 7}) // all the same, and of no matter
			}
			c.Dirs = append(c.Dirs, d)
		}
		t.Acquire(c, 7, limits)
	}
	claim("A", true, "a")
	claim("A", true, "é%41 \xff")
	claim("B", false, "b", "c/d")
	claim("C", true, "x")
	_, _ = t.ForceUnlock("B", "C", dirlock.Dir{Path: filepath.Join(root, "x")}, 8)
	claim("C", true, "c")
	claim("D", true, "a/b")
	claim("D", true, "a/b/c")
	claim("E", false, "")
	_ = t.Reap(func(string) bool { return true }, 9)
	return t
}

func otherRoots() []string {
	root := os.TempDir()
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	volume := filepath.VolumeName(root)
	under := func(path string) string { return volume + filepath.FromSlash(path) }
	return []string{under("/w"), under("/"), under("/mnt/a%41é/tree"), under("/\xff")}
}

func paths(t *testing.T, table *dirlock.Table) (all []string) {
	t.Helper()
	s := table.Snapshot(9)
	for _, l := range s.Held {
		all = append(all, l.Dirs...)
	}
	for _, w := range s.Waiting {
		all = append(all, w.Dirs...)
	}
	return all
}

// TestHostsSeeTheSameTable stores a table on one host and loads it on another,
// which has the tree elsewhere.
func TestHostsSeeTheSameTable(t *testing.T) {
	roots := otherRoots()
	first := newTree(roots[0])
	stored, err := first.encode(busyTable(roots[0]))
	require.NoError(t, err)
	require.NotContains(t, string(stored), "1:7", "an identity means nothing there")
	require.NotContains(t, string(stored), `/w`)
	require.Contains(t, string(stored), `"c/d"`)
	require.Contains(t, string(stored), `"."`)
	want := paths(t, busyTable(roots[0]))
	require.NotEmpty(t, want)
	for _, root := range roots {
		other := newTree(root)
		table, err := other.decode(stored)
		require.NoError(t, err, root)
		for i, path := range paths(t, table) {
			below, err := filepath.Rel(roots[0], want[i])
			require.NoError(t, err)
			require.Equal(t, filepath.Join(root, below), path)
		}
		again, err := other.encode(table)
		require.NoError(t, err, root)
		require.Equal(t, string(stored), string(again), root)
	}
}

func TestOutsideOfTheRootNothingIsLocked(t *testing.T) {
	roots := otherRoots()
	parent := filepath.Dir(roots[0])
	for _, dir := range []string{parent, filepath.Join(parent, "w2"), filepath.Join(parent, "v", "x")} {
		table := dirlock.NewTable()
		c := dirlock.Claim{Holder: dirlock.Holder{Instance: instance, Agent: "A"}, Manual: true, Dirs: []dirlock.Dir{{Path: dir}}}
		require.Equal(t, dirlock.Granted, table.Acquire(c, 0, dirlock.Limits{MaxWaiters: 1, MaxHeld: 1}).State)
		_, err := newTree(roots[0]).encode(table)
		require.ErrorContains(t, err, "outside the shared root", dir)
	}
}

func TestGarbageIsNoTable(t *testing.T) {
	root := otherRoots()[0]
	tr := newTree(root)
	table := func(dir string) string {
		return fmt.Sprintf(`{"version":1,"epoch":"%s","generation":1,"verdicts":0,"next_id":20,"manual":[`+
			`{"id":1,"token":2,"instance":"%s","agent":"A","dir":%q,"ident":[],"acquired_ms":1,"used_ms":1,"uses":0}]}`, instance, instance, dir)
	}
	_, err := tr.decode([]byte(table("a")))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"nothing":                  "",
		"bytes":                    "\x00\x01",
		"half":                     table("a")[:60],
		"no object":                `[]`,
		"null":                     `null`,
		"an entry of null":         `{"manual":[null]}`,
		"an absolute path":         table("/a"),
		"an empty path":            table(""),
		"a path out of it":         table("../b"),
		"a path that is not clean": table("a/./b"),
		"an unknown member":        strings.Replace(table("a"), `"uses"`, `"users"`, 1),
		"another version":          strings.Replace(table("a"), `"version":1`, `"version":2`, 1),
		"a table of locals":        string(busyTable(root).Encode()),
	} {
		_, err := tr.decode([]byte(text))
		require.ErrorIs(t, err, dirlock.ErrTable, name)
	}
}

// FuzzDecode: what is decoded is a table that this host can store as it was, and
// on no path out of the tree.
func FuzzDecode(f *testing.F) {
	for _, root := range otherRoots() {
		data, err := newTree(root).encode(busyTable(root))
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add(dirlock.NewTable().Encode())
	f.Add([]byte(`{"version":1,"manual":[{"dir":"/"}],"notices":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, root := range otherRoots() {
			tr := newTree(root)
			table, err := tr.decode(data)
			if err != nil {
				require.ErrorIs(t, err, dirlock.ErrTable)
				continue
			}
			for _, path := range paths(t, table) {
				require.True(t, dirlock.Covers(root, path), path)
			}
			stored, err := tr.encode(table)
			require.NoError(t, err)
			again, err := tr.decode(stored)
			require.NoError(t, err)
			twice, err := tr.encode(again)
			require.NoError(t, err)
			require.Equal(t, string(stored), string(twice))
		}
	})
}
