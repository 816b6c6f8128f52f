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

	// ForRecords: Text and positions are only what AppendLine needs. It bounds
	// the memory for lines of any length, and saves the time to look for where
	// a match is in a line that is shown whole.
	ForRecords bool

	sizes sizes
	ahead int // bytes of results that may wait, aheadBytes unless a test wants less
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
	Text   []byte // the content without its end

	// Where the leftmost match is in Text, in bytes; 0 for context. With
	// ForRecords also 0 for a line that AppendLine shows whole.
	Start, End int

	// With ForRecords: Text does not begin, or end, where the line does.
	CutBefore, CutAfter bool
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
//
// # Memory
//
// What was found ahead of the loop takes at most about 64 MiB, and searching
// pauses until the loop has come on. What the loop comes to next may take more:
// without a limit, all selected lines of one file are held at once, or of each
// part of a large file. The files themselves are held in parts of 256 KiB, or a
// line if it is longer; one in UTF-16 is held whole. Without ForRecords, so are
// as many lines before such a part as Context says.
//
// Grep panics if Pattern is nil, or Context or Limit is negative. The loop may be
// run any number of times, also at the same time, and searches each time.
func Grep(ctx context.Context, o GrepOptions) iter.Seq2[FileMatches, error] {
	o.check()
	return func(yield func(FileMatches, error) bool) {
		o := o // a loop of its own may run at the same time
		w, mode, err := newWalker(ctx, &o.WalkOptions)
		if err == nil && !mode.IsDir() && !mode.IsRegular() {
			err = o.rootError(ErrNotRegular)
		}
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
		if o.ahead == 0 {
			o.ahead = aheadBytes
		}
		s := newSearch(ctx, &o, w, mode.IsRegular())
		defer s.close()
		s.consume(yield)
	}
}

// check panics if the options make no sense, before any goroutine does.
func (o *GrepOptions) check() {
	switch {
	case o.Pattern == nil:
		panic("search: GrepOptions.Pattern is nil")
	case o.Context < 0:
		panic("search: GrepOptions.Context is negative")
	case o.Limit < 0:
		panic("search: GrepOptions.Limit is negative")
	}
}
