// Package lineedit replaces, inserts and deletes whole lines of a file by
// their numbers. Every edit also carries the text of the line before it, so
// that numbers of another state of the file are noticed and not applied.
//
// All edits of a call use the numbers of the original, as if they happened at
// once, and either all of them are applied or none. Content may be of any
// encoding: bytes outside the edited lines are never changed, and neither are
// the endings of lines, LF, CR LF or CR, which may be mixed.
//
//	result, err := lineedit.Apply(src, []lineedit.Edit{
//		{Start: 2, EndExclusive: 3, NewText: "beta", ContextLine: "alpha"},
//	})
//
// A line ends at LF, at CR LF, or at a CR that no LF follows, and at nothing
// else; a last piece without an ending is a line too, unless it is empty. A
// UTF-8 byte order mark at the start of a file stays there whatever happens to
// line 1.
//
// The package is not for files (it maps bytes to bytes), for finding lines by
// their text, or for rendering an [Error] and the lines around it.
//
// All functions are pure and safe for concurrent use.
package lineedit
