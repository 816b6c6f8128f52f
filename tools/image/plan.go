package image

import (
	"image"
	"math"

	"github.com/taukit/taukit/framing"
)

// patchSide is the side of the squares that models see an image in, in pixels.
const patchSide = 32

// profile bounds the size of a result.
type profile struct {
	side    int // pixels
	patches int
}

func profileOf(mode string) (profile, bool) {
	switch mode {
	case "", ModeHigh:
		return profile{side: 2048, patches: 2500}, true
	case ModeOverview:
		return profile{side: 1024, patches: 600}, true
	}
	return profile{}, false
}

// Patches returns how many squares of 32 pixels cover an image of that size.
func Patches(width, height int) int {
	return ((width + patchSide - 1) / patchSide) * ((height + patchSide - 1) / patchSide)
}

// fit returns the size that an image is shrunk to.
func (p profile) fit(width, height int) (int, int) {
	longest := max(width, height)
	bySide := float64(p.side) / float64(longest)
	byPatches := math.Sqrt(float64(p.patches) / float64(Patches(width, height)))
	switch {
	case min(bySide, byPatches) >= 1:
		return width, height
	case bySide <= byPatches: // in integers, so that the longest side hits it exactly
		width, height = width*p.side/longest, height*p.side/longest
	default:
		width, height = int(float64(width)*byPatches), int(float64(height)*byPatches)
	}
	width, height = max(width, 1), max(height, 1)
	for Patches(width, height) > p.patches {
		width, height = max(width-1, 1), max(height-1, 1)
	}
	return width, height
}

// work is what is to be done with an image.
type work struct {
	header
	crop          image.Rectangle // of the image as it is stored
	width, height int             // of the result, upright
}

// plan computes all sizes before anything is decoded.
func plan(h header, region *Rect, p profile) (work, error) {
	width, height := h.upright()
	r := Rect{Width: uint32(width), Height: uint32(height)}
	if region != nil {
		r = *region
	}
	if r.Width == 0 || r.Height == 0 || uint64(r.X)+uint64(r.Width) > uint64(width) || uint64(r.Y)+uint64(r.Height) > uint64(height) {
		return work{}, &Error{Code: framing.CodeInvalidArguments, Kind: KindRegion, Region: r, Width: width, Height: height}
	}
	w := work{header: h, crop: h.stored(r)}
	w.width, w.height = p.fit(int(r.Width), int(r.Height))
	return w, nil
}

func (w work) info() Info {
	width, height := w.upright()
	return Info{
		Format: w.format.name, SourceWidth: w.header.width, SourceHeight: w.header.height,
		UprightWidth: width, UprightHeight: height, Orientation: w.orientation, Patches: Patches(w.width, w.height),
	}
}

// sideways reports whether turning the image upright exchanges its sides.
func (h header) sideways() bool { return h.orientation >= 5 }

// upright returns the size of the upright image.
func (h header) upright() (width, height int) {
	if h.sideways() {
		return h.height, h.width
	}
	return h.width, h.height
}

// stored returns where the pixels of a region of the upright image are stored.
func (h header) stored(r Rect) image.Rectangle {
	x, y, w, ht := int(r.X), int(r.Y), int(r.Width), int(r.Height)
	a := source(h.orientation, h.width, h.height, x, y)
	b := source(h.orientation, h.width, h.height, x+w-1, y+ht-1)
	return image.Rect(min(a.X, b.X), min(a.Y, b.Y), max(a.X, b.X)+1, max(a.Y, b.Y)+1)
}

// source returns which pixel of an image of the given size, as it is stored, the
// upright image shows at x, y.
func source(orientation, width, height, x, y int) image.Point {
	switch orientation {
	case 2: // mirrored
		return image.Pt(width-1-x, y)
	case 3: // upside down
		return image.Pt(width-1-x, height-1-y)
	case 4: // upside down and mirrored
		return image.Pt(x, height-1-y)
	case 5: // transposed
		return image.Pt(y, x)
	case 6: // to be turned right
		return image.Pt(y, height-1-x)
	case 7: // transposed over the other diagonal
		return image.Pt(width-1-y, height-1-x)
	case 8: // to be turned left
		return image.Pt(width-1-y, x)
	}
	return image.Pt(x, y)
}
