package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

// A Version stands for the content of a regular file: two files have the same
// one if and only if they hold the same bytes. Owner, mode and times are no
// part of it. The zero Version is that of no file. It is to be compared, not
// looked into.
type Version string

// VersionOf returns the version of a file with the given content.
func VersionOf(data []byte) Version {
	h := NewHash()
	_, _ = h.Write(data)
	return h.Version()
}

// A Hash makes the version of content that is written to it piece by piece. It
// is not safe for concurrent use.
type Hash struct {
	sum  hash.Hash
	size int64
}

// NewHash returns a Hash of no content so far.
func NewHash() *Hash { return &Hash{sum: sha256.New()} }

// Write adds p to the content. It never fails.
func (h *Hash) Write(p []byte) (int, error) {
	h.size += int64(len(p))
	return h.sum.Write(p)
}

// Version returns the version of what has been written.
func (h *Hash) Version() Version {
	return Version("sha256:" + hex.EncodeToString(h.sum.Sum(nil)) + ":" + strconv.FormatInt(h.size, 10))
}

// A Target is a file that a call is about, whether it exists or not.
type Target struct {
	// Key is the identity of the file: its absolute path without symbolic
	// links, also of a file that is still to be made. Different spellings of a
	// path share it; two hard links do not.
	Key string
	// Display is the path as the caller wrote it.
	Display string
}

// An Expect says what must be so for a change to happen. The zero value is
// [Any].
type Expect struct {
	kind    expectation
	version Version
}

type expectation uint8

const (
	expectAny expectation = iota
	expectAbsent
	expectVersion
)

// Any expects nothing.
func Any() Expect { return Expect{} }

// IfAbsent expects that there is no file.
func IfAbsent() Expect { return Expect{kind: expectAbsent} }

// IfVersion expects a file with the content of v. The zero Version is that of
// no file, so nothing meets the expectation.
func IfVersion(v Version) Expect { return Expect{expectVersion, v} }

// Judge returns nil if what is expected is so: of a file that exists or not, and
// whose version is asked for only if it matters. Otherwise the error is
// [ErrStaleVersion], which is [io/fs.ErrNotExist] as well if there is no file,
// [ErrNotObserved] if there should be none, or that of version.
func (e Expect) Judge(exists bool, version func() (Version, error)) error {
	switch {
	case e.kind == expectAbsent && exists:
		return ErrNotObserved
	case e.kind != expectVersion:
		return nil
	case !exists:
		return errGone
	}
	v, err := version()
	if err == nil && v != e.version {
		err = ErrStaleVersion
	}
	return err
}
