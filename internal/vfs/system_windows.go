package vfs

import "golang.org/x/sys/windows"

var noSpace = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}

// syncDir has nothing to do: the system keeps names by itself.
func syncDir(string) error { return nil }

func space(dir string) (Space, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return Space{}, err
	}
	var s Space
	err = windows.GetDiskFreeSpaceEx(name, &s.Free, &s.Total, nil)
	return s, err
}
