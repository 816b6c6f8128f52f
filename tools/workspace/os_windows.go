package workspace

import "os"

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
