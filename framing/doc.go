// Package framing turns the structured outcome of a tool call into the one
// text form that every tool shares:
//
//	key: value
//	other-key: value
//
//	body, of any number of lines
//
// A [Result] is a completed call, an [Error] a failed or cancelled one. Both
// render deterministically, and nothing put into a key, a value, a message or
// a field can add a line or start a header.
//
// That is a last resort, not a substitute: a renderer cannot know which part
// of a string is a file name and which is file content. Tools escape metadata
// while they compose it, with package escape.
//
// The package is not for what a person sees on a screen, and not a security
// boundary for reading text back: [Parse] is for tests and user interfaces.
//
// All functions are pure and safe for concurrent use.
package framing
