package truncate_test

import (
	"fmt"

	"github.com/taukit/taukit/truncate"
)

func ExamplePolicy_Apply() {
	policy := truncate.Policy{Lines: 4, Bytes: 200}
	var records []truncate.Record
	for i := range 100 {
		records = append(records, truncate.Record{Text: fmt.Sprintf("%d line", i+1)})
	}
	result := policy.Apply(records)
	fmt.Println(result.Body)
	fmt.Println("total lines:", result.Lines, "total bytes:", result.Bytes)
	// Output:
	// 1 line
	// 2 line
	// ...
	// 99 line
	// 100 line
	// total lines: 100 total bytes: 791
}

func ExampleCollector() {
	c := truncate.NewCollector(truncate.Policy{Lines: 10, Bytes: 40})
	c.Add(truncate.Record{Text: "1 short", Marker: "1(truncated)"})
	c.Add(truncate.Record{Text: "2 a line that is longer than the whole budget", Marker: "2(truncated)"})
	c.AddBytes([]byte("3 short"), []byte("3(truncated)"))
	result := c.Result()
	fmt.Println(result.Body)
	fmt.Println("truncated:", result.Truncated)
	// Output:
	// 1 short
	// 2(truncated)
	// 3 short
	// truncated: true
}
