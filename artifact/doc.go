// Package artifact keeps bytes that are too many, or not the kind, to show to a
// model: complete output for a while, and originals for as long as their store
// does.
//
// # Saved output
//
// A tool that shows only a part of its output loses nothing if a [Spool] has the
// whole. A Spool belongs to one process or session. Each artifact is a directory of
// its own below the system temporary directory:
//
//	DIR/PREFIX-UID-RANDOM/output      the saved bytes
//	DIR/PREFIX-UID-RANDOM/owner.lock  locked for as long as its process lives
//
// RANDOM is 128 bits from the system's random source. The directory has mode
// 0300 and the files have mode 0600: whoever was told the exact path, and is
// the same user, can read the output; nobody can list what else is there.
//
// Nothing runs in the background. Artifacts are removed when a tool call begins
// ([Spool.Call]), when the session ends ([Spool.Close]) and, after a crash, by
// the next Spool of the same user ([Sweep]).
//
// Output that cannot be saved is never a reason for a tool to fail: every error
// of a Spool means that the output is unavailable, and no more.
//
// # Originals
//
// A [Store] keeps originals under the digest of their content, a [Key], which a
// model sees as a reference, <tau-artifact:sha256:...>. [MemStore] and [DirStore]
// are stores; [PutFile] fills one from a file, [ReadAll] reads an original, and
// [Imports] makes a private file of it. Whatever comes out of a store is checked
// against its key. [Hints] are what somebody says of an original, its name and its
// type: they are never stored with it and never trusted.
//
// # Systems
//
// The guarantees need owner and mode bits, flock and the *at system calls.
// Linux, macOS, FreeBSD, NetBSD, OpenBSD and DragonFly BSD have them; elsewhere
// every attempt to save or import, and every DirStore, gives [ErrUnsupported].
package artifact
