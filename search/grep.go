package search

import (
	"context"
	"errors"
	"iter"
	"runtime"
)

// ErrLimit ends a [Grep] that has found more matching lines than
// GrepOptions.Limit. It is no failure.
var ErrLimit = errors.New("limit of matching lines reached")

// Limits of [Grep].
const (
	MaxLineBytes   = 64 << 20 // of a line
	MaxUTF16Bytes  = 64 << 20 // of a file in UTF-16
	BinaryBytes    = 64 << 10 // at the start of a file, in which NUL means binary
	DefaultWorkers = 8        // or fewer, if the program may use fewer processors
)

// GrepOptions say what to search for and where. Root and Pattern are needed.
type GrepOptions struct {
	// WalkOptions say which files are searched. Root may also be a regular
	// file: then it alone is searched, whatever the other options say.
	WalkOptions

	Pattern *Pattern
	Context int // lines before and after each match that are selected too
	Limit   int // the most matching lines over all files, 0 for no limit
	Workers int // goroutines that search, 0 for the default

	// Clip: of the text of a long line only so much is kept as AppendLine can
	// show. It bounds the memory for lines of any length.
	Clip bool

	sizes sizes
}

// sizes are sizes in bytes, which tests make small.
type sizes struct {
	head    int // BinaryBytes
	chunk   int // chunkBytes
	segment int // segmentBytes
	line    int // MaxLineBytes
	utf16   int // MaxUTF16Bytes
}

// A Line is a selected line of a file.
type Line struct {
	Number int    // 1-based
	Match  bool   // it matches; otherwise it is context
	Text   []byte // the content without its end, or a part of it

	// Where the leftmost match is in Text, in bytes, if the line matches and has
	// more than RecordChars/2 bytes; 0 otherwise, and Pattern.Find tells.
	Start, End int

	CutBefore, CutAfter bool // Text does not begin, or end, where the line does
}

// FileMatches are selected lines of one file, at least one.
type FileMatches struct {
	Path      string // relative to Root, with slashes; "" if Root is the file
	Lines     []Line // ascending, each once
	Continued bool   // they follow on those given before, of the same file
}

// Grep searches files and gives the lines that match, with their context, file
// by file in the order of [Walk]. The number of workers and their timing have no
// effect on the result. A large file may be given in parts. Lines and their texts
// are valid until the next step of the loop.
//
// # Lines
//
// A line ends at LF, at CR LF, or at a CR that no LF follows, and a match lies
// in the content of one line. A UTF-8 byte order mark at the start of a file
// belongs to no line, and a file that starts with a UTF-16 one is searched as
// UTF-8. A file that a walk comes to is left out if it has NUL in its first
// BinaryBytes bytes; a file that is Root is not.
//
// # Errors
//
// An error ends the loop, with an empty FileMatches: that of the context,
// [ErrLimit], or an [*fs.PathError] if Root cannot be read. Other files and
// directories that cannot be searched are reported to WalkOptions.Errors; what
// was found in them before is given. A line of more than MaxLineBytes ends the
// search of its file, and a UTF-16 file of more than MaxUTF16Bytes is not
// searched.
//
// The search stops at the first matching line over the limit, which is not
// given. All goroutines have ended when the loop has. The context is looked at
// for each directory, file, 256 KiB and 1,000 matching lines; a system call or
// the match of one chunk of a file is not interrupted.
func Grep(ctx context.Context, o GrepOptions) iter.Seq2[FileMatches, error] {
	return func(yield func(FileMatches, error) bool) {
		w, isFile, err := newWalker(ctx, &o.WalkOptions)
		if err != nil {
			yield(FileMatches{}, err)
			return
		}
		if o.Workers <= 0 {
			o.Workers = min(runtime.GOMAXPROCS(0), DefaultWorkers)
		}
		if o.sizes == (sizes{}) {
			o.sizes = sizes{BinaryBytes, chunkBytes, segmentBytes, MaxLineBytes, MaxUTF16Bytes}
		}
		s := newSearch(ctx, &o, w, isFile)
		defer s.close()
		s.consume(yield)
	}
}
