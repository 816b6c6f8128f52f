package rawfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func list(t *testing.T, l *Lister, dir string) (entries, portable []Entry) {
	t.Helper()
	byName := func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }
	entries, err := l.List(nil, dir)
	require.NoError(t, err)
	portable, err = listPortably(nil, dir)
	require.NoError(t, err)
	slices.SortFunc(entries, byName)
	slices.SortFunc(portable, byName)
	return entries, portable
}

func TestListTellsNamesAndKinds(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".f"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "..."), nil, 0o600))
	require.NoError(t, os.Symlink("d", filepath.Join(dir, "l")))
	var l Lister
	entries, portable := list(t, &l, dir)
	require.Equal(t, []Entry{{"...", Regular}, {".f", Regular}, {"d", Directory}, {"l", Other}}, entries)
	require.Equal(t, entries, portable)

	appended, err := l.List([]Entry{{"x", Other}}, filepath.Join(dir, "d"))
	require.NoError(t, err)
	require.Equal(t, []Entry{{"x", Other}}, appended)
}

func TestListOfManyEntries(t *testing.T) {
	dir := t.TempDir()
	const n = 5000
	for i := range n {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.Repeat("é", i%100)+strconv.Itoa(i)), nil, 0o600))
	}
	var l Lister
	entries, portable := list(t, &l, dir)
	require.Len(t, entries, n)
	require.Equal(t, portable, entries)
}

func TestListErrors(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(".", link))
	var l Lister
	for _, path := range []string{file, link, filepath.Join(dir, "gone")} {
		for _, list := range []func([]Entry, string) ([]Entry, error){l.List, listPortably} {
			_, err := list(nil, path)
			var e *fs.PathError
			require.ErrorAs(t, err, &e, path)
		}
	}
}

func TestReadAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o600))
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close()
	require.EqualValues(t, 10, f.Size())
	buf := make([]byte, 6)
	n, err := f.ReadAt(buf, 3)
	require.NoError(t, err)
	require.Equal(t, "345678", string(buf[:n]))
	n, err = f.ReadAt(buf, 8)
	require.NoError(t, err)
	require.Equal(t, "89", string(buf[:n]))
	n, err = f.ReadAt(buf, 10)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestOpenTakesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "l")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	require.NoError(t, os.Symlink("f", link))
	_, err := Open(dir)
	require.ErrorIs(t, err, ErrNotRegular)
	for _, path := range []string{link, filepath.Join(dir, "gone")} {
		_, err := Open(path)
		var e *fs.PathError
		require.ErrorAs(t, err, &e, path)
	}
}
