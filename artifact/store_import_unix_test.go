//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/taukit/taukit/artifact"
)

func imports(t testing.TB, dir string) *artifact.Imports {
	t.Helper()
	m, err := artifact.NewImports(artifact.ImportOptions{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func names(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestI2I4I6PrivateFiles(t *testing.T) {
	dir, s := t.TempDir(), artifact.NewMemStore()
	m := imports(t, dir)
	old := unix.Umask(0)
	defer unix.Umask(old)
	require.Empty(t, names(t, dir), "nothing before the first import")
	key := put(t, s, "#!/bin/sh\n").Key
	pattern := regexp.MustCompile(fmt.Sprintf(`^%s/tool-import-%d-[0-9a-f]{32}/artifact-[0-9a-f]{32}(-x\.sh)?$`, regexp.QuoteMeta(dir), os.Geteuid()))
	seen := map[string]bool{}
	for _, mask := range []int{0, 0o777} {
		unix.Umask(mask)
		for _, hints := range []artifact.Hints{{}, {Filename: "../../x.sh", MediaType: "application/x-sh"}} {
			got, err := m.Import(t.Context(), s, key, hints)
			require.NoError(t, err)
			require.EqualValues(t, 10, got.Size)
			require.Regexp(t, pattern, got.Path)
			require.Equal(t, hints.Filename != "", strings.HasSuffix(got.Path, "-x.sh"))
			require.False(t, seen[got.Path])
			seen[got.Path] = true
			data, err := os.ReadFile(got.Path)
			require.NoError(t, err)
			require.Equal(t, "#!/bin/sh\n", string(data))
			for path, want := range map[string]fs.FileMode{got.Path: 0o600, filepath.Dir(got.Path): fs.ModeDir | 0o700} {
				info, err := os.Lstat(path)
				require.NoError(t, err)
				require.Equal(t, want, info.Mode())
			}
		}
	}
	require.Len(t, names(t, dir), 1, "one directory")
}

func TestI7CloseRemovesTheDirectory(t *testing.T) {
	dir, s := t.TempDir(), artifact.NewMemStore()
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("kept"), 0o600))
	m := imports(t, dir)
	got, err := m.Import(t.Context(), s, put(t, s, "x").Key, artifact.Hints{})
	require.NoError(t, err)
	own := filepath.Dir(got.Path)
	require.NoError(t, os.MkdirAll(own+"/unpacked/deep", 0o700)) // somebody works there
	require.NoError(t, os.Symlink(outside, own+"/unpacked/link"))
	require.NoError(t, os.Symlink(filepath.Dir(outside), own+"/dir"))
	require.NoError(t, m.Close())
	require.Empty(t, names(t, dir))
	require.FileExists(t, outside)
	require.NoError(t, m.Close())
	_, err = m.Import(t.Context(), s, put(t, s, "x").Key, artifact.Hints{})
	require.ErrorIs(t, err, artifact.ErrClosed)
}

func TestI1I3FailuresLeaveNothing(t *testing.T) {
	dir, s := t.TempDir(), artifact.NewMemStore()
	m := imports(t, dir)
	key := artifact.KeyOf([]byte("abc"))
	_, err := m.Import(t.Context(), s, put(t, s, "first").Key, artifact.Hints{})
	require.NoError(t, err)
	own := filepath.Join(dir, names(t, dir)[0])
	before := names(t, own)

	broken := errors.New("broken")
	lie := func(size int64, content io.Reader) artifact.Store {
		return &liar{d: artifact.Descriptor{Key: key, Size: size}, content: content}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	for name, tt := range map[string]struct {
		s    artifact.Store
		key  artifact.Key
		want error
	}{
		"no store":       {nil, key, artifact.ErrUnavailable},
		"unknown":        {s, key, artifact.ErrNotFound},
		"no key":         {s, "../x", artifact.ErrReference},
		"too large":      {lie(artifact.MaxBytes+1, strings.NewReader("abc")), key, artifact.ErrTooLarge},
		"other content":  {lie(3, strings.NewReader("abd")), key, artifact.ErrIntegrity},
		"other size":     {lie(4, strings.NewReader("abc")), key, artifact.ErrIntegrity},
		"breaks":         {lie(3, io.MultiReader(strings.NewReader("ab"), readerFunc(func([]byte) (int, error) { return 0, broken }))), key, broken},
		"ends meanwhile": {lie(3, readerFunc(func(p []byte) (int, error) { cancel(); return copy(p, "a"), nil })), key, context.Canceled},
	} {
		ctx := t.Context()
		if errors.Is(tt.want, context.Canceled) {
			ctx = cancelled
		}
		got, err := m.Import(ctx, tt.s, tt.key, artifact.Hints{})
		require.ErrorIs(t, err, tt.want, name)
		require.Zero(t, got)
		require.Equal(t, before, names(t, own), name)
	}
	var off *artifact.Imports
	_, err = off.Import(t.Context(), s, key, artifact.Hints{})
	require.ErrorIs(t, err, artifact.ErrUnavailable)
	require.NoError(t, off.Close())
}

func TestImportsDemandASafeParent(t *testing.T) {
	s := artifact.NewMemStore()
	key := put(t, s, "x").Key
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, mkdirMode(open, 0o777))
	for _, dir := range []string{open, "relative", t.TempDir() + "/a\nb"} {
		_, err := imports(t, dir).Import(t.Context(), s, key, artifact.Hints{})
		require.ErrorIs(t, err, artifact.ErrUnsafeDir, dir)
	}
	_, err := artifact.NewImports(artifact.ImportOptions{Prefix: "a/b"})
	require.ErrorIs(t, err, fs.ErrInvalid)
}

func TestImportsSurviveACleanerOfTheParent(t *testing.T) {
	dir, s := t.TempDir(), artifact.NewMemStore()
	m := imports(t, dir)
	key := put(t, s, "x").Key
	first, err := m.Import(t.Context(), s, key, artifact.Hints{})
	require.NoError(t, err)
	// Its name is another one's now, which must stay as it is.
	require.NoError(t, os.RemoveAll(filepath.Dir(first.Path)))
	require.NoError(t, os.Mkdir(filepath.Dir(first.Path), 0o700))
	second, err := m.Import(t.Context(), s, key, artifact.Hints{})
	require.NoError(t, err)
	require.NotEqual(t, filepath.Dir(first.Path), filepath.Dir(second.Path))
	require.FileExists(t, second.Path)
	require.NoError(t, m.Close())
	require.Equal(t, []string{filepath.Base(filepath.Dir(first.Path))}, names(t, dir))
}

func TestImportsSurviveAPassingFault(t *testing.T) {
	dir, s := filepath.Join(t.TempDir(), "d"), artifact.NewMemStore()
	require.NoError(t, mkdirMode(dir, 0o700))
	m := imports(t, dir)
	key := put(t, s, "x").Key
	first, err := m.Import(t.Context(), s, key, artifact.Hints{})
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = m.Import(t.Context(), s, key, artifact.Hints{})
	require.ErrorIs(t, err, artifact.ErrDestination)
	require.ErrorIs(t, err, artifact.ErrUnsafeDir)
	require.ErrorIs(t, m.Close(), artifact.ErrUnsafeDir)
	require.NoError(t, os.Chmod(dir, 0o700))
	require.FileExists(t, first.Path)
	require.NoError(t, m.Close(), "it tries again")
	require.Empty(t, names(t, dir))
}

func TestImportsSayWhoIsToBlame(t *testing.T) {
	for _, fault := range []error{artifact.ErrBusy, artifact.ErrIntegrity, unix.EMFILE, artifact.ErrUnsafeDir} {
		m := imports(t, t.TempDir())
		_, err := m.Import(t.Context(), failing{fault}, artifact.KeyOf(nil), artifact.Hints{})
		require.ErrorIs(t, err, fault)
		require.NotErrorIs(t, err, artifact.ErrDestination)
	}
}

// A failing store cannot read what it has.
type failing struct{ err error }

func (f failing) Put(context.Context, int64, io.Reader) (artifact.Descriptor, error) {
	return artifact.Descriptor{}, f.err
}

func (f failing) Stat(context.Context, artifact.Key) (artifact.Descriptor, error) {
	return artifact.Descriptor{Key: artifact.KeyOf(nil)}, nil
}

func (f failing) Open(context.Context, artifact.Key) (io.ReadCloser, artifact.Descriptor, error) {
	return io.NopCloser(iotest.ErrReader(f.err)), artifact.Descriptor{Key: artifact.KeyOf(nil)}, nil
}

func TestImportsWaitForOthersToBeWritten(t *testing.T) {
	dir := t.TempDir()
	m := imports(t, dir)
	big := artifact.Descriptor{Key: artifact.KeyOf([]byte("big")), Size: artifact.MaxImporting}
	reading, goOn := make(chan struct{}), make(chan struct{})
	slow := &liar{d: big, content: readerFunc(func(p []byte) (int, error) {
		close(reading)
		<-goOn
		return 0, io.EOF
	})}
	first := make(chan error, 1)
	go func() { _, err := m.Import(t.Context(), slow, big.Key, artifact.Hints{}); first <- err }()
	<-reading

	s := artifact.NewMemStore()
	key := put(t, s, "small").Key
	empty, err := m.Import(t.Context(), s, put(t, s, "").Key, artifact.Hints{})
	require.NoError(t, err, "nothing needs no room")
	require.FileExists(t, empty.Path)
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() { _, err := m.Import(ctx, s, key, artifact.Hints{}); second <- err }()
	third := make(chan error, 1)
	go func() { _, err := m.Import(t.Context(), s, key, artifact.Hints{}); third <- err }()
	cancel()
	require.ErrorIs(t, <-second, context.Canceled)
	select {
	case err := <-third:
		t.Fatal("did not wait", err)
	default:
	}
	close(goOn)
	require.ErrorIs(t, <-first, artifact.ErrIntegrity)
	require.NoError(t, <-third)
}

func TestSweepImportsOfDeadProcessesOnly(t *testing.T) {
	dir := t.TempDir()
	s := artifact.NewMemStore()
	key := put(t, s, "x").Key
	live := imports(t, dir)
	kept, err := live.Import(t.Context(), s, key, artifact.Hints{})
	require.NoError(t, err)
	age(t, filepath.Dir(kept.Path))

	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, nil, 0o600))
	plant := func(name string, files ...string) {
		own := filepath.Join(dir, fmt.Sprintf("tool-import-%d-%s", os.Geteuid(), name))
		require.NoError(t, os.Mkdir(own, 0o700))
		for _, f := range files {
			require.NoError(t, os.WriteFile(filepath.Join(own, f), nil, 0o600))
		}
		if name == "link" {
			require.NoError(t, os.Symlink(outside, filepath.Join(own, importedName)))
		}
		if name != "young" {
			age(t, own)
		}
	}
	plant("dead", "owner.lock", importedName, importedName+"-x.sh")
	plant("no-lock", importedName)
	plant("empty")
	plant("young", importedName)
	plant("more", "owner.lock", importedName, "mine.txt")
	plant("link", "owner.lock")
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, fmt.Sprintf("tool-import-%d-sym", os.Geteuid()))))

	removed, err := artifact.SweepImports(dir, "", artifact.StaleAge)
	require.NoError(t, err)
	require.Equal(t, 3, removed)
	left := strings.Join(names(t, dir), " ")
	for _, name := range []string{"young", "more", "link", "sym"} {
		require.Contains(t, left, "-"+name)
	}
	require.Len(t, names(t, dir), 5)
	require.FileExists(t, kept.Path)
	require.FileExists(t, outside)
	_, err = artifact.SweepImports(dir, "a/b", 0)
	require.ErrorIs(t, err, fs.ErrInvalid)
}

const importedName = "artifact-00112233445566778899aabbccddeeff"

func age(t *testing.T, path string) {
	t.Helper()
	long := time.Now().Add(-artifact.StaleAge - time.Minute)
	require.NoError(t, os.Chtimes(path, long, long))
}

func TestKilledProcessLosesItsImports(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "import", -1, "DIR="+dir)
	path := p.line(t)
	age(t, filepath.Dir(path))
	removed, err := artifact.SweepImports(dir, "", artifact.StaleAge)
	require.NoError(t, err)
	require.Zero(t, removed)
	require.FileExists(t, path)
	p.kill()
	s := artifact.NewMemStore()
	got, err := imports(t, dir).Import(t.Context(), s, put(t, s, "later session").Key, artifact.Hints{})
	require.NoError(t, err)
	require.FileExists(t, got.Path)
	require.NoFileExists(t, path)
	require.Len(t, names(t, dir), 1)
}

var _ = addHelper("import", importHelper)

// importHelper has an import until its input ends.
func importHelper() error {
	ctx := context.Background()
	m, err := artifact.NewImports(artifact.ImportOptions{Dir: os.Getenv("DIR")})
	if err != nil {
		return err
	}
	s := artifact.NewMemStore()
	d, err := s.Put(ctx, -1, strings.NewReader("held"))
	if err != nil {
		return err
	}
	got, err := m.Import(ctx, s, d.Key, artifact.Hints{})
	if err != nil {
		return err
	}
	fmt.Println(got.Path)
	waitForInput()
	return m.Close()
}

func FuzzExportImport(f *testing.F) {
	f.Add([]byte("content"), "../../x.sh")
	f.Add([]byte{}, "")
	f.Fuzz(func(t *testing.T, content []byte, filename string) {
		dir := t.TempDir()
		s, err := artifact.NewDirStore(dir + "/store")
		require.NoError(t, err)
		m := imports(t, dir)
		d := put(t, s, string(content))
		got, err := m.Import(t.Context(), s, d.Key, artifact.Hints{Filename: filename, MediaType: filename})
		require.NoError(t, err)
		data, err := os.ReadFile(got.Path)
		require.NoError(t, err)
		require.Equal(t, string(content), string(data))
		require.Equal(t, dir, filepath.Dir(filepath.Dir(got.Path)))
		info, err := os.Lstat(got.Path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode())
	})
}
