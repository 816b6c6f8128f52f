package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/search/internal/rawfs"
)

// many returns a tree of files with so many lines that match, in each of them.
func many(t *testing.T, files, lines int) string {
	t.Helper()
	var all []string
	for i := range files {
		all = append(all, fmt.Sprintf("%04d", i), strings.Repeat("x\n", lines))
	}
	return tree(t, all...)
}

func started(t *testing.T, o *GrepOptions) *search {
	t.Helper()
	w, _, err := newWalker(t.Context(), &o.WalkOptions)
	require.NoError(t, err)
	if o.sizes == (sizes{}) {
		o.sizes = sizes{BinaryBytes, chunkBytes, segmentBytes, MaxLineBytes, MaxUTF16Bytes}
	}
	s := newSearch(t.Context(), o, w, false)
	t.Cleanup(s.close)
	return s
}

func TestWorkersWaitForTheConsumer(t *testing.T) {
	noUser(t)
	for _, size := range []sizes{
		{BinaryBytes, chunkBytes, segmentBytes, MaxLineBytes, MaxUTF16Bytes},
		{16, 100, 512, MaxLineBytes, MaxUTF16Bytes}, // large files
	} {
		const files, lines = 100, 1000
		o := GrepOptions{WalkOptions: WalkOptions{Root: many(t, files, lines)}, Pattern: mustCompile(t, "x"), Workers: 4, sizes: size, ahead: 1 << 20}
		s := started(t, &o)
		peak := func() int {
			s.ahead.mu.Lock()
			defer s.ahead.mu.Unlock()
			return s.ahead.used
		}
		seen := 0
		require.NoError(t, s.results(func(m FileMatches) bool {
			if seen == 0 && size.head > 16 {
				require.Eventually(t, func() bool { // nothing goes on
					s.ahead.mu.Lock()
					defer s.ahead.mu.Unlock()
					return s.ahead.changed != nil
				}, time.Minute, time.Millisecond)
			}
			require.LessOrEqual(t, peak(), o.ahead+lines*(lineBytes+1)+4*reserveBytes)
			seen += len(m.Lines)
			return true
		}))
		require.Equal(t, files*lines, seen)
		require.Zero(t, s.ahead.used)
	}
}

func TestWithHardlyAnyRoomAhead(t *testing.T) {
	noUser(t)
	for _, workers := range []int{1, 2, 8} {
		for _, segment := range []int{64, segmentBytes} {
			o := GrepOptions{WalkOptions: WalkOptions{Root: many(t, 60, 200)}, Pattern: mustCompile(t, "x"), Workers: workers, ahead: 1}
			o.sizes = sizes{16, min(segment, 1000), segment, MaxLineBytes, MaxUTF16Bytes}
			require.Equal(t, 60*200, strings.Count(mustGrep(t, o), ":x"))
		}
	}
}

func TestRoomIsGivenBackBehindAFault(t *testing.T) {
	noUser(t)
	text := strings.Repeat("x\n", 100) + strings.Repeat("y", 500) + strings.Repeat("\nx", 1000)
	o := GrepOptions{WalkOptions: WalkOptions{Root: tree(t, "a", text, "b", text, "c", "x\n")}, Pattern: mustCompile(t, "x"), Workers: 4, ahead: 1 << 20}
	o.sizes = sizes{16, 32, 64, 200, MaxUTF16Bytes}
	s := started(t, &o)
	require.NoError(t, s.results(func(FileMatches) bool { return true }))
	require.Zero(t, s.ahead.used)
}

func TestNothingIsSearchedBehindWhatIsEnough(t *testing.T) {
	noUser(t)
	o := GrepOptions{WalkOptions: WalkOptions{Root: many(t, 2000, 1)}, Pattern: mustCompile(t, "x"), Workers: 2, Limit: 5, ahead: aheadBytes}
	s := started(t, &o)
	given := 0
	err := s.results(func(m FileMatches) bool {
		<-s.work.Done() // while the consumer has the first line
		given++
		return true
	})
	require.Equal(t, ErrLimit, err)
	require.Equal(t, 5, given)
}

func TestTally(t *testing.T) {
	var c tally
	require.Equal(t, 0, c.add(1, 5))
	require.Equal(t, 0, c.add(3, 7))
	require.Equal(t, 6, c.add(0, 1))
	require.Equal(t, 13, c.add(2, 0))
	require.Empty(t, c.ahead)
}

func TestContextOfLongLinesDoesNotStayInTheBuffer(t *testing.T) {
	noUser(t)
	const long = 10_000
	text := strings.Repeat(strings.Repeat("y", long)+"\n", 30) + "x\n" + strings.Repeat("z\n", 3)
	o := GrepOptions{Pattern: mustCompile(t, "x"), Context: 20, Workers: 1, ForRecords: true, ahead: aheadBytes}
	o.Root = tree(t, "f", text)
	o.sizes = sizes{16, 64, segmentBytes, long, MaxUTF16Bytes}
	s := started(t, &o)
	f, err := rawfs.Open(filepath.Join(o.Root, "f"))
	require.NoError(t, err)
	defer f.Close()
	r := &reader{ctx: t.Context(), file: f}
	require.NoError(t, r.fill(16))
	w := newWorker(s, true)
	w.of = w
	w.collect()
	require.NoError(t, w.searchChunks(r, toEnd))
	require.Less(t, cap(r.buf), 3*long)
	require.Len(t, w.found.lines, 20+1+3)
	require.Equal(t, 11, w.found.lines[0].Number)
	for _, l := range w.found.lines {
		require.LessOrEqual(t, len(l.Text), clipBytes)
	}
}

func TestWhereTheMatchIsInShortLines(t *testing.T) {
	noUser(t)
	o := GrepOptions{Pattern: mustCompile(t, "needle")}
	o.Root = tree(t, "f", "a needle\n")
	for _, records := range []bool{false, true} {
		o.ForRecords = records
		for m, err := range Grep(t.Context(), o) {
			require.NoError(t, err)
			if records {
				require.Equal(t, []Line{{Number: 1, Match: true, Text: []byte("a needle")}}, m.Lines)
			} else {
				require.Equal(t, []Line{{Number: 1, Match: true, Text: []byte("a needle"), Start: 2, End: 8}}, m.Lines)
			}
		}
	}
}

func TestLargeUTF16IsNotRead(t *testing.T) {
	noUser(t)
	o := GrepOptions{Pattern: mustCompile(t, "x"), Workers: 1, ahead: aheadBytes}
	o.Root = tree(t, "f", "\xff\xfe"+strings.Repeat("x\x00", 1<<20))
	o.sizes = sizes{16, 64, segmentBytes, MaxLineBytes, 1 << 20}
	s := started(t, &o)
	f, err := rawfs.Open(filepath.Join(o.Root, "f"))
	require.NoError(t, err)
	defer f.Close()
	r := &reader{ctx: t.Context(), file: f}
	require.NoError(t, r.fill(16))
	require.Equal(t, ErrTooLarge, newWorker(s, false).searchUTF16(r, false))
	require.Len(t, r.buf, 16)
}

func TestGrepPanicsInTheCaller(t *testing.T) {
	p := mustCompile(t, "x")
	for message, o := range map[string]GrepOptions{
		"search: GrepOptions.Pattern is nil":      {},
		"search: GrepOptions.Context is negative": {Pattern: p, Context: -1},
		"search: GrepOptions.Limit is negative":   {Pattern: p, Limit: -1},
	} {
		require.PanicsWithValue(t, message, func() { Grep(t.Context(), o) })
	}
}

func TestOneSequenceInTwoLoops(t *testing.T) {
	noUser(t)
	o := GrepOptions{WalkOptions: WalkOptions{Root: many(t, 50, 3)}, Pattern: mustCompile(t, "x")}
	found := Grep(t.Context(), o)
	var loops sync.WaitGroup
	counts := make([]int, 2)
	for i := range counts {
		loops.Go(func() {
			for m := range found {
				counts[i] += len(m.Lines)
			}
		})
	}
	loops.Wait()
	require.Equal(t, []int{150, 150}, counts)
}

func TestFilesThatChangeWhileTheyAreSearched(t *testing.T) {
	noUser(t)
	root := many(t, 8, 5000)
	o := GrepOptions{WalkOptions: WalkOptions{Root: root}, Pattern: mustCompile(t, "x"), Workers: 2}
	over := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			default:
				_ = os.Truncate(fmt.Sprintf("%s/%04d", root, i%8), int64(i*7919%20_000))
			}
		}
	})
	for _, segment := range []int{segmentBytes, 512} {
		for context := range 2 {
			o.Context, o.sizes = context, sizes{16, 100, segment, MaxLineBytes, MaxUTF16Bytes}
			for range 10 {
				for m, err := range Grep(t.Context(), o) {
					require.NoError(t, err)
					require.True(t, slices.IsSortedFunc(m.Lines, func(a, b Line) int { return a.Number - b.Number }))
				}
			}
		}
	}
	close(over)
	changing.Wait()
}

func TestReadingIsCancelled(t *testing.T) {
	noUser(t)
	root := tree(t, "f", strings.Repeat("y\n", 1<<20)) // 8 chunks
	for _, segment := range []int{segmentBytes, 4 * chunkBytes} {
		o := GrepOptions{WalkOptions: WalkOptions{Root: root}, Pattern: mustCompile(t, "x"), Workers: 1, ahead: aheadBytes}
		o.sizes = sizes{BinaryBytes, chunkBytes, segment, MaxLineBytes, MaxUTF16Bytes}
		s := started(t, &o)
		f, err := rawfs.Open(filepath.Join(root, "f"))
		require.NoError(t, err)
		defer f.Close()
		ctx, cancel := context.WithCancel(t.Context())
		r := &reader{ctx: ctx, file: f}
		require.NoError(t, r.fill(chunkBytes))
		cancel()
		w := newWorker(s, true)
		w.of = w
		w.collect()
		require.ErrorIs(t, w.searchChunks(r, toEnd), context.Canceled)
		require.EqualValues(t, chunkBytes, r.offset, "it reads no further")
	}
}
