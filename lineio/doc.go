// Package lineio splits bytes into lines without losing anything, and renders
// lines as flagged, numbered records:
//
//	1(crlf) first
//	2 second
//	3(invalid-utf8,no_nl) caf\ufffd
//
// A line ends at LF, at CR LF, or at a CR that no LF follows, and at nothing
// else. A last piece without a terminator is a line too, unless it is empty.
// Content is never changed or escaped, a byte order mark at the start is
// ordinary content, and joining the lines of a text gives the text.
//
// [Lines], [Split], [Count] and [Offset] work on text in memory; [Scanner] and
// [Blocks] give the same lines of a stream, however its reads are cut.
//
// The package is not for opening files, limiting output (package truncate) or
// escaping names (package escape).
package lineio
