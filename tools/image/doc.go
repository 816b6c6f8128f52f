// Package image prepares images for models that can see: it decodes PNG, JPEG
// and WebP, turns them upright, crops and shrinks them to a profile, and encodes
// them again, so that nothing but pixels is passed on.
//
// The bytes decide what an image is, not a name or a declared type. They may
// come from anybody: sizes are judged from the header before anything is decoded,
// and everything that a decoder does not like, a panic included, is an [*Error].
//
// # Memory
//
// A decoded image has at most [MaxDecodedBytes]. Decoders need more than that
// while they work: up to half of it again for an interlaced PNG, up to four times
// of it for a progressive JPEG. Scaling needs 32 bytes for each pixel of the
// width of the result by the height of the source, at most some 220 MB. A
// [Preparer] has one image in the works at a time, so this is needed once,
// however many calls there are.
package image
