package artifact

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// A MemStore is a [Store] in memory, for tests and for sessions that leave
// nothing behind. The zero value is ready. It must not be copied.
type MemStore struct {
	// Quota is how many bytes all originals may have together; 0 means
	// [DefaultQuota]. More are [ErrQuota]. It is not to be changed once the
	// store is in use.
	Quota int64

	mu    sync.RWMutex
	data  map[Key][]byte // not changed once they are here
	bytes int64
}

// NewMemStore returns an empty MemStore.
func NewMemStore() *MemStore { return new(MemStore) }

// Put implements [Store].
func (s *MemStore) Put(ctx context.Context, size int64, r io.Reader) (Descriptor, error) {
	var content bytes.Buffer
	if size > 0 && size <= MaxBytes {
		content.Grow(int(size))
	}
	d, err := receive(ctx, &content, size, r)
	if err != nil {
		return Descriptor{}, err
	}
	return d, s.add(d, content.Bytes())
}

func (s *MemStore) add(d Descriptor, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.data[d.Key]; ok {
		return nil
	}
	quota := s.Quota
	setDefault(&quota, DefaultQuota)
	if d.Size > quota-s.bytes {
		return ErrQuota
	}
	if s.data == nil {
		s.data = map[Key][]byte{}
	}
	s.data[d.Key] = bytes.Clone(content) // without what it was grown too far
	s.bytes += d.Size
	return nil
}

// Open implements [Store].
func (s *MemStore) Open(ctx context.Context, key Key) (io.ReadCloser, Descriptor, error) {
	content, err := s.find(ctx, key)
	if err != nil {
		return nil, Descriptor{}, err
	}
	d := Descriptor{Key: key, Size: int64(len(content))}
	return newVerified(ctx, io.NopCloser(bytes.NewReader(content)), d), d, nil
}

// Stat implements [Store].
func (s *MemStore) Stat(ctx context.Context, key Key) (Descriptor, error) {
	content, err := s.find(ctx, key)
	if err != nil {
		return Descriptor{}, err
	}
	return Descriptor{Key: key, Size: int64(len(content))}, nil
}

func (s *MemStore) find(ctx context.Context, key Key) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !key.valid() {
		return nil, ErrReference
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	content, ok := s.data[key]
	if !ok {
		return nil, ErrNotFound
	}
	return content, nil
}
