package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/lineio"
)

// naiveGrep searches the files of a walk line by line, with package regexp and
// the lines of package lineio.
func naiveGrep(t testing.TB, o GrepOptions) (string, error) {
	t.Helper()
	var out []byte
	shown := 0
	for _, path := range walk(t, o.WalkOptions) {
		data, err := os.ReadFile(filepath.Join(o.Root, filepath.FromSlash(path)))
		require.NoError(t, err)
		if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
			var units []uint16
			for i := 2; i < len(data); i += 2 {
				switch {
				case i+1 == len(data):
					units = append(units, utf8.RuneError)
				case data[0] == 0xff:
					units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
				default:
					units = append(units, uint16(data[i+1])|uint16(data[i])<<8)
				}
			}
			data = []byte(string(utf16.Decode(units)))
		}
		if bytes.IndexByte(data[:min(len(data), o.sizes.head)], 0) >= 0 {
			continue
		}
		all := lineio.Split(bytes.TrimPrefix(data, []byte("\ufeff")))
		selected := map[int]bool{} // by index: whether it matches
		over := false
		last := -1
		for i, l := range all {
			if start, _ := o.Pattern.Find(l.Text); start < 0 {
				continue
			}
			if o.Limit > 0 && shown == o.Limit {
				over = true
				for k := range selected { // the context ends before this match
					if k >= i {
						delete(selected, k)
					}
				}
				break
			}
			shown++
			for k := max(i-o.Context, 0); k <= min(i+o.Context, len(all)-1); k++ {
				selected[k] = selected[k] || k == i
			}
			last = i
		}
		if last >= 0 {
			out, _ = AppendHeading(out, path)
			out = append(out, '\n')
		}
		for i, l := range all {
			match, ok := selected[i]
			if !ok {
				continue
			}
			line := Line{Number: l.Number, Match: match, Text: l.Text}
			if match {
				line.Start, line.End = o.Pattern.Find(l.Text)
			}
			out, _ = AppendLine(out, line)
			out = append(out, '\n')
		}
		if over {
			return string(out), ErrLimit
		}
	}
	return string(out), nil
}

// randomFile returns a file of lines of which some match.
func randomFile(r *rand.Rand) string {
	var b strings.Builder
	switch r.IntN(12) {
	case 0:
		b.WriteString("\ufeff")
	case 1:
		order := r.IntN(2)
		text := pick(r, []string{"needle", "é", "\n", "\r\n", "a", "x", "\U0001f600", "\r"}, r.IntN(60))
		b.WriteString([]string{"\xff\xfe", "\xfe\xff"}[order])
		for _, u := range utf16.Encode([]rune(text)) {
			pair := []byte{byte(u), byte(u >> 8)}
			b.WriteByte(pair[order])
			b.WriteByte(pair[1-order])
		}
		if r.IntN(4) == 0 {
			b.WriteString("x")
		}
		return b.String()
	}
	if r.IntN(12) == 0 {
		b.WriteString("\x00needle\n")
	}
	ends := [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n", "\r", "\n\r", "\r\r\n"}}[r.IntN(4)]
	for range r.IntN(60) {
		b.WriteString(pick(r, []string{"needle", "a", "b ", "é", "\xff", "x", "yz", "need"}, r.IntN(6)))
		if r.IntN(20) == 0 {
			b.WriteString(strings.Repeat("w", r.IntN(700)))
			b.WriteString("needle")
			b.WriteString(strings.Repeat("éw", r.IntN(400)))
		}
		b.WriteString(ends[r.IntN(len(ends))])
	}
	if r.IntN(2) == 0 {
		b.WriteString("needle at the end")
	}
	return b.String()
}

func TestGrepAgreesWithSearchLineByLine(t *testing.T) {
	noUser(t)
	r := rand.New(rand.NewPCG(11, 12))
	patterns := []*Pattern{mustCompile(t, "needle"), mustCompile(t, "ne+d"), mustCompile(t, "^$"), mustCompile(t, "w{3}n"), mustCompile(t, "x*"), mustCompile(t, "éa|yz")}
	for round := range 24 {
		var files []string
		for i := range 1 + r.IntN(12) {
			files = append(files, fmt.Sprintf("%s%02d", []string{"", "d/", "d/e/"}[r.IntN(3)], i), randomFile(r))
		}
		o := GrepOptions{
			WalkOptions: WalkOptions{Root: tree(t, files...)},
			Pattern:     patterns[round%len(patterns)],
			Context:     r.IntN(3) * r.IntN(3),
			Limit:       r.IntN(2) * r.IntN(20),
			ForRecords:  r.IntN(2) == 0,
		}
		o.sizes.head = []int{8, BinaryBytes}[r.IntN(2)]
		want, wantErr := naiveGrep(t, o)
		for _, workers := range []int{1, 2, 8} {
			for _, segment := range []int{segmentBytes, 4, 7, 64, 1000} {
				o.Workers = workers
				o.sizes = sizes{o.sizes.head, min(segment, []int{1, 5, 100}[r.IntN(3)]), segment, MaxLineBytes, MaxUTF16Bytes}
				got, err := grep(t.Context(), o)
				require.Equal(t, want, got, "workers %d, segment %d, context %d, limit %d", workers, segment, o.Context, o.Limit)
				require.Equal(t, wantErr, err)
			}
		}
	}
}
