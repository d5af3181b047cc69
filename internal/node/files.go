package node

import (
	"fmt"
	"os"
	"path/filepath"
)

// replaceFile writes a new file beside the old one and puts it in its place when
// it is on the disk, so that no crash leaves half of it.
func replaceFile(path string, content []byte) error {
	path, err := filepath.EvalSymlinks(path) // a link stays one
	if err != nil {
		return fmt.Errorf("replace file: %w", err)
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("replace file: %w", err)
	}
	_, err = f.Write(content)
	for _, step := range []func() error{
		func() error { return f.Chmod(mode) }, f.Sync,
	} {
		if err == nil {
			err = step()
		}
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("replace file: %w", err)
	}
	return nil
}

// executable is the path of this program, "" when it is unknown.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
