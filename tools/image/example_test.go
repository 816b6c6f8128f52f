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
	if err := png.Encode(&screenshot, stdimage.NewGray(stdimage.Rect(0, 0, 3840, 2160))); err != nil {
		log.Fatal(err)
	}
	var p image.Preparer // one for the process
	ctx := context.Background()

	m, info, err := p.Prepare(ctx, screenshot.Bytes(), image.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.MediaType, m.Width, m.Height, info.Patches, info.SourceWidth, info.SourceHeight)

	m, _, err = p.Prepare(ctx, screenshot.Bytes(), image.Options{Region: &image.Rect{X: 3000, Width: 840, Height: 200}})
	fmt.Println(m.Width, m.Height, err)

	_, _, err = p.Prepare(ctx, []byte("GIF89a"), image.Options{})
	fmt.Println(errors.Is(err, image.ErrUnsupported), err)
	// Output:
	// image/png 2048 1152 2304 3840 2160
	// 840 200 <nil>
	// true unsupported image format; expected PNG, JPEG, or WebP
}
