// Package escape makes untrusted metadata safe to show: file names, paths,
// identifiers, queries, commands in a heading. A name made of hostile bytes
// stays on its line, cannot hide or reverse itself, and can be copied back
// exactly.
//
// There are three forms for text that a model reads. [Field] is for metadata
// that runs to the end of a line, [Token] for metadata between spaces or
// commas, [Quote] for names inside a message. [Unescape] undoes each of them.
// [TerminalLine] and [TerminalText] are a separate layer for people: they
// protect the state and layout of a terminal and make nothing safe for a model.
//
// The package is not for payload. File content and command output reach a
// model literally, behind line prefixes; escaping them would keep it from
// copying what it saw into an exact edit. And no string is escaped twice: what
// another tool rendered is content.
//
// All functions are pure, take any bytes, need linear time and may be called
// concurrently.
package escape
