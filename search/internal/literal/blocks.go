package literal

// blocks finds any of many literals by their blocks of two bytes (Wu and
// Manber, "A fast algorithm for multi-pattern searching", 1994): the block at
// the end of a window tells how far on the next window can begin in which a
// literal may start. The longer the shortest literal, the faster.
type blocks struct {
	window int  // the length of the shortest literal
	fold   byte // foldBit if some literal folds; it is set in all bytes then

	// How far to move on from a block at the end of the window; from firstBucket
	// on, the number of the bucket of literals that may start there.
	table   [1 << 16]uint8
	buckets [][]*Finder
}

// Limits of blocks.
const (
	minBlocksLen = 3 // bytes of the shortest literal
	maxBlocks    = 32
	firstBucket  = 1<<8 - maxBlocks
)

func newBlocks(finders []*Finder) *blocks {
	b := &blocks{window: firstBucket - 1}
	for _, f := range finders {
		b.window = min(b.window, len(f.text))
		if !f.exact {
			b.fold = foldBit
		}
	}
	for i := range b.table {
		b.table[i] = uint8(b.window - 1)
	}
	for _, f := range finders {
		for end := 1; end < b.window; end++ {
			key := b.key(f.text[end-1], f.text[end])
			shift := uint8(b.window - 1 - end)
			switch bucketed := b.table[key] >= firstBucket; {
			case shift > 0 && !bucketed:
				b.table[key] = min(b.table[key], shift)
			case shift > 0:
			case bucketed:
				bucket := &b.buckets[b.table[key]-firstBucket]
				*bucket = append(*bucket, f)
			default:
				b.table[key] = uint8(firstBucket + len(b.buckets))
				b.buckets = append(b.buckets, []*Finder{f})
			}
		}
	}
	return b
}

func (b *blocks) key(x, y byte) uint16 { return uint16(x|b.fold)<<8 | uint16(y|b.fold) }

// index returns the position of the first occurrence of any literal in data at
// or after from, or -1.
func (b *blocks) index(data []byte, from int) int {
	for end := from + b.window - 1; end < len(data); {
		v := b.table[b.key(data[end-1], data[end])]
		if v < firstBucket {
			end += int(v)
			continue
		}
		start := end - b.window + 1
		for _, f := range b.buckets[v-firstBucket] {
			if start+len(f.text) <= len(data) && f.equal(data[start:]) {
				return start
			}
		}
		end++
	}
	return -1
}
