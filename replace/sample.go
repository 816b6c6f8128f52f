package replace

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	gramSize   = 8  // bytes of a sample
	maxStride  = 64 // bytes between two samples, at most
	minSampled = 16 // bytes of a target that is worth sampling for
)

// sample finds the targets by looking at samples of the text: gramSize bytes at
// every multiple of a stride so short that each occurrence of a target has
// exactly one sample that begins in the first stride bytes of it. Most samples
// are not to be found in any target, so most of the text is not even looked at.
//
// If the text is so much like the targets that this does not pay, it is given up,
// and the text is scanned.
func (f *finder) sample(ctx context.Context) error {
	s := newSampler(f)
	for at := 0; at+gramSize <= len(f.text); {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(at+blockSize, len(f.text)-gramSize+1)
		for ; at < end; at += s.stride {
			gram := load(f.text[at:])
			if i := s.grams[s.slot(gram)]; i != 0 {
				s.check(gram, i, at)
			}
			if s.budget < 0 {
				f.places = make([][]int, len(f.targets))
				return f.scan(ctx)
			}
		}
	}
	return nil
}

// A sampler knows the grams at the first offsets of all targets, and what
// targets begin with. Both tables hold the first entry of a list, counted from
// 1; the entries hold the next, 0 at the end.
type sampler struct {
	f      *finder
	stride int
	prefix int // bytes of every target that the offsets and grams cover
	budget int // what may still be spent on hits, in about the time it takes to scan a byte

	shift   int      // of a hash to a slot of grams
	grams   []uint16 // by slot
	entries []gramEntry

	heads     []uint8 // by the first 12 bits of the hash of a prefix
	following []uint8 // of a target, from 1
	hashes    []uint64
}

// A gramEntry says that some targets have a gram at an offset.
type gramEntry struct {
	gram   uint64
	offset int32
	next   uint16
}

func newSampler(f *finder) *sampler {
	s := &sampler{f: f, stride: stride(f), budget: len(f.text) + 1<<12}
	s.prefix = s.stride + gramSize - 1
	s.shift = 64 - bits.Len(uint(4*s.stride*len(f.targets)))
	s.grams = make([]uint16, 1<<(64-s.shift))
	prefixes := make([][]byte, len(f.targets))
	for i, t := range f.targets {
		prefixes[i] = []byte(t[:s.prefix])
	}
	for offset := range s.stride { // so that later ones come first in each list
		for _, p := range prefixes {
			s.addGram(load(p[offset:]), int32(offset))
		}
	}
	s.heads = make([]uint8, 1<<12)
	s.following = make([]uint8, len(f.targets)+1)
	s.hashes = make([]uint64, len(f.targets)+1)
	for i, p := range prefixes {
		h := hash(p)
		s.hashes[i+1] = h
		s.following[i+1], s.heads[h>>52] = s.heads[h>>52], uint8(i+1)
	}
	return s
}

// stride returns a stride that the shortest target allows, and with which the
// tables take less time than the text.
func stride(f *finder) int {
	n := maxStride
	for _, t := range f.targets {
		n = min(n, len(t)-gramSize+1)
	}
	affordable := int(math.Sqrt(float64(len(f.text) / (4 * len(f.targets)))))
	return max(1, min(n, affordable))
}

// addGram notes a gram at an offset, unless it is noted.
func (s *sampler) addGram(gram uint64, offset int32) {
	slot := s.slot(gram)
	for i := s.grams[slot]; i != 0; i = s.entries[i-1].next {
		e := s.entries[i-1]
		if e.offset != offset {
			break // the offsets of a list descend
		}
		if e.gram == gram {
			return
		}
	}
	s.entries = append(s.entries, gramEntry{gram, offset, s.grams[slot]})
	s.grams[slot] = uint16(len(s.entries))
}

func (s *sampler) slot(gram uint64) uint64 { return gram * hashFactor >> s.shift }

// check looks for the targets with the given gram around text[at], where it is.
// It goes through a list of entries, as far as the budget goes.
func (s *sampler) check(gram uint64, i uint16, at int) {
	for ; i != 0 && s.budget >= 0; i = s.entries[i-1].next {
		s.budget--
		e := s.entries[i-1]
		start := at - int(e.offset)
		if e.gram == gram && start >= 0 && start+s.prefix <= len(s.f.text) {
			s.checkStart(start)
		}
	}
}

// checkStart looks for the targets that start at the given place.
func (s *sampler) checkStart(start int) {
	text := s.f.text[start:]
	h := hash(text[:s.prefix])
	s.budget -= s.prefix / gramSize
	for t := s.heads[h>>52]; t != 0 && s.budget >= 0; t = s.following[t] {
		s.budget--
		if s.hashes[t] != h {
			continue
		}
		target := s.f.targets[t-1]
		if len(target) > len(text) || s.f.done(int(t)-1) {
			continue
		}
		s.budget -= len(target) / 16
		if string(text[:len(target)]) == target {
			s.f.add(int(t)-1, start)
		}
	}
}

// hashFactor is 2^64 divided by the golden ratio.
const hashFactor = 0x9e3779b97f4a7c15

// hash returns a hash of s, which has at least gramSize bytes.
func hash(s []byte) uint64 {
	h := uint64(0)
	last := len(s) - gramSize
	for i := 0; i < last; i += gramSize {
		h = bits.RotateLeft64(h, 23) ^ load(s[i:])
	}
	h = bits.RotateLeft64(h, 23) ^ load(s[last:])
	hi, lo := bits.Mul64(h^hashFactor, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// load returns the first gramSize bytes of s as a number.
func load(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }
