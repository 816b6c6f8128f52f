package confine

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// bind makes the layers true in the mount namespace of this thread, which must
// be one of its own.
func bind(layers []layer) error {
	// Mounts of a new namespace still belong to the peer groups of the old one:
	// without this, everybody would get what is mounted here.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return setup("make mounts private", err)
	}
	trees, err := cloneTrees(layers)
	defer func() {
		for _, tree := range trees {
			unix.Close(tree)
		}
	}()
	if err != nil {
		return err
	}
	for i, l := range layers {
		if err := attach(l, trees[i]); err != nil {
			return err
		}
	}
	return nil
}

// cloneTrees returns a copy of each layer with all that is mounted below it. All
// are made before any is attached, so that a writable layer in a read-only one is
// copied as it was. The root needs none; its place is -1.
func cloneTrees(layers []layer) (trees []int, err error) {
	for _, l := range layers {
		tree := -1
		if l.path != "/" {
			if tree, err = openTree(l.path); err != nil {
				return trees, err
			}
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

func openTree(path string) (tree int, err error) {
	flags := uint(unix.OPEN_TREE_CLONE | unix.AT_RECURSIVE | unix.OPEN_TREE_CLOEXEC | unix.AT_SYMLINK_NOFOLLOW)
	tree, err = unix.OpenTree(unix.AT_FDCWD, path, flags)
	if missing(err) {
		return -1, &PlanError{path, err}
	}
	return tree, setup("open_tree", err)
}

// missing reports whether err says that there is no such directory any more.
func missing(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOENT, unix.ENOTDIR, unix.EACCES, unix.ELOOP}, func(e error) bool {
		return errors.Is(err, e)
	})
}

// attach puts the copy of a layer over the layer. A read-only one becomes so
// before it is to be seen.
func attach(l layer, tree int) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if tree < 0 {
		// Absolute paths begin at the root mount itself, not at what is mounted
		// over it, so it is changed in place.
		return setup("mount_setattr", unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr))
	}
	if l.readOnly {
		err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr)
		if err != nil {
			return setup("mount_setattr", err)
		}
	}
	return setup("move_mount", unix.MoveMount(tree, "", unix.AT_FDCWD, l.path, unix.MOVE_MOUNT_F_EMPTY_PATH))
}
