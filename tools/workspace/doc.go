// Package workspace gives tools the files of a session: paths that start at an
// agent's working directory, reads that never block on what is not a regular
// file, listings, and changes that happen wholly or not at all.
//
// A [Change] holds one file from the first look at it to the last. Changes of one
// process take turns; whoever else writes to the file is noticed by its content,
// but for the instant between the last look and the renaming. Other processes
// that use this package are kept out there by a lock on the directory, and the
// creation of a file is free of that gap; from other programs nothing protects
// the instant.
//
// The interfaces [FS] and [WriteFS] are a seam. [OS] is the file system of the
// host; a harness puts its own in its place to confine the tools, or to keep
// files elsewhere.
//
// The package is not a sandbox. With [OS] a tool reaches whatever the process
// may reach.
package workspace
