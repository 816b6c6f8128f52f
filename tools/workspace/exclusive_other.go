//go:build !linux && !darwin

package workspace

import "errors"

// renameExclusive is not there: these systems link instead.
func renameExclusive(_, _ place) error { return errors.ErrUnsupported }
