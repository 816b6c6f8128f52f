package args

import "errors"

// Read is the arguments of the tool read.
type Read struct {
	Path      Path        `json:"path" description:"File to read; relative paths start at the working directory."`
	StartLine *int64      `json:"start_line,omitzero" limits:"minimum=1" description:"First line, inclusive, from 1. Default: 1."`
	EndLine   *int64      `json:"end_line,omitzero" limits:"minimum=1" description:"Last line, inclusive. Default: the end of the file."`
	Ranges    []LineRange `json:"ranges,omitzero" limits:"minItems=1 maxItems=100 excludes=start_line|end_line" description:"Several ranges in place of start_line and end_line, shown in this order."`
}

// Check refuses a range that ends before it starts.
func (r Read) Check() error {
	start := int64(1)
	if r.StartLine != nil {
		start = *r.StartLine
	}
	if r.EndLine != nil && *r.EndLine < start {
		return errors.New("end_line must be >= start_line")
	}
	return nil
}

// A LineRange is a range of lines, both ends inclusive, from 1.
type LineRange struct {
	StartLine int64 `json:"start_line" limits:"minimum=1" description:"First line, inclusive, from 1."`
	EndLine   int64 `json:"end_line" limits:"minimum=1 notBelow=start_line" description:"Last line, inclusive."`
}
