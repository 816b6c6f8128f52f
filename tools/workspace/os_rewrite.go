package workspace

import (
	"bytes"
	"context"
	"io"
	"os"
)

// rewrite writes the data into the file itself, whose links and attributes
// stay. Whoever reads meanwhile may see a mixture. After a failure the old
// bytes are put back; the time of the file is then another one.
func (s *staged) rewrite(ctx context.Context, now stamp) error {
	f, err := openForWriting(s.place)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is synced below
	// Another name of the file has a turn of its own, in another directory.
	done, err := hostTurns.wait(ctx, now.inode())
	if err != nil {
		return err
	}
	defer done()
	unlock, _ := lockFile(ctx, f)
	defer unlock()
	old, err := s.oldBytes(f, now)
	if err != nil {
		return err
	}
	if err := s.overwrite(f, now.size()); err != nil {
		return s.restore(f, old, now.size(), err)
	}
	dropPrivileges(f, now)
	return nil
}

// oldBytes returns what is to be put back if the data cannot be written: the
// whole file unless it is huge, then what the data goes over. It is
// [ErrStaleVersion] if the open file does not hold what was read.
func (s *staged) oldBytes(f *os.File, now stamp) ([]byte, error) {
	opened, err := stampOf(f)
	if err != nil {
		return nil, err
	}
	size := opened.size()
	if !opened.mode().IsRegular() || size != now.size() {
		return nil, ErrStaleVersion
	}
	n := size
	if n > MaxEditBytes {
		n = min(size, int64(len(s.data)))
	}
	old := make([]byte, n)
	if _, err = io.ReadFull(io.NewSectionReader(f, 0, n), old); err == io.ErrUnexpectedEOF { //nolint:errorlint // it is never wrapped
		err = ErrStaleVersion
	}
	if s.entry.data != nil && !bytes.Equal(old, s.entry.data) || s.entry.data == nil && opened != now {
		err = ErrStaleVersion
	}
	return old, err
}

// overwrite writes the data at the start of f and cuts f behind it, once the
// data is on disk.
func (s *staged) overwrite(f *os.File, size int64) error {
	if err := s.system.step("overwrite"); err != nil {
		return err
	}
	if _, err := f.WriteAt(s.data, 0); err != nil {
		return err
	}
	if err := s.syncFile(f, "sync overwritten"); err != nil || int64(len(s.data)) >= size {
		return err
	}
	if err := s.system.step("truncate"); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(s.data))); err != nil {
		return err
	}
	return s.syncFile(f, "sync truncated")
}

// restore puts the old bytes back. It returns the failure that it is called
// for, or says that the file is damaged.
func (s *staged) restore(f *os.File, old []byte, size int64, failure error) error {
	err := s.system.step("restore")
	if now, statErr := stampOf(f); statErr != nil || now.size() < size && int64(len(old)) < size {
		return damaged(failure) // what was cut off is gone
	}
	if err == nil {
		err = writeDifferent(f, old)
	}
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		err = s.syncFile(f, "sync restored")
	}
	if err != nil {
		return damaged(failure)
	}
	return failure
}

// writeDifferent writes data at the start of f where f holds something else.
// On a full disk a hole that was not written to must stay one.
func writeDifferent(f *os.File, data []byte) error {
	const pageSize = 4096
	page := make([]byte, pageSize)
	for at := 0; at < len(data); at += pageSize {
		want := data[at:min(at+pageSize, len(data))]
		n, err := f.ReadAt(page[:len(want)], int64(at))
		if err != nil && err != io.EOF { //nolint:errorlint // only EOF itself is the end
			return err
		}
		if bytes.Equal(page[:n], want) {
			continue
		}
		if _, err := f.WriteAt(want, int64(at)); err != nil {
			return err
		}
	}
	return nil
}
