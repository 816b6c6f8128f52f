// Package truncate cuts a list of rendered records to a budget of lines and
// bytes, predictably, and reports the totals of the whole.
//
// A record is one line of output. It is shown whole, or its short marker
// stands for it, or it is left out; it is never cut in the middle. With more
// records than lines are allowed, the first and the last ones are shown around
// one line that reads "...".
//
// [Policy.Apply] cuts records that are in memory; a [Collector] gives the same
// result from a stream of any length in little memory.
//
// The package is not for rendering records (package lineio) or for keeping
// what was cut (package artifact).
package truncate
