package escape_test

import (
	"fmt"

	"github.com/taukit/taukit/escape"
)

func ExampleField() {
	name, flags := escape.Field("report\nerror: forged")
	fmt.Println("1" + flags.Suffix() + " " + name)
	// Output: 1(escaped) report\nerror: forged
}

func ExampleAppendField() {
	line, _ := escape.AppendField([]byte("path: "), "a\tb")
	fmt.Println(string(line))
	// Output: path: a\tb
}

func ExampleToken() {
	owner, _ := escape.Token("build bot, nightly")
	none, _ := escape.Token("")
	fmt.Println(owner, none)
	// Output: build\u{20}bot\u{2c}\u{20}nightly -
}

func ExampleQuote() {
	fmt.Printf("cannot read %s: no such file or directory\n", escape.Quote("gone\u202egpj.exe"))
	// Output: cannot read "gone\u{202e}gpj.exe": no such file or directory
}

func ExampleQuotePath() {
	fmt.Println(escape.QuotePath("src/main.go"))
	// Output: "src/main.go"
}

func ExamplePath() {
	fmt.Println(escape.Path("src/two\nlines.go"))
	// Output: src/two\nlines.go
}

func ExampleExact() {
	text := escape.Exact("caf\xe9.txt")
	back, _ := escape.Unescape(text)
	fmt.Println(text, back == "caf\xe9.txt")
	// Output: caf\xe9.txt true
}

func ExampleUnescape() {
	name, err := escape.Unescape(`two\nlines`)
	fmt.Printf("%q %v\n", name, err)
	// Output: "two\nlines" <nil>
}

func ExampleTerminalLine() {
	fmt.Println(escape.TerminalLine("title\x1b]0;owned\a"))
	// Output: title␛]0;owned␇
}

func ExampleTerminalText() {
	fmt.Println(escape.TerminalText("one\r\ntwo\x1b[2J"))
	// Output:
	// one
	// two␛[2J
}
