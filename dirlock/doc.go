// Package dirlock is advisory update locks on directory subtrees, so that
// several agents can change one work tree without stepping on each other.
//
// An agent takes a manual lock on one directory and keeps it; a tool takes an
// automatic lock on the directories that one call changes and releases it when
// the call ends. A lock is for a directory and everything below it, and locks of
// different owners never overlap. Reading locks nothing and waits for nobody.
//
// The rules are methods of [Table], a plain value without I/O, clock or
// goroutine. A [Backend] stores it, knows who is alive, and wakes who waits:
// [Memory] within a process, [File] for the processes of a user on one host. A
// [Manager] is what a session uses: it waits, and follows a lock until it ends.
//
// The locks are coordination, not a sandbox: they bind only those who take
// them. A file system cannot turn away a writer whose lock is gone, so a writer
// asks [Guard.Check] right before each change that others can see. What is left
// is a process that is stopped between that check and the change.
//
// Errors are an [*Error] with a code and the facts; texts for a model are made
// elsewhere.
package dirlock
