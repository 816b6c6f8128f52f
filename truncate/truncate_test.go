package truncate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// numbered returns n records of a file of empty lines.
func numbered(n int) []Record {
	records := make([]Record, n)
	for i := range records {
		records[i] = Record{Text: fmt.Sprintf("%d ", i+1), Marker: fmt.Sprintf("%d(truncated)", i+1)}
	}
	return records
}

func repeated(text string, n int) []Record {
	records := make([]Record, n)
	for i := range records {
		records[i].Text = text
	}
	return records
}

func join(records []Record, from, to int) string {
	lines := make([]string, 0, to-from)
	for _, r := range records[from:to] {
		lines = append(lines, r.Text)
	}
	return strings.Join(lines, "\n")
}

func TestNativeBudget(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	empty := numbered(2001)
	for _, tt := range []struct {
		rule      string
		records   []Record
		body      string
		truncated bool
		bytes     int64
	}{
		{"no records", nil, "", false, 0},
		{"one empty record", []Record{{}}, "", false, 0},
		{"two empty records", []Record{{}, {}}, "\n", false, 1},
		{"exactly the budget is shown", []Record{{"1(no_nl) " + x(10231), "1(no_nl,truncated)"}}, "1(no_nl) " + x(10231), false, 10240},
		{"one byte more is a marker", []Record{{"1(no_nl) " + x(10232), "1(no_nl,truncated)"}}, "1(no_nl,truncated)", true, 10241},
		{"no marker given", []Record{{x(10241), ""}}, "(truncated)", true, 10241},
		{
			"records after a long one are shown",
			[]Record{{"1 first", ""}, {"2 " + x(10300), "2(truncated)"}, {"3 third", ""}},
			"1 first\n2(truncated)\n3 third", true, 10318,
		},
		{
			"the separator counts",
			[]Record{{"1 " + x(5118), ""}, {"2 " + x(5118), "2(truncated)"}},
			"1 " + x(5118) + "\n2(truncated)", true, 10241,
		},
		{
			"joined it just fits",
			[]Record{{"1 " + x(5118), ""}, {"2 " + x(5117), "2(truncated)"}},
			"1 " + x(5118) + "\n2 " + x(5117), false, 10240,
		},
		{"2,000 lines over bytes have no separator", empty[:2000], join(empty, 0, 1891), true, 10892},
		{"2,001 lines are head and tail", empty, join(empty, 0, 1000) + "\n...\n" + join(empty, 1111, 2001), true, 10898},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got := Native.Apply(tt.records)
			require.Equal(t, Result{tt.body, tt.truncated, len(tt.records), tt.bytes}, got)
		})
	}
}

func TestHeadAndTail(t *testing.T) {
	big := strings.Repeat("b", 6000)
	t.Run("first line over half the budget", func(t *testing.T) {
		records := numbered(2001)
		records[0].Text = "1 " + big
		lines := strings.Split(Native.Apply(records).Body, "\n")
		require.Equal(t, []string{"1(truncated)", "2 ", "3 "}, lines[:3])
	})
	t.Run("head stops at a later line that does not fit", func(t *testing.T) {
		records := numbered(2001)
		records[2].Text = "3 " + big
		body := Native.Apply(records).Body
		require.True(t, strings.HasPrefix(body, "1 \n2 \n...\n"))
	})
	t.Run("last line that does not fit the rest", func(t *testing.T) {
		records := numbered(2001)
		records[2000].Text = "2001 " + big
		lines := strings.Split(Native.Apply(records).Body, "\n")
		require.Equal(t, []string{"1999 ", "2000 ", "2001(truncated)"}, lines[len(lines)-3:])
	})
	t.Run("lines over the whole budget are markers anywhere", func(t *testing.T) {
		records := numbered(2001)
		for _, i := range []int{1, 1999} {
			records[i].Text = strings.Repeat("b", Native.Bytes+1)
		}
		lines := strings.Split(Native.Apply(records).Body, "\n")
		require.Equal(t, "2(truncated)", lines[1])
		require.Equal(t, "2000(truncated)", lines[len(lines)-2])
	})
	t.Run("content that looks like a separator", func(t *testing.T) {
		body := Native.Apply(repeated("...", 2001)).Body
		require.Equal(t, 2001, strings.Count(body, Separator))
	})
}

func TestShellBudget(t *testing.T) {
	t.Run("2,001 short lines", func(t *testing.T) {
		got := Shell.Apply(repeated("out x", 2001))
		side := strings.Repeat("out x\n", 1000)
		require.Equal(t, Result{side + "...\n" + strings.TrimSuffix(side, "\n"), true, 2001, 12005}, got)
	})
	t.Run("markers for lines over the budget suffice", func(t *testing.T) {
		got := Shell.Apply([]Record{{"out a", ""}, {strings.Repeat("b", 20000), "out(truncated)"}, {"out c", ""}})
		require.Equal(t, "out a\nout(truncated)\nout c", got.Body)
		require.True(t, got.Truncated)
	})
	t.Run("the end is kept", func(t *testing.T) {
		line := "out " + strings.Repeat("x", 96)
		got := Shell.Apply(append(repeated(line, 500), Record{Text: "out last"}))
		require.True(t, strings.HasSuffix(got.Body, "\nout last"))
		require.Equal(t, 1, strings.Count(got.Body, "\n...\n"))
		require.LessOrEqual(t, len(got.Body), Shell.Bytes)
		require.Greater(t, len(got.Body), Shell.Bytes-2*len(line))
	})
	t.Run("no separator when nothing lies between", func(t *testing.T) {
		p := Policy{Lines: 10, Bytes: 40, KeepTail: true}
		got := p.Apply([]Record{{strings.Repeat("a", 30), "a(truncated)"}, {strings.Repeat("b", 30), "b(truncated)"}})
		require.Equal(t, "a(truncated)\nb(truncated)", got.Body)
	})
}

func TestPolicyLimits(t *testing.T) {
	many := numbered(30)
	t.Run("no line limit", func(t *testing.T) {
		require.Equal(t, Policy{Bytes: 1 << 20}.Apply(many).Body, join(many, 0, 30))
	})
	t.Run("no byte limit", func(t *testing.T) {
		got := Policy{Lines: 4}.Apply(many)
		require.Equal(t, "1 \n2 \n...\n29 \n30 ", got.Body)
		require.True(t, got.Truncated)
	})
	t.Run("no limit", func(t *testing.T) {
		got := Policy{}.Apply(many)
		require.Equal(t, join(many, 0, 30), got.Body)
		require.False(t, got.Truncated)
	})
	t.Run("head and tail never overlap", func(t *testing.T) {
		got := Policy{Lines: 4, Head: 3, Tail: 9}.Apply(many[:5])
		require.Equal(t, "1 \n2 \n3 \n...\n5 ", got.Body)
	})
	t.Run("head only, tail only", func(t *testing.T) {
		require.Equal(t, "1 \n2 \n...", Policy{Lines: 4, Head: 2}.Apply(many).Body)
		require.Equal(t, "...\n29 \n30 ", Policy{Lines: 4, Tail: 2}.Apply(many).Body)
	})
	t.Run("smaller than a marker or the separator", func(t *testing.T) {
		for bytes := 1; bytes < 20; bytes++ {
			for _, keep := range []bool{false, true} {
				for _, lines := range []int{0, 3} {
					got := Policy{Lines: lines, Bytes: bytes, KeepTail: keep}.Apply(many)
					require.LessOrEqual(t, len(got.Body), bytes)
				}
			}
		}
	})
}

func TestCollectorReportsOver(t *testing.T) {
	c := NewCollector(Policy{Lines: 2, Bytes: 5})
	c.Add(Record{Text: "ab"})
	c.Add(Record{Text: "cd"})
	require.False(t, c.Over())
	c.Add(Record{})
	require.True(t, c.Over())

	c = NewCollector(Policy{Bytes: 4})
	c.Add(Record{Text: "ab"})
	c.Add(Record{Text: "cd"})
	require.True(t, c.Over())
}

func TestCollectorDoesNotKeepItsInput(t *testing.T) {
	c := NewCollector(Policy{Lines: 2, Bytes: 100})
	buf := []byte("1 text")
	for i := range 5 {
		buf[0] = byte('1' + i)
		c.AddBytes(buf, nil)
	}
	require.Equal(t, "1 text\n...\n5 text", c.Result().Body)
}

func TestCollectorResultMayBeAskedOften(t *testing.T) {
	c := NewCollector(Native)
	for i, r := range numbered(2500) {
		c.Add(r)
		if i%499 == 0 || i > 1997 && i < 2003 {
			require.Equal(t, c.Result(), c.Result())
			require.Equal(t, Native.Apply(numbered(i+1)), c.Result())
		}
	}
}

func TestCollectorMemoryIsBounded(t *testing.T) {
	c := NewCollector(Native)
	text := []byte(strings.Repeat("x", 300))
	for i := range 1_000_000 {
		c.AddBytes(text[:i%len(text)], nil)
	}
	held := cap(c.list.body) + cap(c.head.body) + cap(c.tail.buf) + 8*cap(c.tail.costs)
	require.Less(t, held, 16*Native.Bytes)
}

// naive cuts a list with the rules written out, on everything in memory.
func naive(p Policy, records []Record) Result {
	p = p.limits()
	var native []string
	for _, r := range records {
		native = append(native, r.Text)
	}
	whole := strings.Join(native, "\n")
	result := Result{Body: whole, Lines: len(records), Bytes: int64(len(whole))}
	if len(records) <= p.Lines && len(whole) <= p.Bytes {
		return result
	}
	result.Truncated = true

	type pair struct{ text, marker string }
	var pairs []pair
	for _, r := range records {
		marker := r.Marker
		if marker == "" {
			marker = "(truncated)"
		}
		text := r.Text
		if len(text) > p.Bytes {
			text = marker
		}
		pairs = append(pairs, pair{text, marker})
	}
	fits := func(limit int, lines []string, more ...string) bool {
		return len(strings.Join(append(append([]string{}, lines...), more...), "\n")) <= limit
	}

	if len(records) <= p.Lines {
		var shown []string
		for _, r := range pairs {
			switch {
			case fits(p.Bytes, shown, r.text):
				shown = append(shown, r.text)
				continue
			case !p.KeepTail && fits(p.Bytes, shown, r.marker):
				shown = append(shown, r.marker)
				continue
			}
			break
		}
		if !p.KeepTail || len(shown) == len(records) {
			result.Body = strings.Join(shown, "\n")
			return result
		}
	}

	var head []string
	for _, r := range pairs[:min(p.Head, len(pairs))] {
		if len(head) == 0 && !fits(p.Bytes/2, head, r.text) {
			r.text = r.marker
		}
		if !fits(p.Bytes/2, head, r.text) {
			break
		}
		head = append(head, r.text)
	}
	budget := p.Bytes - len(strings.Join(head, "\n")) - len("\n...")
	var tail []string
	for i := len(pairs) - 1; i >= len(head) && len(tail) < p.Tail; i-- {
		text := pairs[i].text
		if len(tail) == 0 && len(text)+1 > budget {
			text = pairs[i].marker
		}
		if len(text)+1 > budget {
			break
		}
		budget -= len(text) + 1
		tail = append([]string{text}, tail...)
	}
	shown := head
	if len(head)+len(tail) < len(records) && fits(p.Bytes, head, "...") && p.Bytes-len(strings.Join(head, "\n")) >= len("\n...") {
		shown = append(shown, "...")
	}
	result.Body = strings.Join(append(shown, tail...), "\n")
	return result
}

// random returns records with lengths around the limits of p.
func random(r *rand.Rand, p Policy, n int) []Record {
	limit := min(p.Bytes, 20_000)
	lengths := []int{0, 1, 2, 5, limit / 4, limit/2 - 1, limit / 2, limit/2 + 1, limit - 1, limit, limit + 1}
	records := make([]Record, n)
	for i := range records {
		size := r.IntN(8)
		if r.IntN(6) == 0 {
			size = max(lengths[r.IntN(len(lengths))], 0)
		}
		text := strings.Repeat([]string{"x", "€", "."}[r.IntN(3)], size)
		records[i].Text = text[:len(text)/3*3]
		if r.IntN(4) > 0 {
			records[i].Marker = fmt.Sprintf("%d(truncated)", i)
		}
	}
	return records
}

func check(t *testing.T, p Policy, records []Record) {
	t.Helper()
	got := p.Apply(records)
	require.Equal(t, naive(p, records), got, "%+v %d records", p, len(records))

	limit := p.limits()
	require.LessOrEqual(t, len(got.Body), limit.Bytes)
	require.True(t, utf8.ValidString(got.Body))
	require.Equal(t, got.Truncated, got.Body != join(records, 0, len(records)) || got.Lines > limit.Lines)

	c := NewCollector(p)
	for _, r := range records {
		if len(r.Text) > limit.Bytes {
			c.AddLong(int64(len(r.Text)), []byte(r.Marker))
		} else {
			c.Add(r)
		}
	}
	require.Equal(t, got, c.Result())
}

func TestCollectorAgreesWithTheRulesWrittenOut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		p := Policy{Lines: r.IntN(12), Head: r.IntN(7), Tail: r.IntN(7), Bytes: r.IntN(90), KeepTail: r.IntN(2) == 0}
		check(t, p, random(r, p, r.IntN(16)))
	}
	for _, p := range []Policy{Native, Shell} {
		for _, n := range []int{0, 1, 999, 1000, 1001, 1998, 1999, 2000, 2001, 2002, 2500} {
			check(t, p, random(r, p, n))
			check(t, p, numbered(n))
		}
	}
}

func FuzzCollector(f *testing.F) {
	f.Add("a\nb\nc", 2, 1, 1, 10, false)
	f.Add("aaaa\n\n...\nb€", 3, 0, 0, 7, true)
	f.Add(strings.Repeat("line\n", 50), 10, 4, 4, 100, true)
	f.Fuzz(func(t *testing.T, text string, lines, head, tail, bytes int, keepTail bool) {
		if !utf8.ValidString(text) || len(text) > 10_000 {
			t.Skip()
		}
		var records []Record
		for i, line := range strings.Split(text, "\n") {
			records = append(records, Record{line, fmt.Sprintf("%d(truncated)", i)})
		}
		small := func(n int) int { return int(math.Abs(float64(n % 200))) }
		check(t, Policy{small(lines), small(head), small(tail), small(bytes), keepTail}, records)
	})
}

// BenchmarkCollector adds ten million records of a listing.
func BenchmarkCollector(b *testing.B) {
	text, marker := []byte("123456 some line of output of an ordinary length"), []byte("123456(truncated)")
	b.ReportAllocs()
	for b.Loop() {
		c := NewCollector(Native)
		for range 10_000_000 {
			c.AddBytes(text, marker)
		}
		if c.Result().Lines != 10_000_000 {
			b.Fatal("lines lost")
		}
	}
}
