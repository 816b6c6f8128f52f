package image_test

import (
	"bytes"
	"context"
	"encoding/binary"
	stdimage "image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/image"
)

func prepare(t testing.TB, src []byte, opts image.Options) (image.Image, image.Info, stdimage.Image) {
	t.Helper()
	before := bytes.Clone(src)
	m, info, err := image.Prepare(t.Context(), src, opts)
	require.NoError(t, err)
	require.Equal(t, before, src)
	return m, info, requireSound(t, m, info)
}

// requireSound checks what holds for every result, and decodes it.
func requireSound(t testing.TB, m image.Image, info image.Info) stdimage.Image {
	t.Helper()
	require.LessOrEqual(t, len(m.Data), image.MaxOutputBytes)
	require.Equal(t, image.Patches(m.Width, m.Height), info.Patches)
	require.LessOrEqual(t, info.Patches, 2500)
	require.LessOrEqual(t, max(m.Width, m.Height), 2048)
	decode := png.Decode
	if m.MediaType == "image/jpeg" {
		decode = jpeg.Decode
	} else {
		require.Equal(t, "image/png", m.MediaType)
	}
	got, err := decode(bytes.NewReader(m.Data))
	require.NoError(t, err)
	require.Equal(t, stdimage.Rect(0, 0, m.Width, m.Height), got.Bounds())
	for _, metadata := range []string{"Exif", "eXIf", "tEXt", "iTXt", "zTXt", "iCCP", "ICC_PROFILE", "tIME", "pHYs"} {
		require.NotContains(t, string(m.Data), metadata)
	}
	return got
}

func failure(t testing.TB, src []byte, opts image.Options) *image.Error {
	t.Helper()
	m, info, err := image.Prepare(t.Context(), src, opts)
	require.Error(t, err)
	require.Zero(t, m)
	require.Zero(t, info)
	var e *image.Error
	require.ErrorAs(t, err, &e)
	require.NotContains(t, e.Error(), "\n")
	return e
}

func TestR1R2R3R4Refusals(t *testing.T) {
	ok := asPNG(t, marked())
	vp8x := func(width, height uint32) []byte { // a canvas, and one pixel in it
		src := unbase64(t, webpAlpha)
		src[24], src[25], src[26] = byte(width-1), byte((width-1)>>8), byte((width-1)>>16)
		src[27], src[28], src[29] = byte(height-1), byte((height-1)>>8), byte((height-1)>>16)
		return src
	}
	for _, tt := range []struct {
		name, code, message string
		src                 []byte
	}{
		{"empty", framing.CodeImageUnsupported, "unsupported image format; expected PNG, JPEG, or WebP", nil},
		{"text", framing.CodeImageUnsupported, "unsupported image format; expected PNG, JPEG, or WebP", []byte("hello")},
		{"GIF", framing.CodeImageUnsupported, "unsupported image format; expected PNG, JPEG, or WebP", []byte("GIF89a\x01\x00\x01\x00")},
		{"SVG", framing.CodeImageUnsupported, "unsupported image format; expected PNG, JPEG, or WebP", []byte("<svg/>")},
		{"BMP", framing.CodeImageUnsupported, "unsupported image format; expected PNG, JPEG, or WebP", []byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"WAV", framing.CodeImageUnsupported, "unsupported image format; expected PNG, JPEG, or WebP", []byte("RIFF\x00\x00\x00\x00WAVE")},
		{"large", framing.CodeImageTooLarge, "image source exceeds the 8388608 byte inspection limit", make([]byte, 8<<20+1)},
		{"APNG", framing.CodeImageUnsupported, "animated images are not supported", withChunk(ok, "acTL", make([]byte, 8))},
		{"animated WebP", framing.CodeImageUnsupported, "animated images are not supported", unbase64(t, webpAnimated)},
		{"ANIM only", framing.CodeImageUnsupported, "animated images are not supported", withWebPChunk(unbase64(t, webpLossless), "ANIM", nil)},
		{"ANMF only", framing.CodeImageUnsupported, "animated images are not supported", withWebPChunk(unbase64(t, webpLossless), "ANMF", nil)},
		{"zero width", framing.CodeImageInvalid, "image dimensions must be non-zero", headerPNG(0, 9000, 8, 0)},
		{"zero height", framing.CodeImageInvalid, "image dimensions must be non-zero", headerPNG(9000, 0, 8, 0)},
		{"side", framing.CodeImageTooLarge, "image side 8193 exceeds the 8192 pixel limit", headerPNG(8193, 1, 8, 0)},
		{"absurd side", framing.CodeImageTooLarge, "image side 4294967295 exceeds the 8192 pixel limit", headerPNG(1, 1<<32-1, 16, 6)},
		{"pixels", framing.CodeImageTooLarge, "image has 16781312 decoded pixels; limit is 16777216", headerPNG(4096, 4097, 16, 6)},
		{"decoded bytes", framing.CodeImageTooLarge, "decoded image requires 134217728 bytes; limit is 67108864", headerPNG(4096, 4096, 16, 6)},
		{"16 bit without alpha", framing.CodeImageTooLarge, "decoded image requires 134217728 bytes; limit is 67108864", headerPNG(4096, 4096, 16, 2)},
		{"tRNS", framing.CodeImageTooLarge, "decoded image requires 134217728 bytes; limit is 67108864", withChunk(headerPNG(4096, 4096, 16, 0), "tRNS", []byte{0, 0})},
		{"WebP pixels", framing.CodeImageTooLarge, "WebP image has 4196352 decoded pixels; limit is 4194304", unbase64(t, webpPixels)},
		{"WebP canvas", framing.CodeImageTooLarge, "image side 16777216 exceeds the 8192 pixel limit", vp8x(1<<24, 1<<24)},
		{"lying WebP canvas", framing.CodeImageInvalid, "cannot decode image: ", vp8x(2, 2)},
		{"only a signature", framing.CodeImageInvalid, "cannot decode image header: unexpected EOF", ok[:8]},
		{"cut header", framing.CodeImageInvalid, "cannot decode image header: unexpected EOF", ok[:20]},
		{"bad checksum", framing.CodeImageInvalid, "cannot decode image header: ", append(append(bytes.Clone(ok[:29]), 0, 0, 0, 0), ok[33:]...)},
		{"unknown depth", framing.CodeImageInvalid, "cannot decode image header: ", headerPNG(1, 1, 7, 0)},
		{"PNG without pixels", framing.CodeImageInvalid, "cannot decode image: ", headerPNG(8192, 2048, 8, 6)},
		{"truncated PNG", framing.CodeImageInvalid, "cannot decode image: ", ok[:len(ok)-16]},
		{"truncated JPEG", framing.CodeImageInvalid, "cannot decode image: ", asJPEG(t, gradient(64, 64))[:1500]},
		{"JPEG of three bytes", framing.CodeImageInvalid, "cannot decode image header: ", []byte("\xff\xd8\xff")},
		{"truncated WebP", framing.CodeImageInvalid, "cannot decode image: ", unbase64(t, webpLossy)[:40]},
		{"WebP of twelve bytes", framing.CodeImageInvalid, "cannot decode image header: ", []byte("RIFF\x04\x00\x00\x00WEBP")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := failure(t, tt.src, image.Options{})
			require.Equal(t, tt.code, e.Code)
			require.True(t, strings.HasPrefix(e.Error(), tt.message), e.Error())
			require.ErrorIs(t, e, &image.Error{Code: tt.code})
		})
	}
}

func TestR4LimitsAreInclusive(t *testing.T) {
	for _, src := range [][]byte{headerPNG(8192, 1, 8, 0), headerPNG(8192, 2048, 8, 6), headerPNG(4096, 4096, 8, 6), headerPNG(4096, 2048, 16, 6)} {
		require.Equal(t, image.KindDecode, failure(t, src, image.Options{}).Kind, "the header passes")
	}
}

func TestAPNGChunkBehindThePixelsIsNoAnimation(t *testing.T) {
	src := asPNG(t, marked())
	end := len(src) - 12
	src = append(append(bytes.Clone(src[:end]), chunk("acTL", make([]byte, 8))...), src[end:]...)
	prepare(t, src, image.Options{})
}

// at returns what the upright image shows, as numbers of the pixels of marked.
func at(m stdimage.Image) (rows [][]int) {
	b := m.Bounds()
	for y := range b.Dy() {
		row := []int{}
		for x := range b.Dx() {
			r, g, _, _ := m.At(x, y).RGBA()
			row = append(row, int(r>>8+20)/40+3*(int(g>>8+40)/80))
		}
		rows = append(rows, row)
	}
	return rows
}

func TestR5R6Orientation(t *testing.T) {
	want := [][][]int{
		1: {{0, 1, 2}, {3, 4, 5}}, 2: {{2, 1, 0}, {5, 4, 3}}, 3: {{5, 4, 3}, {2, 1, 0}}, 4: {{3, 4, 5}, {0, 1, 2}},
		5: {{0, 3}, {1, 4}, {2, 5}}, 6: {{3, 0}, {4, 1}, {5, 2}}, 7: {{5, 2}, {4, 1}, {3, 0}}, 8: {{2, 5}, {1, 4}, {0, 3}},
	}
	paletted := stdimage.NewPaletted(stdimage.Rect(0, 0, 3, 2), nil)
	for i := range paletted.Pix {
		paletted.Palette = append(paletted.Palette, marked().At(i%3, i/3))
		paletted.Pix[i] = uint8(i)
	}
	opaque := stdimage.NewRGBA(stdimage.Rect(0, 0, 3, 2))
	draw.Draw(opaque, opaque.Bounds(), marked(), stdimage.Point{}, draw.Src)
	deep := stdimage.NewRGBA64(stdimage.Rect(0, 0, 3, 2))
	draw.Draw(deep, deep.Bounds(), marked(), stdimage.Point{}, draw.Src)
	for name, src := range map[string][]byte{"NRGBA": asPNG(t, marked()), "paletted": asPNG(t, paletted), "RGBA": asPNG(t, opaque), "16 bit": asPNG(t, deep)} {
		for orientation := 1; orientation <= 8; orientation++ {
			for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
				src := withExif(src, exif(order, uint16(orientation)))
				_, info, got := prepare(t, src, image.Options{})
				require.Equal(t, want[orientation], at(got), "%s %d", name, orientation)
				require.Equal(t, orientation, info.Orientation)
				require.Equal(t, []int{3, 2}, []int{info.SourceWidth, info.SourceHeight})
				require.Equal(t, got.Bounds().Size(), stdimage.Pt(info.UprightWidth, info.UprightHeight))
			}
			src := withExif(src, exif(binary.BigEndian, uint16(orientation)))
			for y, row := range want[orientation] { // every region of one pixel, and of the rest
				for x := range row {
					_, _, got := prepare(t, src, image.Options{Region: &image.Rect{X: uint32(x), Y: uint32(y), Width: 1, Height: 1}})
					require.Equal(t, [][]int{{row[x]}}, at(got))
					_, _, got = prepare(t, src, image.Options{Region: &image.Rect{X: uint32(x), Width: uint32(len(row) - x), Height: uint32(y + 1)}})
					for i, row := range at(got) {
						require.Equal(t, want[orientation][i][x:], row)
					}
				}
			}
		}
	}
}

func TestR5OrientationOfOtherFormats(t *testing.T) {
	data := exif(binary.BigEndian, 6)
	_, info, got := prepare(t, withExif(asJPEG(t, gradient(4, 2)), data), image.Options{})
	require.Equal(t, 6, info.Orientation)
	require.Equal(t, stdimage.Pt(2, 4), got.Bounds().Size())
	gray := stdimage.NewGray(stdimage.Rect(0, 0, 4, 2))
	_, _, got = prepare(t, withExif(asJPEG(t, gray), data), image.Options{})
	require.IsType(t, gray, got)
	require.Equal(t, stdimage.Pt(2, 4), got.Bounds().Size())
	for _, prefix := range []string{"", "Exif\x00\x00"} {
		_, info, _ = prepare(t, withExif(unbase64(t, webpLossless), append([]byte(prefix), data...)), image.Options{})
		require.Equal(t, 6, info.Orientation)
	}
}

func TestR5BrokenExifIsNoOrientation(t *testing.T) {
	good := exif(binary.LittleEndian, 6)
	edit := func(i int, b ...byte) []byte { return append(append(bytes.Clone(good[:i]), b...), good[i+len(b):]...) }
	for name, data := range map[string][]byte{
		"empty": {}, "short": good[:7], "no entries": good[:9], "cut entry": good[:30], "other magic": edit(2, 43), "offset": edit(4, 255, 255, 255, 255),
		"value 0": edit(30, 0), "value 9": edit(30, 9), "two values": edit(26, 2), "a long": edit(24, 4), "no such tag": edit(22, 0x13), "count": edit(8, 255, 255, 0x0f, 1, 1)[:24],
	} {
		for _, src := range [][]byte{asPNG(t, gradient(4, 2)), asJPEG(t, gradient(4, 2))} {
			_, info, got := prepare(t, withExif(src, data), image.Options{})
			require.Equal(t, 1, info.Orientation, name)
			require.Equal(t, stdimage.Pt(4, 2), got.Bounds().Size())
		}
	}
}

func TestR6Regions(t *testing.T) {
	src := asPNG(t, marked())
	_, _, whole := prepare(t, src, image.Options{})
	_, _, same := prepare(t, src, image.Options{Region: &image.Rect{Width: 3, Height: 2}})
	require.Equal(t, whole, same)
	for _, tt := range []struct {
		region  image.Rect
		message string
	}{
		{image.Rect{X: 2, Width: 2, Height: 1}, "region 2,0 2x1 is outside the upright image 3x2"},
		{image.Rect{Y: 2, Width: 1, Height: 1}, "region 0,2 1x1 is outside the upright image 3x2"},
		{image.Rect{X: 1<<32 - 1, Width: 1<<32 - 1, Height: 1}, "region 4294967295,0 4294967295x1 is outside the upright image 3x2"},
		{image.Rect{X: 2, Width: 1<<32 - 1, Height: 1}, "region 2,0 4294967295x1 is outside the upright image 3x2"},
		{image.Rect{Height: 1}, "region: width must be >= 1"},
		{image.Rect{Width: 1}, "region: height must be >= 1"},
	} {
		e := failure(t, src, image.Options{Region: &tt.region})
		require.EqualError(t, e, tt.message)
		require.Equal(t, framing.CodeInvalidArguments, e.Code)
		require.Equal(t, tt.region, e.Region)
	}
	require.EqualError(t, failure(t, src, image.Options{Mode: "low"}), "mode must be high or overview")
	// A region is known to be wrong before anything is decoded.
	require.Equal(t, image.KindRegion, failure(t, headerPNG(10, 10, 8, 6), image.Options{Region: &image.Rect{X: 10, Width: 1, Height: 1}}).Kind)
}

func TestR6CropComesBeforeScaling(t *testing.T) {
	m, info, _ := prepare(t, asPNG(t, stdimage.NewGray(stdimage.Rect(0, 0, 2100, 10))), image.Options{Region: &image.Rect{X: 100, Y: 2, Width: 2000, Height: 5}})
	require.Equal(t, []int{2000, 5, 63}, []int{m.Width, m.Height, info.Patches})
	m, _, _ = prepare(t, asPNG(t, stdimage.NewGray(stdimage.Rect(0, 0, 10, 2100))), image.Options{Region: &image.Rect{Width: 5, Height: 2050}})
	require.Equal(t, []int{4, 2048}, []int{m.Width, m.Height})
}

func TestR7Scaling(t *testing.T) {
	for _, tt := range []struct {
		mode         string
		w, h, nw, nh int
	}{
		{"", 1920, 10, 1920, 10},
		{"overview", 1920, 1080, 1024, 576},
		{"high", 2100, 10, 2048, 9},
		{"overview", 2100, 10, 1024, 4},
		{"high", 8192, 1, 2048, 1},
		{"high", 40, 33, 40, 33},
		{"overview", 1000, 1000, 765, 765},
	} {
		m, info, got := prepare(t, asPNG(t, stdimage.NewGray(stdimage.Rect(0, 0, tt.w, tt.h))), image.Options{Mode: tt.mode})
		require.Equal(t, []int{tt.nw, tt.nh}, []int{m.Width, m.Height}, "%dx%d %s", tt.w, tt.h, tt.mode)
		require.Equal(t, []int{tt.w, tt.h}, []int{info.SourceWidth, info.SourceHeight})
		require.IsType(t, &stdimage.Gray{}, got)
	}
}

func TestR7ScalingLooksAtEveryPixel(t *testing.T) {
	// A checkerboard of single pixels becomes gray, whatever the type.
	board := stdimage.NewPaletted(stdimage.Rect(0, 0, 4096, 64), color.Palette{color.Black, color.White})
	for i := range board.Pix {
		board.Pix[i] = uint8(i+i/board.Stride) % 2
	}
	for _, m := range []draw.Image{board, stdimage.NewGray(board.Rect), stdimage.NewGray16(board.Rect), stdimage.NewNRGBA(board.Rect), stdimage.NewRGBA64(board.Rect)} {
		draw.Draw(m, m.Bounds(), board, stdimage.Point{}, draw.Src)
		_, _, got := prepare(t, asPNG(t, m), image.Options{Mode: "overview"})
		r, g, b, a := got.At(500, 8).RGBA()
		for _, c := range []uint32{r, g, b} {
			require.InDelta(t, 0x7fff, c, 0x400, "%T", m)
		}
		require.EqualValues(t, 0xffff, a)
	}
}

func TestR8Formats(t *testing.T) {
	transparent := gradient(3, 3)
	transparent.SetNRGBA(1, 1, color.NRGBA{1, 2, 3, 128})
	deep := stdimage.NewNRGBA64(stdimage.Rect(0, 0, 3, 3))
	deep.SetNRGBA64(1, 1, color.NRGBA64{0x1234, 0x5678, 0x9abc, 0x8000})
	gray := stdimage.NewGray16(stdimage.Rect(0, 0, 3, 3))
	gray.SetGray16(1, 1, color.Gray16{0x1234})
	paletted := stdimage.NewPaletted(stdimage.Rect(0, 0, 3, 3), color.Palette{color.Transparent, color.White})
	for name, tt := range map[string]struct {
		src       []byte
		mediaType string
		like      stdimage.Image // the type that the result is decoded to
	}{
		"PNG":                    {asPNG(t, gradient(3, 3)), "image/png", &stdimage.RGBA{}},
		"PNG with transparency":  {asPNG(t, transparent), "image/png", &stdimage.NRGBA{}},
		"16 bit":                 {asPNG(t, deep), "image/png", &stdimage.NRGBA{}},
		"16 bit gray":            {asPNG(t, gray), "image/png", &stdimage.Gray{}},
		"paletted":               {asPNG(t, paletted), "image/png", &stdimage.Paletted{}},
		"JPEG":                   {asJPEG(t, gradient(3, 3)), "image/jpeg", &stdimage.YCbCr{}},
		"gray JPEG":              {asJPEG(t, stdimage.NewGray(stdimage.Rect(0, 0, 3, 3))), "image/jpeg", &stdimage.Gray{}},
		"lossless WebP":          {unbase64(t, webpLossless), "image/png", &stdimage.NRGBA{}},
		"lossy WebP":             {unbase64(t, webpLossy), "image/jpeg", &stdimage.YCbCr{}},
		"WebP with transparency": {unbase64(t, webpAlpha), "image/png", &stdimage.NRGBA{}},
	} {
		t.Run(name, func(t *testing.T) {
			m, info, got := prepare(t, tt.src, image.Options{})
			require.Equal(t, tt.mediaType, m.MediaType)
			require.IsType(t, tt.like, got)
			again, _, _ := prepare(t, tt.src, image.Options{})
			require.Equal(t, m, again, "deterministic")
			require.Contains(t, strings.ToLower(name), map[string]string{"png": "", "jpeg": "jpeg", "webp": "webp"}[info.Format])
		})
	}
	_, _, got := prepare(t, asPNG(t, deep), image.Options{})
	require.Equal(t, color.NRGBA{0x12, 0x56, 0x9a, 0x80}, got.At(1, 1))
	_, _, got = prepare(t, asPNG(t, transparent), image.Options{})
	require.Equal(t, color.NRGBA{1, 2, 3, 128}, got.At(1, 1))
}

func TestR8MetadataIsStripped(t *testing.T) {
	src := withChunk(asPNG(t, gradient(3, 3)), "tEXt", []byte("Comment\x00secret"))
	src = append(withExif(withChunk(src, "pHYs", make([]byte, 9)), exif(binary.BigEndian, 1)), "trailing secret"...)
	m, _, _ := prepare(t, src, image.Options{})
	require.NotContains(t, string(m.Data), "secret")
	src = append(withExif(asJPEG(t, gradient(3, 3)), append(exif(binary.BigEndian, 1), "secret"...)), "trailing secret"...)
	m, _, _ = prepare(t, src, image.Options{})
	require.NotContains(t, string(m.Data), "secret")
	m, _, _ = prepare(t, append(withExif(unbase64(t, webpLossless), []byte("secret")), "secret"...), image.Options{})
	require.NotContains(t, string(m.Data), "secret")
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := image.Prepare(ctx, asPNG(t, marked()), image.Options{})
	require.ErrorIs(t, err, context.Canceled)
}
