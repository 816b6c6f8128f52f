package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
)

func openRegular(name string) (*os.File, error) { return openChecked(name, 0) }

func openDirectory(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = ErrNotDirectory
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (d osDir) Type(name string) (fs.FileMode, error) {
	info, err := os.Lstat(filepath.Join(d.Name(), name))
	if err != nil {
		return 0, err
	}
	return info.Mode().Type(), nil
}
