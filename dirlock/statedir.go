package dirlock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stateDir returns the state directory after it was found, or made, to be
// private, and has in it what must be there.
func stateDir(configured string) (string, error) {
	dir, isDefault := configured, configured == ""
	if isDefault {
		dir = defaultStateDir()
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("state directory %q must be an absolute path", dir)
	}
	return dir, prepareStateDir(dir, isDefault)
}

func prepareStateDir(dir string, isDefault bool) error {
	if err := makePrivate(dir, isDefault); err != nil {
		return err
	}
	if err := refuseRemote(dir); err != nil {
		return err
	}
	return makePrivate(filepath.Join(dir, instancesDir), false)
}

func defaultStateDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "taukit", "dirlock")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("taukit-dirlock-%d", os.Geteuid()))
}

// makePrivate makes a directory that only this user can look into, or checks one
// that exists. If it is ours and open to others, tighten closes it.
func makePrivate(dir string, tighten bool) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o700)
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("state directory %q must be a real directory", dir)
	case !isOurs(info):
		return fmt.Errorf("state directory %q belongs to another user", dir)
	case isPrivate(info):
		return nil
	case made || tighten: // the umask may have taken bits of ours
		return os.Chmod(dir, 0o700)
	default:
		return fmt.Errorf("state directory %q must be private (0700), found mode %o", dir, info.Mode().Perm())
	}
}
