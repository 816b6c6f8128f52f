package artifact

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"time"
)

// MaxBytes is the size of the largest original that a [Store] takes, in bytes.
const MaxBytes = 16 << 20

// chunkBytes is how much is copied between two looks at the context.
const chunkBytes = 256 << 10

// Errors of the content-addressed store; test with [errors.Is]. Store
// implementations return them too, perhaps wrapped. An implementation that has
// lost its storage, or never had any, returns [ErrUnavailable]. What the system
// reports is returned as it is.
var (
	// ErrReference: the text is neither a key nor a reference.
	ErrReference = errors.New("artifact: not an artifact reference")
	// ErrNotFound: the store has nothing with that key.
	ErrNotFound = fmt.Errorf("artifact: no such artifact: %w", fs.ErrNotExist)
	// ErrIntegrity: what the store has does not have the digest or the size
	// that it is named and described by.
	ErrIntegrity = errors.New("artifact: size or digest verification failed")
	// ErrBusy: the store cannot serve one more at the moment; trying again
	// later is right.
	ErrBusy = errors.New("artifact: store is busy")
	// ErrTooLarge: the content has more bytes than it may have.
	ErrTooLarge = errors.New("artifact: too many bytes")
	// ErrSize: the content is not as long as the size that was declared.
	ErrSize = errors.New("artifact: content does not have its declared size")
	// ErrStale: the file changed while it was read.
	ErrStale = errors.New("artifact: file changed while it was read")
	// ErrNotRegular: the file is a directory, a FIFO, a socket or a device.
	ErrNotRegular = errors.New("artifact: not a regular file")
)

// A Descriptor is what a store answers about an original.
type Descriptor struct {
	Key  Key
	Size int64 // in bytes
}

// A Store keeps originals, unmodified bytes of at most [MaxBytes], under the
// digest of their content. There is nothing else to it: no names, no types, no
// listing, no change and no removal. How long an original is kept is the
// business of whoever owns the store.
//
// A Store must be safe for concurrent use.
type Store interface {
	// Put stores what it reads from r up to its end, and returns once that
	// survives a crash as far as the store promises it. A size that is not
	// negative is what r must have, or the error is [ErrSize]; a negative one
	// says that the size is not known. More than MaxBytes bytes are
	// [ErrTooLarge]. After an error, that of r and of ctx included, nothing is
	// stored. Content that is there already is a success.
	Put(ctx context.Context, size int64, r io.Reader) (Descriptor, error)
	// Open returns the content of an original, to be closed by the caller. Its
	// Read ends with [ErrIntegrity] in place of io.EOF if what was read is not
	// what the Descriptor says: nothing may be used before the end was
	// reached. It fails with the error of ctx when that ends.
	Open(ctx context.Context, key Key) (io.ReadCloser, Descriptor, error)
	// Stat describes an original without reading it.
	Stat(ctx context.Context, key Key) (Descriptor, error)
}

// PutFile stores the content of an open file, which must be a regular one. It
// reads from where the file stands, which should be its beginning, and does not
// close it.
//
// The file is looked at before and after: if its size or modification time is
// another one then, or not as many bytes were read, the error is [ErrStale] and
// nothing is stored, as an original must not be a mixture of two states. A file
// that is too large is [ErrTooLarge], without reading it if its size says so.
// The other errors are [ErrNotRegular], those of the file and those of
// [Store.Put].
//
// Opening it is up to the caller, in a way that does not block on a FIFO.
func PutFile(ctx context.Context, s Store, f fs.File) (Descriptor, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return Descriptor{}, err
	case !info.Mode().IsRegular():
		return Descriptor{}, ErrNotRegular
	case info.Size() > MaxBytes:
		return Descriptor{}, ErrTooLarge
	}
	return s.Put(ctx, info.Size(), &unchanged{file: f, size: info.Size(), modified: info.ModTime()})
}

// unchanged reads a file and fails if it is not as it was when it is at its
// end: before the store has got io.EOF, it publishes nothing.
type unchanged struct {
	file     fs.File
	size     int64 // before
	modified time.Time
	read     int64
}

func (u *unchanged) Read(p []byte) (int, error) {
	n, err := u.file.Read(p)
	u.read += int64(n)
	switch {
	case u.read > MaxBytes:
		return 0, ErrTooLarge
	case u.read > u.size:
		return 0, ErrStale
	case err == io.EOF: //nolint:errorlint // only EOF itself is the end
		return n, u.atEnd()
	}
	return n, err
}

func (u *unchanged) atEnd() error {
	after, err := u.file.Stat()
	if err != nil {
		return err
	}
	if u.read != u.size || after.Size() != u.size || !after.ModTime().Equal(u.modified) {
		return ErrStale
	}
	return io.EOF
}

// ReadAll returns an original of at most limit bytes, verified: size and digest
// are checked whatever the store does. A larger one is [ErrTooLarge] and is not
// read. The other errors are those of [Store.Open] and of reading.
func ReadAll(ctx context.Context, s Store, key Key, limit int64) ([]byte, error) {
	r, d, err := openVerified(ctx, s, key)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	if d.Size > limit {
		return nil, ErrTooLarge
	}
	data := make([]byte, d.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, noEarlyEnd(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // only EOF itself is the end
		return nil, noEarlyEnd(err)
	}
	return data, nil
}

// noEarlyEnd returns the error for content that ends too early or too late.
func noEarlyEnd(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrIntegrity
	}
	return err
}

// openVerified opens an original of any store and verifies it.
func openVerified(ctx context.Context, s Store, key Key) (io.ReadCloser, Descriptor, error) {
	if s == nil {
		return nil, Descriptor{}, ErrUnavailable
	}
	if !key.valid() {
		return nil, Descriptor{}, ErrReference
	}
	r, d, err := s.Open(ctx, key)
	if err != nil {
		return nil, Descriptor{}, err
	}
	if d.Key != key || d.Size < 0 {
		_ = r.Close()
		return nil, Descriptor{}, ErrIntegrity
	}
	if v, ok := r.(*verified); ok && v.want == d && v.read == 0 { // it is done already
		return r, d, nil
	}
	return newVerified(ctx, r, d), d, nil
}

// verified reads an original and checks, at its end, that it was one.
type verified struct {
	ctx  context.Context
	from io.ReadCloser
	want Descriptor
	hash hash.Hash
	read int64
	err  error // once there is one, io.EOF included
}

func newVerified(ctx context.Context, r io.ReadCloser, want Descriptor) *verified {
	return &verified{ctx: ctx, from: r, want: want, hash: sha256.New()}
}

func (v *verified) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	if err := v.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := v.from.Read(p)
	v.read += int64(n)
	v.hash.Write(p[:n])
	switch {
	case v.read > v.want.Size: // it need not end at all
		v.err = ErrIntegrity
		return 0, v.err
	case err == io.EOF: //nolint:errorlint // only EOF itself is the end
		v.err = v.atEnd()
	default:
		v.err = err
	}
	return n, v.err
}

func (v *verified) atEnd() error {
	if v.read != v.want.Size || keyOf(v.hash) != v.want.Key {
		return ErrIntegrity
	}
	return io.EOF
}

func (v *verified) Close() error { return v.from.Close() }

// receive copies r to w, at most MaxBytes, and returns what it was. The size is
// that of [Store.Put].
func receive(ctx context.Context, w io.Writer, size int64, r io.Reader) (Descriptor, error) {
	if err := ctx.Err(); err != nil {
		return Descriptor{}, err
	}
	if size > MaxBytes {
		return Descriptor{}, ErrTooLarge
	}
	h := NewHasher()
	n, err := copyChunks(ctx, io.MultiWriter(w, h), io.LimitReader(r, MaxBytes+1))
	switch {
	case err != nil:
		return Descriptor{}, err
	case n > MaxBytes:
		return Descriptor{}, ErrTooLarge
	case size >= 0 && n != size:
		return Descriptor{}, ErrSize
	}
	return Descriptor{Key: h.Key(), Size: n}, nil
}

// copyChunks is io.Copy with a look at ctx before each chunk.
func copyChunks(ctx context.Context, w io.Writer, r io.Reader) (n int64, err error) {
	buf := make([]byte, chunkBytes)
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		m, err := r.Read(buf)
		n += int64(m)
		if m > 0 {
			if _, err := w.Write(buf[:m]); err != nil {
				return n, err
			}
		}
		switch {
		case err == io.EOF: //nolint:errorlint // only EOF itself is the end
			return n, nil
		case err != nil:
			return n, err
		}
	}
}
