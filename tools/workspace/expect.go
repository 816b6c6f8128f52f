package workspace

// An Expect says what must be so for a change to happen. The zero value is
// [Any].
type Expect struct {
	kind    expectation
	version Version
}

type expectation uint8

const (
	expectAny expectation = iota
	expectAbsent
	expectVersion
)

// Any expects nothing.
func Any() Expect { return Expect{} }

// IfAbsent expects that there is no file.
func IfAbsent() Expect { return Expect{kind: expectAbsent} }

// IfVersion expects a file with the content of v. The zero Version is that of
// no file, so nothing meets the expectation.
func IfVersion(v Version) Expect { return Expect{expectVersion, v} }

// Judge returns nil if what is expected is so: of a file that exists or not, and
// whose version is asked for only if it matters. Otherwise the error is
// [ErrStaleVersion], which is [io/fs.ErrNotExist] as well if there is no file,
// [ErrNotObserved] if there should be none, or that of version.
func (e Expect) Judge(exists bool, version func() (Version, error)) error {
	switch {
	case e.kind == expectAbsent && exists:
		return ErrNotObserved
	case e.kind != expectVersion:
		return nil
	case !exists:
		return errGone
	}
	v, err := version()
	if err == nil && v != e.version {
		err = ErrStaleVersion
	}
	return err
}
