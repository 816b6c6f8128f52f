package dirlock

import "time"

// Limits. Those of [Options] are what its zero fields stand for.
const (
	DefaultLivenessInterval = 60 * time.Second  // between a waiter's looks at who blocks it
	DefaultAbandonedAfter   = 120 * time.Second // idle time after which a lock may be abandoned
	DefaultMaxWaiters       = 1024              // requests that wait, in a table
	DefaultMaxHeld          = 4096              // locks that are held when one is granted at once, in a table

	MaxDirs       = 256  // directories in a request; more become their common ancestor
	MaxPathBytes  = 4096 // of a directory
	MaxOwnerBytes = 128  // of an agent id
	MaxLinks      = 40   // symbolic links in the resolution of a path
	MaxNotices    = 256  // in a table; the oldest goes first
	MaxRounds     = 3    // grants of a request whose directories change while it waits

	MinValidity    = 2 * time.Second  // that [Guard.Check] demands of a lease
	ReleaseTimeout = 5 * time.Second  // of one attempt to release
	RetryMin       = time.Second      // between an attempt that failed and the next; doubles
	RetryMax       = 30 * time.Second // up to this
)
