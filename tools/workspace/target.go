package workspace

// A Target is a file that a call is about, whether it exists or not.
type Target struct {
	// Key is the identity of the file: its absolute path without symbolic
	// links, also of a file that is still to be made. Different spellings of a
	// path share it; two hard links do not, and neither do upper and lower case
	// where a file system takes them for the same.
	Key string
	// Display is the path as the caller wrote it.
	Display string
}
