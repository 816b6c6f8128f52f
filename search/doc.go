// Package search finds files by name and lines in files, in process, and gives
// the same result whatever the number of goroutines, their timing or the order
// of directories.
//
// Its parts can be used alone:
//
//   - [Compile] gives a [Pattern], which finds the matching lines of a text in
//     memory: a literal or a regular expression, searched in linear time.
//   - [CompileGlob] and [CompileFilter] match paths.
//   - [ParseIgnore] reads one ignore file and judges paths as git does.
//   - [Walk] gives the files of a tree, without those that are ignored.
//   - [Grep] searches them in parallel, and [AppendHeading] and [AppendLine]
//     write what it found as records of at most 500 characters.
//
// Nothing but directories and regular files is ever opened, no file is mapped
// into memory, and no other program is started. Symbolic links are not followed,
// but this guards only the last element of a path while others change the tree.
//
// The package is not for replacing text (package replace), for reading lines
// with their ends (package lineio), or for the text that a model reads (package
// tools).
package search
