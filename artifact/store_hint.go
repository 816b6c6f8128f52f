package artifact

import (
	"strings"
	"unicode/utf8"
)

const (
	// MaxHintBytes is the length of the longest hint that is passed on.
	MaxHintBytes = 255
	// MaxSuffixChars is how many characters of a file name become part of a
	// suffix.
	MaxSuffixChars = 100
)

// Hints are what somebody says about an original: its file name and its media
// type. They travel beside a key, belong to one use of it, are never stored
// with the digest, and nothing verifies them. The zero value says nothing.
type Hints struct {
	Filename  string
	MediaType string
}

// HintsOf returns the hints that go with the file at path, whose media type may
// be declared. A member is empty if there is nothing to say.
//
// Filename is what follows the last slash of the path, cut to [MaxHintBytes] at
// a character boundary; it is empty for ".", ".." and what is not valid UTF-8.
// MediaType is the declared one without the space around it, cut likewise, or
// that of [MediaTypeByName] if it is blank. Both may hold any other characters:
// whoever shows them escapes them.
func HintsOf(path, declared string) Hints {
	name := base(path)
	h := Hints{MediaType: cutHint(strings.TrimSpace(declared))}
	if h.MediaType == "" {
		h.MediaType = MediaTypeByName(name)
	}
	if name != "." && name != ".." && utf8.ValidString(name) {
		h.Filename = cutHint(name)
	}
	return h
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// cutHint cuts s to MaxHintBytes, not within a character.
func cutHint(s string) string {
	if len(s) <= MaxHintBytes {
		return s
	}
	n := MaxHintBytes
	for n > MaxHintBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// MediaTypeByName returns the media type that the extension of a file name
// stands for, in any case; "" if it is not one of a few common ones.
func MediaTypeByName(filename string) string {
	name := base(filename)
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	switch lowerASCII(name[i+1:]) {
	case "png":
		return "image/png"
	case "jpg", "jpeg":
		return "image/jpeg"
	case "gif":
		return "image/gif"
	case "webp":
		return "image/webp"
	case "svg":
		return "image/svg+xml"
	case "pdf":
		return "application/pdf"
	case "json":
		return "application/json"
	case "txt":
		return "text/plain"
	case "html":
		return "text/html"
	case "csv":
		return "text/csv"
	case "zip":
		return "application/zip"
	}
	return ""
}

// extensionOf returns the usual extension for a media type, with or without
// parameters; "" for one that [MediaTypeByName] does not give.
func extensionOf(mediaType string) string {
	essence, _, _ := strings.Cut(mediaType, ";")
	switch lowerASCII(strings.TrimSpace(essence)) {
	case "image/png":
		return "png"
	case "image/jpeg":
		return "jpg"
	case "image/gif":
		return "gif"
	case "image/webp":
		return "webp"
	case "image/svg+xml":
		return "svg"
	case "application/pdf":
		return "pdf"
	case "application/json":
		return "json"
	case "text/plain":
		return "txt"
	case "text/html":
		return "html"
	case "text/csv":
		return "csv"
	case "application/zip":
		return "zip"
	}
	return ""
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// SuggestSuffix returns what to append to a generated file name so that it
// tells what two hints say: "-" and the last element of the file name, with the
// extension of the media type if the name has none; or only the extension; or
// "".
//
// Whatever the hints are, the result has at most 106 bytes, all of them from
// A-Z a-z 0-9 - _ and ".", and is no path. Appended to a name that is not empty
// it makes neither "..", nor an option, nor the name of a device.
func SuggestSuffix(filename, mediaType string) string {
	name := filename[strings.LastIndexAny(filename, `/\`)+1:]
	name = strings.Trim(replaceUnsafe(name), "._-")
	if ext := extensionOf(mediaType); ext != "" && !strings.Contains(name, ".") {
		name += "." + ext
	}
	if name == "" || name[0] == '.' {
		return name
	}
	return "-" + name
}

// replaceUnsafe returns the first characters of name, each that is not safe
// replaced. A byte that is not UTF-8 is a character too.
func replaceUnsafe(name string) string {
	safe := make([]byte, 0, MaxSuffixChars)
	for _, r := range name {
		if len(safe) == MaxSuffixChars {
			break
		}
		if !isSafe(r) {
			r = '_'
		}
		safe = append(safe, byte(r))
	}
	return string(safe)
}

func isSafe(r rune) bool {
	return 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.'
}
