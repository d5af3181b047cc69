//go:build unix

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var noSpace = []error{unix.ENOSPC, unix.EDQUOT}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func space(dir string) (Space, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Space{}, err
	}
	block := uint64(st.Bsize)
	return Space{Total: uint64(st.Blocks) * block, Free: uint64(st.Bavail) * block}, nil
}
