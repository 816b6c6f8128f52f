// Package patch parses and applies the patches that coding models write, from
// "*** Begin Patch" to "*** End Patch".
//
// [Parse] understands a text, [ApplyHunks] changes the bytes of one file, and
// [Apply] changes a tree of files. Apply is [NewPlan], which finds out whether
// the whole patch fits and only reads, and [Plan.Commit], which writes. A patch
// that does not fit changes nothing. Nothing is placed by similarity, no file
// that is not named for it is replaced or lost, and what a failure part-way has
// changed already is told exactly.
//
// The files belong to an [FS]. The package brings one in memory, [Mem], and
// none for the disk.
//
// The package is not for JSON, for diffs, or for the text that a model reads,
// except for the messages and excerpts of its errors.
package patch
