package image_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	stdimage "image"
	"image/png"
	"log"

	"github.com/taukit/taukit/tools/image"
)

func ExamplePreparer() {
	var screenshot bytes.Buffer
	if err := png.Encode(&screenshot, stdimage.NewGray(stdimage.Rect(0, 0, 2560, 100))); err != nil {
		log.Fatal(err)
	}
	var p image.Preparer // one for the process
	ctx := context.Background()

	m, info, err := p.Prepare(ctx, screenshot.Bytes(), image.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.MediaType, m.Width, m.Height, info.Patches, info.SourceWidth, info.SourceHeight)

	m, _, err = p.Prepare(ctx, screenshot.Bytes(), image.Options{Region: &image.Rect{X: 2000, Width: 500, Height: 100}})
	fmt.Println(m.Width, m.Height, err)

	_, _, err = p.Prepare(ctx, []byte("GIF89a"), image.Options{})
	fmt.Println(errors.Is(err, image.ErrUnsupported), err)
	// Output:
	// image/png 2048 80 192 2560 100
	// 500 100 <nil>
	// true unsupported image format; expected PNG, JPEG, or WebP
}
