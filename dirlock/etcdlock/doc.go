// Package etcdlock keeps the locks of [github.com/taukit/taukit/dirlock] in etcd,
// for the hosts that share a work tree.
//
// A [Backend] is for one tree, which each host may have mounted elsewhere: paths
// are stored relative to its root, and compared as paths only. All hosts must
// name the same scope. The keys, below taukit/dirlock/v1/SCOPE/, are:
//
//	table    the locks and the queue, as JSON; without a lease
//	inst/ID  an instance, with its lease: {"host", "program", "updates"}
//
// A change is one transaction that replaces the table if nobody else has since it
// was read, and if the instance is still there. What an instance has ends with
// its key: at once when it is closed, and otherwise, be the process dead or cut
// off, when its lease has run out. Who looks next removes it from the table.
//
// # Leases
//
// An instance counts the validity of its lease from before a renewal was sent,
// less a margin, and on the monotonic and the wall clock, of which the one that
// leaves less decides: the first stands still while a system sleeps, the second
// may be set back. So an instance that is cut off knows that its locks are lost
// before the server lets others have them. A session that is lost stays so, and
// nothing is locked again behind the back of who held it. When only the wall
// clock says that the time is up, the server is asked.
//
// # Limits
//
// The locks are advisory: they bind those who take them, in the same scope. A file
// system cannot turn away a writer whose lock is gone. A
// [github.com/taukit/taukit/dirlock.Guard] that is checked right before each change
// that others can see leaves these:
//
//   - a process that is stopped between the check and the change for longer than
//     [github.com/taukit/taukit/dirlock.MinValidity] and the margin;
//   - a server whose clock runs so much faster than the client's that a lease is
//     shorter by the margin;
//   - a sleep of the system during which the wall clock is set back by as much;
//   - a mount that shows a change to other hosts only later.
//
// Who does not check but waits for the context of a guard, as a command does, may
// go on after a sleep for a third of the TTL.
//
// A directory outside the root cannot be locked. A table that cannot be read
// fails everything until somebody removes its key: it may be that of a newer
// version. Each change leaves a revision of the table in the history of etcd, which
// should be compacted from time to time, as its option auto-compaction-retention
// does.
package etcdlock
