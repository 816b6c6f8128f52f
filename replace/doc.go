// Package replace replaces exact pieces of a text, bytes in and bytes out.
//
// An [Edit] names a piece by its content. Every piece is looked for in the
// original text, must be there exactly once, and no two may overlap; only then
// is anything replaced, so that the order of the edits does not matter and a
// failed call has no result. Nothing is matched approximately, but line
// endings need not be the same: LF in an edit stands for LF, CR LF and CR.
// Bytes that were not asked for survive, their endings and a byte order mark
// included, and new lines end like the lines around them.
//
// A failure is an [*Error], which has the place of the fault, and, for text
// that is not there, a [Hint] of what may be wrong with it.
//
// Time is linear in the sizes of the text and the edits, whatever they hold.
//
// The package is not for reading or writing files, for edits by line number
// (package lineedit) or for the text that a model reads (package tools).
package replace
