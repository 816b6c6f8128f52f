//go:build unix && !linux && !darwin

package workspace

import "errors"

// renameExclusive is not there: these systems link instead.
func renameExclusive(place, string) error { return errors.ErrUnsupported }
