package image

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/taukit/taukit/framing"
)

// An Error says why an image was not prepared. Its text is one line, and has
// nothing of the image in it but numbers and what a decoder says.
type Error struct {
	Code string // one of package framing, by Kind
	Kind Kind
	// Value is what was found and Limit what is allowed, for the kinds that are
	// about a size.
	Value, Limit int64
	// Region and the upright size of the image, for KindRegion.
	Region        Rect
	Width, Height int
	// Reason is what the decoder says, for KindHeader and KindDecode.
	Reason string
	Err    error // the error below, or nil
}

// Kind is what an [Error] is about.
type Kind int

// The kinds of errors.
const (
	KindSource  Kind = iota + 1 // IMAGE_TOO_LARGE: bytes of the source
	KindSide                    // IMAGE_TOO_LARGE: pixels of a side
	KindPixels                  // IMAGE_TOO_LARGE: pixels
	KindWebP                    // IMAGE_TOO_LARGE: pixels of a WebP
	KindDecoded                 // IMAGE_TOO_LARGE: bytes once decoded
	KindOutput                  // IMAGE_TOO_LARGE: bytes of the result

	KindFormat   // IMAGE_UNSUPPORTED: neither PNG, JPEG nor WebP
	KindAnimated // IMAGE_UNSUPPORTED

	KindZero   // IMAGE_INVALID: a side of no pixels
	KindHeader // IMAGE_INVALID: the header cannot be decoded
	KindDecode // IMAGE_INVALID: the image cannot be decoded

	KindMode   // INVALID_ARGUMENTS: an unknown mode
	KindRegion // INVALID_ARGUMENTS: a region that is empty or outside of the upright image
	KindBusy   // BUSY: too many calls are waiting
)

// Errors to compare with by errors.Is. An [*Error] is one of them if it has the
// same code.
var (
	ErrTooLarge    = &Error{Code: framing.CodeImageTooLarge}
	ErrUnsupported = &Error{Code: framing.CodeImageUnsupported, Kind: KindFormat}
	ErrInvalid     = &Error{Code: framing.CodeImageInvalid}
	ErrArguments   = &Error{Code: framing.CodeInvalidArguments}
	ErrBusy        = &Error{Code: framing.CodeBusy, Kind: KindBusy}
)

// Error returns what is wrong.
func (e *Error) Error() string {
	switch e.Kind {
	case KindSource:
		return fmt.Sprintf("image source exceeds the %d byte inspection limit", e.Limit)
	case KindSide:
		return fmt.Sprintf("image side %d exceeds the %d pixel limit", e.Value, e.Limit)
	case KindPixels:
		return fmt.Sprintf("image has %d decoded pixels; limit is %d", e.Value, e.Limit)
	case KindWebP:
		return fmt.Sprintf("WebP image has %d decoded pixels; limit is %d", e.Value, e.Limit)
	case KindDecoded:
		return fmt.Sprintf("decoded image requires %d bytes; limit is %d", e.Value, e.Limit)
	case KindOutput:
		return fmt.Sprintf("normalized image exceeds %d byte limit", e.Limit)
	case KindFormat:
		return "unsupported image format; expected PNG, JPEG, or WebP"
	case KindAnimated:
		return "animated images are not supported"
	case KindZero:
		return "image dimensions must be non-zero"
	case KindHeader:
		return "cannot decode image header: " + e.Reason
	case KindDecode:
		return "cannot decode image: " + e.Reason
	case KindMode:
		return "mode must be high or overview"
	case KindRegion:
		return e.region()
	case KindBusy:
		return "too many active image reads; retry this tool call"
	}
	return e.Code
}

func (e *Error) region() string {
	switch r := e.Region; {
	case r.Width == 0:
		return "region: width must be >= 1"
	case r.Height == 0:
		return "region: height must be >= 1"
	default:
		return fmt.Sprintf("region %d,%d %dx%d is outside the upright image %dx%d", r.X, r.Y, r.Width, r.Height, e.Width, e.Height)
	}
}

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an [*Error] with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error) //nolint:errorlint // errors.Is does the unwrapping
	return ok && t.Code == e.Code
}

func tooLarge(kind Kind, value, limit int64) error {
	return &Error{Code: framing.CodeImageTooLarge, Kind: kind, Value: value, Limit: limit}
}

var (
	errMalformed = errors.New("malformed data") // stands for a panic of a decoder
	errSlow      = errors.New("it takes too long")
)

// undecodable returns the error of a decoder.
func undecodable(kind Kind, err error) error {
	reason := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, err.Error())
	return &Error{Code: framing.CodeImageInvalid, Kind: kind, Reason: reason, Err: err}
}
