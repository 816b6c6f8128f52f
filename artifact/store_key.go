package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
)

const (
	keyPrefix       = "sha256:"
	referencePrefix = "<tau-artifact:"
	referenceSuffix = ">"
)

// A Key names an original by its digest: "sha256:" and the 64 lower-case
// hexadecimal digits of its SHA-256, as sha256sum prints them. Whoever has a key
// can look the original up; the key proves neither where it comes from nor that
// it is harmless.
type Key string

// KeyOf returns the key of b.
func KeyOf(b []byte) Key {
	sum := sha256.Sum256(b)
	return Key(keyPrefix + hex.EncodeToString(sum[:]))
}

// ParseKey returns the key that s spells exactly, or [ErrReference].
func ParseKey(s string) (Key, error) {
	if k := Key(s); k.valid() {
		return k, nil
	}
	return "", ErrReference
}

// ParseReference returns the key that s spells exactly, bare or as a reference.
// Everything else is [ErrReference]: upper-case digits, space around it, a
// shortened digest, a missing bracket, a reference within a reference.
func ParseReference(s string) (Key, error) {
	inner, opened := strings.CutPrefix(s, referencePrefix)
	inner, closed := strings.CutSuffix(inner, referenceSuffix)
	if opened != closed {
		return "", ErrReference
	}
	return ParseKey(inner)
}

// Reference returns the form of the key that texts carry, an autolink:
// "<tau-artifact:KEY>".
func (k Key) Reference() string {
	return referencePrefix + string(k) + referenceSuffix
}

// Mention returns the text that stands for an original where somebody would
// have put it, such as a prompt: the reference, and the media type in
// parentheses unless it is empty. The type is inserted as it is: what comes from
// others is escaped by the caller.
func Mention(k Key, mediaType string) string {
	if mediaType == "" {
		return k.Reference()
	}
	return k.Reference() + " (mime_type: " + mediaType + ")"
}

// valid reports whether k is spelled exactly. A key that is not must not become
// part of a path.
func (k Key) valid() bool {
	digits, ok := strings.CutPrefix(string(k), keyPrefix)
	return ok && len(digits) == hex.EncodedLen(sha256.Size) && strings.Trim(digits, "0123456789abcdef") == ""
}

// digits returns the digest of a valid key in hexadecimal.
func (k Key) digits() string { return string(k)[len(keyPrefix):] }

// A Hasher finds the key of content that is written to it. It belongs to one
// goroutine.
type Hasher struct{ hash hash.Hash }

// NewHasher returns a Hasher of nothing yet.
func NewHasher() *Hasher { return &Hasher{sha256.New()} }

// Write adds p to the content. It never fails.
func (h *Hasher) Write(p []byte) (int, error) { return h.hash.Write(p) }

// Key returns the key of what was written so far.
func (h *Hasher) Key() Key { return keyOf(h.hash) }

func keyOf(h hash.Hash) Key {
	var sum [sha256.Size]byte
	return Key(keyPrefix + hex.EncodeToString(h.Sum(sum[:0])))
}
