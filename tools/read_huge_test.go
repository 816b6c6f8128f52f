package tools_test

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/tools"
)

func TestReadOneHugeLine(t *testing.T) {
	content := strings.Repeat("x", 15<<20)
	out := call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content), Spool: newSpool(t, artifact.Options{})}), whole)
	require.Equal(t, "1(no_nl,truncated)", out.Result.Body)
	require.Equal(t, "1", header(out, "total_lines"))
	require.Equal(t, strconv.Itoa(15<<20), header(out, "total_bytes"))
	require.True(t, saved(t, out) == "1(no_nl) "+content)
}

func TestReadBinaryFile(t *testing.T) {
	content := make([]byte, 256*64)
	for i := range content {
		content[i] = byte(i * 7)
	}
	out := call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, string(content)), Spool: newSpool(t, artifact.Options{})}), whole)
	requireLikeOracle(t, out, string(content), fileRecords(string(content)), true)
}

// TestReadSavesAtMost16MiB reads files whose rendering is larger than what is
// saved of it.
func TestReadSavesAtMost16MiB(t *testing.T) {
	for _, tt := range []struct {
		name, content, rendering string
	}{
		{"CR only", strings.Repeat("\r", 1_400_000), numbered(1_400_000, "(cr) ")},
		{"empty lines", strings.Repeat("\n", 2_000_000), numbered(2_000_000, " ")},
		{"character at the cut", "\n" + strings.Repeat("é", 8<<20-1), "1 \n2(no_nl) " + strings.Repeat("é", 8<<20-1)},
		{"invalid", strings.Repeat("\xff", 6<<20), "1(invalid-utf8,no_nl) " + strings.Repeat("\ufffd", 6<<20)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, tt.content), Spool: newSpool(t, artifact.Options{})}), whole)
			require.Equal(t, strconv.Itoa(strings.Count(tt.rendering, "\n")+1), header(out, "total_lines"))
			require.Equal(t, strconv.Itoa(len(tt.content)), header(out, "total_bytes"))

			want := savedPrefix(tt.rendering)
			data, err := os.ReadFile(header(out, "saved_output_path"))
			require.NoError(t, err)
			require.True(t, want == string(data))
			got := keys(out)
			require.Equal(t, []string{"saved_output_path", "saved_output_truncated", "saved_output_bytes"}, got[len(got)-3:])
			require.Equal(t, strconv.Itoa(len(want)), header(out, "saved_output_bytes"))
		})
	}
}

// numbered returns the records of n empty lines.
func numbered(n int, suffix string) string {
	var out []byte
	for i := range n {
		out = append(strconv.AppendInt(out, int64(i+1), 10), suffix...)
		out = append(out, '\n')
	}
	return string(out[:len(out)-1])
}

// savedPrefix returns the longest prefix of up to 16 MiB in whole characters.
func savedPrefix(s string) string {
	n := 16 << 20
	for s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// TestReadAllocatesNothingForALine compares files of few and of very many
// lines.
func TestReadAllocatesNothingForALine(t *testing.T) {
	many := 10_000_000
	if testing.Short() || raceEnabled {
		many = 300_000
	}
	allocations := func(ending string, lines int) float64 {
		content := bytes.Repeat([]byte(ending), lines)
		ws := memory(t, memFS{open: func() io.Reader { return bytes.NewReader(content) }, size: int64(len(content))})
		tool, spool := tools.NewRead(tools.Env{Workspace: ws, Spool: newSpool(t, artifact.Options{})}), tools.Call{Arguments: encode(t, whole)}
		return testing.AllocsPerRun(1, func() {
			if out := tool.Call(t.Context(), spool); header(out, "total_lines") != strconv.Itoa(lines) {
				t.Errorf("%.200s", out.Text)
			}
		})
	}
	for _, ending := range []string{"\n", "\r"} {
		few := allocations(ending, 10_000)
		require.Less(t, allocations(ending, many), few+1000, "%q", ending) // saving allocates for every 64 KiB
	}
}
