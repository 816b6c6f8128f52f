package dirlock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// These methods are called with the registry locked.

// load returns the table in the registry.
func (f *File) load() (*Table, error) {
	data, err := f.read()
	if errors.Is(err, fs.ErrNotExist) {
		if f.data != nil || f.table == nil {
			f.data, f.table = nil, NewTable()
		}
		return f.table, nil
	}
	if err != nil {
		return nil, err
	}
	if f.table != nil && f.data != nil && bytes.Equal(data, f.data) {
		return f.table, nil
	}
	f.table = nil
	table, err := DecodeTable(data)
	if err != nil {
		return nil, err
	}
	f.data, f.table = data, table
	return table, nil
}

func (f *File) read() ([]byte, error) {
	file, err := openPrivate(f.path(registryName), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxRegistryBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTable, MaxRegistryBytes)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, err
	}
	return data, nil
}

// store replaces the registry.
func (f *File) store(t *Table) (err error) {
	t.NextGeneration()
	data := t.Encode()
	if len(data) > MaxRegistryBytes {
		return fmt.Errorf("the registry would exceed %d bytes", MaxRegistryBytes)
	}
	temp := f.path(registryTemp)
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	if err := f.step("write", func() error { return writePrivate(temp, data) }); err != nil {
		return err
	}
	if err := f.step("rename", func() error { return os.Rename(temp, f.path(registryName)) }); err != nil {
		return err
	}
	f.data = data
	return nil
}

// step does one thing to the disk; tests make it fail before and after.
func (f *File) step(name string, do func() error) error {
	if f.fault == nil {
		return do()
	}
	if err := f.fault("before " + name); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return f.fault("after " + name)
}

func writePrivate(path string, data []byte) error {
	file, err := openPrivate(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	if _, err := file.Write(data); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// reap removes what dead instances have from the table, and returns their ids.
func (f *File) reap(t *Table, self string) (dead []string, err error) {
	for _, id := range t.Instances() {
		if id == self {
			continue
		}
		alive, err := f.alive(id)
		if err != nil {
			return nil, err
		}
		if !alive {
			dead = append(dead, id)
		}
	}
	if len(dead) > 0 {
		is := make(map[string]bool, len(dead))
		for _, id := range dead {
			is[id] = true
		}
		t.Reap(func(id string) bool { return !is[id] }, f.clock.Now().UnixMilli())
	}
	return dead, nil
}

// alive reports whether an instance lives: its lease is there, and locked. What
// cannot be looked at is an error: it may be alive.
func (f *File) alive(id string) (bool, error) {
	lease, err := openPrivate(f.leasePath(id), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lease.Close()
	switch err := tryLock(lease); {
	case err == nil:
		return false, nil
	case errors.Is(err, errLocked):
		return true, nil
	default:
		return false, err
	}
}

// sweep removes the leases of dead instances, also of those that have nothing in
// the table. What they have there is removed before it is next used.
func (f *File) sweep() error {
	entries, err := os.ReadDir(f.path(instancesDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), leaseSuffix)
		if !ok || !isID(id) {
			continue
		}
		if alive, err := f.alive(id); err == nil && !alive {
			_ = os.Remove(f.leasePath(id))
		}
	}
	_ = os.Remove(f.path(registryTemp)) // of who died while writing it
	return nil
}

// recover moves a registry aside that is no table, if no instance is alive.
func (f *File) recover() error {
	_, err := f.load()
	if !errors.Is(err, ErrTable) {
		return err
	}
	entries, dirErr := os.ReadDir(f.path(instancesDir))
	if dirErr != nil {
		return dirErr
	}
	for _, e := range entries {
		alive, probeErr := f.alive(strings.TrimSuffix(e.Name(), leaseSuffix))
		if probeErr != nil || alive {
			return err
		}
	}
	return os.Rename(f.path(registryName), f.path(registryBad))
}
