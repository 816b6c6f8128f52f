//go:build !linux

package rawfs

// List appends the entries of a directory to dst, in no particular order and
// without "." and "..". What was listed before an error is returned with it.
func (l *Lister) List(dst []Entry, path string) ([]Entry, error) {
	return listPortably(dst, path)
}
