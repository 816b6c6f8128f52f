package shellrec_test

import (
	"fmt"

	"github.com/taukit/taukit/shellrec"
)

func ExampleLog() {
	log := shellrec.NewLog(0, func(r shellrec.Record) { fmt.Println(r) })
	log.Write(shellrec.Stdout, []byte("build"))
	log.Write(shellrec.Stderr, []byte("warning: caf\xff\r\n"))
	log.Write(shellrec.Stdout, []byte("ing\n100%"))
	log.Close()
	fmt.Println(log.Lines(), "lines,", log.Bytes(), "bytes")
	// Output:
	// err(invalid-utf8,crlf) warning: caf�
	// out building
	// out(no_nl) 100%
	// 3 lines, 67 bytes
}

func ExampleDecoder() {
	var d shellrec.Decoder
	show := func(r shellrec.Record) { fmt.Printf("%q\n", r.String()) }
	d.Write([]byte("10%\r"), show) // the byte after a CR decides
	d.Write([]byte("\ndone"), show)
	d.Close(show)
	// Output:
	// "out(crlf) 10%"
	// "out(no_nl) done"
}

func ExampleParse() {
	r, err := shellrec.Parse("err(crlf) no such file")
	fmt.Println(r.Stream, r.Text, err)
	fmt.Printf("%q\n", r.Flags.Ending())
	_, err = shellrec.Parse("note: no such file")
	fmt.Println(err)
	// Output:
	// err no such file <nil>
	// "\r\n"
	// shellrec: not a record
}

func ExampleRecord_Marker() {
	r := shellrec.Record{Flags: shellrec.NoNL, Text: "a line of many megabytes"}
	fmt.Println(r.Marker())
	// Output: out(no_nl,truncated)
}
