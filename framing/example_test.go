package framing_test

import (
	"fmt"

	"github.com/taukit/taukit/framing"
)

func ExampleResult() {
	var r framing.Result
	r.AddTrue("limit_reached", true)
	r.AddInt("total_entries", 40)
	r.Body = "1 main.go\n2 main_test.go"
	fmt.Println(r.Render())
	// Output:
	// limit_reached: true
	// total_entries: 40
	//
	// 1 main.go
	// 2 main_test.go
}

func ExampleError() {
	err := &framing.Error{
		Message: "edits[0]: context_line does not match line 11",
		Code:    framing.CodeContextMismatch,
		Fields:  []framing.Header{{Key: "context_line_number", Value: "11"}},
		Output:  "10 func main() {\n11 \tx := 1",
	}
	fmt.Println(err.Render())
	// Output:
	// error: edits[0]: context_line does not match line 11
	// context_line_number: 11
	//
	// 10 func main() {
	// 11 	x := 1
}

func ExampleCancelled() {
	fmt.Println(framing.Cancelled("cancelled by the user").Render())
	// Output: cancelled: cancelled by the user
}

func ExampleLine() {
	fmt.Println(framing.Line("12", []string{"crlf"}, "return nil"))
	fmt.Println(framing.Line("13", []string{"truncated"}, ""))
	// Output:
	// 12(crlf) return nil
	// 13(truncated)
}

func ExampleRecord() {
	fmt.Println(framing.Record("6213", "2016-04-23T18:00:01Z", "", "Hi there, from us"))
	// Output: 6213 2016-04-23T18:00:01Z - Hi there, from us
}

func ExampleParse() {
	r := framing.Parse("total_lines: 3\n\n1 first")
	total, _ := r.Get("total_lines")
	fmt.Println(total, r.Body)
	// Output: 3 1 first
}

func ExampleValidate() {
	fmt.Println(framing.Validate(framing.Result{Headers: []framing.Header{{Key: "Status", Value: "0"}}}))
	// Output: framing: bad header key "Status"
}

func ExampleSafeHeader() {
	fmt.Println(framing.SafeHeader("one\ntwo"))
	// Output: one\ntwo
}

func ExampleSafeBody() {
	fmt.Println(framing.SafeBody("progress 10%\rprogress 100%"))
	// Output: progress 10%\rprogress 100%
}

func ExampleWaitInterrupted() {
	fmt.Println(framing.WaitInterrupted(framing.WaitAnyBackground).Render())
	// Output:
	// tau_internal: true
	// wait_outcome: interrupted
	// wait_reason: activating_input
	// wait_mode: any_background
}
