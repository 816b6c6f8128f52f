package workspace

import (
	"context"
	"io"
	"slices"
)

// blockSize is how much is read or written between two looks at a context.
const blockSize = 64 << 10

// readAll reads all of r, about size bytes, and looks at ctx before each block.
// The result is not nil.
func readAll(ctx context.Context, r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, 0, size+1) // one more shows the end without growing
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, blockSize)
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+blockSize)])
		data = data[:len(data)+n]
		if err == io.EOF { //nolint:errorlint // only EOF itself is the end
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// copyBlocks copies all of r to w, and looks at ctx before each block.
func copyBlocks(ctx context.Context, w io.Writer, r io.Reader) error {
	block := make([]byte, blockSize)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(block)
		if _, err := w.Write(block[:n]); err != nil {
			return err
		}
		if err == io.EOF { //nolint:errorlint // only EOF itself is the end
			return nil
		}
		if err != nil {
			return err
		}
	}
}
