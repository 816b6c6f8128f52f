package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
)

// A Version stands for the content of a regular file: two files have the same
// one if and only if they hold the same bytes. Owner, mode and times are no
// part of it. The zero Version is that of no file. It is to be compared, not
// looked into.
type Version string

// VersionOf returns the version of a file with the given content.
func VersionOf(data []byte) Version {
	var d Digest
	_, _ = d.Write(data)
	return d.Version()
}

// hasSize reports whether v is that of content with so many bytes.
func (v Version) hasSize(n int64) bool {
	return strings.HasSuffix(string(v), ":"+strconv.FormatInt(n, 10))
}

// A Digest makes the version of content that is written to it piece by piece.
// The zero value is that of no content. It is not safe for concurrent use.
type Digest struct {
	sum  hash.Hash
	size int64
}

// Write adds p to the content. It never fails.
func (d *Digest) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	return d.hash().Write(p)
}

// Version returns the version of what has been written.
func (d *Digest) Version() Version {
	return Version("sha256:" + hex.EncodeToString(d.hash().Sum(nil)) + ":" + strconv.FormatInt(d.size, 10))
}

func (d *Digest) hash() hash.Hash {
	if d.sum == nil {
		d.sum = sha256.New()
	}
	return d.sum
}
