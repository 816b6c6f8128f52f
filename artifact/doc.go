// Package artifact keeps complete output for a while in private temporary
// files, so that a tool may show only a part of it and lose nothing.
//
// A [Spool] belongs to one process or session. Each artifact is a directory of
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
// here means that the output is unavailable, and no more.
//
// The guarantees need owner and mode bits, flock and the *at system calls.
// Linux, macOS, FreeBSD, NetBSD, OpenBSD and DragonFly BSD have them; elsewhere
// every attempt to save gives [ErrUnsupported].
package artifact
