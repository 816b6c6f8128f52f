package artifact_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

// TestMemStore and TestDirStore (on systems that have one) run the same suite.
func TestMemStore(t *testing.T) {
	testStore(t, func(*testing.T) artifact.Store { return artifact.NewMemStore() })
}

func testStore(t *testing.T, newStore func(*testing.T) artifact.Store) {
	for name, test := range map[string]func(*testing.T, artifact.Store){
		"X4 X7 round trip":       testRoundTrip,
		"sizes":                  testSizes,
		"limit":                  testLimit,
		"failing reader":         testFailingReader,
		"unknown and bad keys":   testKeys,
		"cancellation":           testStoreCancellation,
		"concurrent equal puts":  testConcurrentPuts,
		"X2 X3 file as original": testPutFile,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStore(t)) })
	}
}

func put(t testing.TB, s artifact.Store, content string) artifact.Descriptor {
	t.Helper()
	d, err := s.Put(t.Context(), int64(len(content)), strings.NewReader(content))
	require.NoError(t, err)
	return d
}

func testRoundTrip(t *testing.T, s artifact.Store) {
	for _, content := range []string{"", "hello\n", "\x00\xff\r\n", strings.Repeat("long ", 200_000)} {
		for range 2 { // a second put is a success
			d := put(t, s, content)
			require.Equal(t, artifact.Descriptor{Key: artifact.KeyOf([]byte(content)), Size: int64(len(content))}, d)
		}
		key := artifact.KeyOf([]byte(content))
		d, err := s.Stat(t.Context(), key)
		require.NoError(t, err)
		require.EqualValues(t, len(content), d.Size)
		r, opened, err := s.Open(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, d, opened)
		if len(content) < 100 { // it reads byte by byte
			require.NoError(t, iotest.TestReader(r, []byte(content)))
		}
		require.NoError(t, r.Close())
		data, err := artifact.ReadAll(t.Context(), s, key, d.Size)
		require.NoError(t, err)
		require.Equal(t, content, string(data))
		_, err = artifact.ReadAll(t.Context(), s, key, d.Size-1)
		require.ErrorIs(t, err, artifact.ErrTooLarge)
	}
}

func testSizes(t *testing.T, s artifact.Store) {
	_, err := s.Put(t.Context(), -1, strings.NewReader("unknown size"))
	require.NoError(t, err)
	for _, size := range []int64{0, 3, 5, artifact.MaxBytes} {
		_, err := s.Put(t.Context(), size, strings.NewReader("four"))
		require.ErrorIs(t, err, artifact.ErrSize)
	}
	_, err = s.Stat(t.Context(), artifact.KeyOf([]byte("four")))
	require.ErrorIs(t, err, artifact.ErrNotFound)
}

func testLimit(t *testing.T, s artifact.Store) {
	content := bytes.Repeat([]byte("x"), artifact.MaxBytes+1)
	_, err := s.Put(t.Context(), artifact.MaxBytes, bytes.NewReader(content[1:]))
	require.NoError(t, err)
	for _, size := range []int64{-1, artifact.MaxBytes, artifact.MaxBytes + 1} {
		_, err = s.Put(t.Context(), size, bytes.NewReader(content))
		require.ErrorIs(t, err, artifact.ErrTooLarge)
	}
	var read int64
	endless := readerFunc(func(p []byte) (int, error) { read += int64(len(p)); return len(p), nil })
	_, err = s.Put(t.Context(), -1, endless)
	require.ErrorIs(t, err, artifact.ErrTooLarge)
	require.LessOrEqual(t, read, int64(artifact.MaxBytes+1), "not a byte more is read")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func testFailingReader(t *testing.T, s artifact.Store) {
	broken := errors.New("broken")
	_, err := s.Put(t.Context(), 3, io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	_, err = s.Stat(t.Context(), artifact.KeyOf([]byte("abc")))
	require.ErrorIs(t, err, artifact.ErrNotFound)
}

func testKeys(t *testing.T, s artifact.Store) {
	for key, want := range map[artifact.Key]error{
		artifact.KeyOf([]byte("nothing")): artifact.ErrNotFound,
		"":                                artifact.ErrReference,
		"sha256:../../../etc/passwd":      artifact.ErrReference,
		"sha256:" + artifact.Key(strings.Repeat("A", 64)): artifact.ErrReference,
	} {
		_, err := s.Stat(t.Context(), key)
		require.ErrorIs(t, err, want, key)
		r, _, err := s.Open(t.Context(), key)
		require.ErrorIs(t, err, want, key)
		require.Nil(t, r)
		_, err = artifact.ReadAll(t.Context(), s, key, artifact.MaxBytes)
		require.ErrorIs(t, err, want, key)
	}
}

func testStoreCancellation(t *testing.T, s artifact.Store) {
	d := put(t, s, strings.Repeat("x", 1<<20))
	ctx, cancel := context.WithCancel(t.Context())
	r, _, err := s.Open(ctx, d.Key)
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Read(make([]byte, 1000))
	require.NoError(t, err)

	reads := 0
	_, err = s.Put(ctx, -1, readerFunc(func(p []byte) (int, error) {
		reads++
		cancel()
		return copy(p, "cancelled"), nil
	}))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, reads, "it looks at the context between chunks")

	_, err = r.Read(make([]byte, 1000))
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = s.Open(ctx, d.Key)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Stat(ctx, d.Key)
	require.ErrorIs(t, err, context.Canceled)
}

func testConcurrentPuts(t *testing.T, s artifact.Store) {
	content := strings.Repeat("equal ", 100_000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d, err := s.Put(t.Context(), int64(len(content)), strings.NewReader(content))
			if err != nil || d.Key != artifact.KeyOf([]byte(content)) {
				t.Error(d, err)
				return
			}
			data, err := artifact.ReadAll(t.Context(), s, d.Key, artifact.MaxBytes)
			if err != nil || string(data) != content {
				t.Error(len(data), err)
			}
		})
	}
	all.Wait()
}

// changing is a file that something happens to at its end.
type changing struct {
	fs.File
	atEnd func()
}

func (c changing) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	if errors.Is(err, io.EOF) {
		c.atEnd()
	}
	return n, err
}

func testPutFile(t *testing.T, s artifact.Store) {
	file := &fstest.MapFile{Data: []byte("content"), ModTime: time.Unix(1, 0)}
	files := fstest.MapFS{"f": file, "d/x": {}, "p": {Mode: fs.ModeNamedPipe}, "big": {Data: make([]byte, artifact.MaxBytes+1)}}
	putFile := func(name string, atEnd func()) (artifact.Descriptor, error) {
		f, err := files.Open(name)
		require.NoError(t, err)
		defer f.Close()
		return artifact.PutFile(t.Context(), s, changing{f, atEnd})
	}
	nothing := func() {}
	d, err := putFile("f", nothing)
	require.NoError(t, err)
	require.Equal(t, artifact.KeyOf([]byte("content")), d.Key)

	for name, want := range map[string]error{"d": artifact.ErrNotRegular, "p": artifact.ErrNotRegular, "big": artifact.ErrTooLarge} {
		_, err := putFile(name, nothing)
		require.ErrorIs(t, err, want, name)
	}
	file.Data = []byte("touched")
	_, err = putFile("f", func() { file.ModTime = time.Unix(2, 0) })
	require.ErrorIs(t, err, artifact.ErrStale)
	_, err = s.Stat(t.Context(), artifact.KeyOf([]byte("touched")))
	require.ErrorIs(t, err, artifact.ErrNotFound, "nothing is published before the file was looked at again")

	for lie, want := range map[int64]error{0: artifact.ErrStale, 6: artifact.ErrStale, 8: artifact.ErrStale, artifact.MaxBytes + 1: artifact.ErrTooLarge} {
		f, err := files.Open("f")
		require.NoError(t, err)
		_, err = artifact.PutFile(t.Context(), s, lying{f, lie})
		require.ErrorIs(t, err, want, lie)
	}
}

// lying is a file that says that it has another size.
type lying struct {
	fs.File
	size int64
}

type lyingInfo struct {
	fs.FileInfo
	size int64
}

func (l lying) Stat() (fs.FileInfo, error) {
	info, err := l.File.Stat()
	return lyingInfo{info, l.size}, err
}

func (l lyingInfo) Size() int64 { return l.size }

func TestMemStoreQuota(t *testing.T) {
	s := &artifact.MemStore{Quota: 10}
	put(t, s, "12345")
	put(t, s, "12345")
	_, err := s.Put(t.Context(), -1, strings.NewReader("123456"))
	require.ErrorIs(t, err, artifact.ErrQuota)
	put(t, s, "54321")
}

// liar is a store that does not verify anything.
type liar struct {
	artifact.Store
	d       artifact.Descriptor
	content io.Reader
	closed  bool
}

func (l *liar) Close() error { l.closed = true; return nil }

func (l *liar) Open(context.Context, artifact.Key) (io.ReadCloser, artifact.Descriptor, error) {
	return struct {
		io.Reader
		io.Closer
	}{l.content, l}, l.d, nil
}

func TestReadAllVerifiesWhateverTheStoreDoes(t *testing.T) {
	key := artifact.KeyOf([]byte("abc"))
	endless := readerFunc(func(p []byte) (int, error) { return len(p), nil })
	for name, l := range map[string]*liar{
		"other content": {d: artifact.Descriptor{Key: key, Size: 3}, content: strings.NewReader("abd")},
		"too short":     {d: artifact.Descriptor{Key: key, Size: 3}, content: strings.NewReader("ab")},
		"too long":      {d: artifact.Descriptor{Key: key, Size: 3}, content: strings.NewReader("abcd")},
		"wrong size":    {d: artifact.Descriptor{Key: key, Size: 2}, content: strings.NewReader("abc")},
		"endless":       {d: artifact.Descriptor{Key: key, Size: 3}, content: endless},
		"other key":     {d: artifact.Descriptor{Key: artifact.KeyOf(nil), Size: 0}, content: strings.NewReader("")},
		"negative size": {d: artifact.Descriptor{Key: key, Size: -1}, content: strings.NewReader("abc")},
	} {
		data, err := artifact.ReadAll(t.Context(), l, key, artifact.MaxBytes)
		require.ErrorIs(t, err, artifact.ErrIntegrity, name)
		require.Nil(t, data)
		require.True(t, l.closed, name)
	}
	_, err := artifact.ReadAll(t.Context(), nil, key, 1)
	require.ErrorIs(t, err, artifact.ErrUnavailable)
}

// mislabelling is a store that passes off the content of one key as another.
type mislabelling struct{ artifact.Store }

func (m mislabelling) Open(ctx context.Context, key artifact.Key) (io.ReadCloser, artifact.Descriptor, error) {
	r, _, err := m.Store.Open(ctx, artifact.KeyOf([]byte("abd")))
	return r, artifact.Descriptor{Key: key, Size: 3}, err
}

func TestVerificationOfAnotherKeyIsNone(t *testing.T) {
	s := artifact.NewMemStore()
	put(t, s, "abd")
	_, err := artifact.ReadAll(t.Context(), mislabelling{s}, artifact.KeyOf([]byte("abc")), 3)
	require.ErrorIs(t, err, artifact.ErrIntegrity)
}
