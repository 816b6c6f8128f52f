//go:build unix

package dirlock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func busyTable() *Table {
	tt := &script{Table: NewTable()}
	acquire := func(agent Owner, manual bool, dirs ...Dir) {
		tt.Acquire(Claim{Holder: tt.holder(agent), Call: "c\xff%", Manual: manual, Dirs: dirs}, 7, testLimits)
	}
	chain := []Identity{{1, 2}, {0xfd00, 1<<64 - 1}}
	acquire("A", true, Dir{"/a", chain})
	acquire("A", true, Dir{"/\xff%41é\u2028", nil})
	acquire("X", true, Dir{"/x", nil})
	acquire("B", false, Dir{"/b", chain}, Dir{"/c", chain})
	acquire("C", false, Dir{"/a", chain}, Dir{"/x", nil})
	acquire("D", true, Dir{"/x/y", nil})
	acquire("D", true, Dir{"/x/y/z", nil})
	_, _ = tt.ForceUnlock("B", "X", Dir{Path: "/x"}, 8)
	return tt.Table
}

// TestDecodeIsTheInverseOfEncode is the first part of I11.
func TestDecodeIsTheInverseOfEncode(t *testing.T) {
	table := busyTable()
	data := table.Encode()
	again, err := DecodeTable(data)
	require.NoError(t, err)
	require.Equal(t, string(data), string(again.Encode()))
	require.Equal(t, table.Snapshot(9), again.Snapshot(9))
	require.Len(t, again.notices, 1)
	require.Equal(t, table.notices[0].dir.Path, again.notices[0].dir.Path)
	require.Equal(t, table.Instances(), again.Instances())
}

func TestDecodeRefusesWhatCannotBe(t *testing.T) {
	const instance = "00000000000000000000000000000001"
	manual := func(id int, agent, dir string) string {
		return fmt.Sprintf(`{"id":%d,"token":%d,"instance":"%s","agent":"%s","dir":"%s","ident":[],"acquired_ms":1,"used_ms":1,"uses":0}`,
			id, id+10, instance, agent, dir)
	}
	table := func(members string) string {
		return `{"version":1,"epoch":"` + instance + `","generation":1,"verdicts":0,"next_id":20,` + members + `}`
	}
	_, err := DecodeTable([]byte(table(`"manual":[` + manual(1, "A", "/a") + `,` + manual(2, "B", "/b") + `]`)))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"nothing":              ``,
		"garbage":              "\x00\x01",
		"half":                 table(`"manual":[]`)[:60],
		"an array":             `[]`,
		"null":                 `null`,
		"more":                 table(`"manual":[]`) + `{}`,
		"another version":      strings.Replace(table(`"manual":[]`), `"version":1`, `"version":2`, 1),
		"an unknown member":    table(`"locks":[]`),
		"a member twice":       table(`"version":1`),
		"a wrong epoch":        strings.Replace(table(`"manual":[]`), instance, "x", 1),
		"locks that overlap":   table(`"manual":[` + manual(1, "A", "/a") + `,` + manual(2, "B", "/a/b") + `]`),
		"own manual locks":     table(`"manual":[` + manual(1, "A", "/a") + `,` + manual(2, "A", "/a/b") + `]`),
		"an id twice":          table(`"manual":[` + manual(1, "A", "/a") + `,` + manual(1, "B", "/b") + `]`),
		"an id that is to be":  table(`"manual":[` + manual(20, "A", "/a") + `]`),
		"no id":                table(`"manual":[` + manual(0, "A", "/a") + `]`),
		"a relative directory": table(`"manual":[` + manual(1, "A", "a") + `]`),
		"an unclean directory": table(`"manual":[` + manual(1, "A", "/a/../b") + `]`),
		"a wrong escape":       table(`"manual":[` + manual(1, "A", "/%4") + `]`),
		"another escape":       table(`"manual":[` + manual(1, "A", "/%41") + `]`),
		"no agent":             table(`"manual":[` + manual(1, "", "/a") + `]`),
		"no directories":       table(`"auto":[{"id":1,"token":2,"instance":"` + instance + `","agent":"A","dirs":[],"ident":[],"call":"","acquired_ms":1}]`),
		"a wrong class":        table(`"waiters":[{"id":1,"instance":"` + instance + `","agent":"A","dirs":["/a"],"ident":[[]],"call":"","class":"x"}]`),
		"a wrong refusal":      table(`"waiters":[{"id":1,"instance":"` + instance + `","agent":"A","dirs":["/a"],"ident":[[]],"call":"","class":"manual","refused":{"code":"x"}}]`),
		"a path as instance":   strings.ReplaceAll(table(`"manual":[`+manual(1, "A", "/a")+`]`), `"instance":"`+instance, `"instance":"../../x`),
	} {
		_, err := DecodeTable([]byte(text))
		require.ErrorIs(t, err, ErrTable, name)
	}
}

// FuzzDecodeTable is the second part of I11: what is decoded keeps the rules.
func FuzzDecodeTable(f *testing.F) {
	f.Add(busyTable().Encode())
	f.Add(NewTable().Encode())
	f.Add([]byte(`{"version":1,"manual":[{}],"notices":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := DecodeTable(data)
		if err != nil {
			require.Nil(t, table)
			return
		}
		again, err := DecodeTable(table.Encode())
		require.NoError(t, err)
		require.Equal(t, string(table.Encode()), string(again.Encode()))
		for _, r := range table.sorted() {
			for _, s := range table.sorted() {
				if r.token != 0 && s.token != 0 && r.Holder != s.Holder {
					for _, d := range r.Dirs {
						require.False(t, overlapsAny(d, s.Dirs))
					}
				}
			}
		}
		for _, id := range table.Instances() {
			table.ReleaseInstance(id, 0)
			table.Reap(func(other string) bool { return other != id }, 0)
		}
		require.Empty(t, table.records)
	})
}
