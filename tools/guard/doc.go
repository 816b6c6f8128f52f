// Package guard lets a harness demand that an agent has seen a file, in the
// version that is on disk now, before a tool changes it.
//
// A [Policy] says what a change may expect of a file, from the observations
// that a [Store] keeps for each agent: what it has read or written, and at which
// version. The file system itself enforces the expectation (see
// [workspace.Change.Require]). Without a policy nothing is refused: a nil
// [*Policy] expects nothing and remembers nothing, so that a tool is written the
// same way for both.
//
// Reading any part of a file is enough to change all of it: what counts is that
// it is unchanged since, not how much of it was seen. A file that was removed by
// somebody else stays refused until it exists again and is read again: to write
// it anew from memory would hide the removal.
//
// # At the model boundary
//
// Programs route on the codes of errors, FS_STALE_VERSION and FS_NOT_OBSERVED,
// and their texts say what is wrong. What to do about it is only for a model:
// [Remedy] appends " — re-read the file, then retry" to the first and
// " — read the file, then retry" to the second.
package guard
