// Package workspace gives tools the files of a session: paths that start at an
// agent's working directory, reads that never block on what is not a regular
// file, and listings.
//
// The interface [FS] is a seam. [OS] is the file system of the host; a harness
// puts its own in its place to confine the tools, or to keep files elsewhere.
//
// The package is not a sandbox. With [OS] a tool reaches whatever the process
// may read.
package workspace
