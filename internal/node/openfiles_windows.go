package node

func openFilesMax() (int64, bool) { return 0, false }
