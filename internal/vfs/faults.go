package vfs

// OpKind is a kind of operation on a file system.
type OpKind uint8

// The kinds of operations that [Faults] asks its rule about.
const (
	OpCreate OpKind = iota
	OpOpen
	OpRename
	OpRemove
	OpList
	OpMkdir
	OpSyncDir
	OpSpace
	OpRead
	OpWrite
	OpSync
	OpTruncate
	OpAllocate
)

// Op is an operation that is about to be done.
type Op struct {
	// Kind is what will be done.
	Kind OpKind
	// Name is the file or directory; of a rename, the name before.
	Name string
	// Offset is where in the file, or the new size, in bytes.
	Offset int64
	// Size is how many bytes are read or written.
	Size int
}

// Fault is what a rule makes of an operation; the zero value lets it be.
type Fault struct {
	// Err is returned in place of doing the operation.
	Err error
	// Done is how many bytes of a write are written before it fails.
	Done int
}

// Faults is a file system whose operations go to another one, unless the rule
// says otherwise. The rule runs in the goroutine of the caller and may be called
// from several at once; as long as it does not return, the operation stalls.
func Faults(fs FS, rule func(Op) Fault) FS { return faultFS{fs, rule} }

type faultFS struct {
	fs   FS
	rule func(Op) Fault
}

func (f faultFS) open(kind OpKind, name string, open func(string) (File, error)) (File, error) {
	if err := f.rule(Op{Kind: kind, Name: name}).Err; err != nil {
		return nil, err
	}
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	return faultFile{file, name, f.rule}, nil
}

// Create implements [FS].
func (f faultFS) Create(name string) (File, error) { return f.open(OpCreate, name, f.fs.Create) }

// Open implements [FS].
func (f faultFS) Open(name string) (File, error) { return f.open(OpOpen, name, f.fs.Open) }

// Rename implements [FS].
func (f faultFS) Rename(from, to string) error {
	if err := f.rule(Op{Kind: OpRename, Name: from}).Err; err != nil {
		return err
	}
	return f.fs.Rename(from, to)
}

// Remove implements [FS].
func (f faultFS) Remove(name string) error {
	if err := f.rule(Op{Kind: OpRemove, Name: name}).Err; err != nil {
		return err
	}
	return f.fs.Remove(name)
}

// List implements [FS].
func (f faultFS) List(dir string) ([]string, error) {
	if err := f.rule(Op{Kind: OpList, Name: dir}).Err; err != nil {
		return nil, err
	}
	return f.fs.List(dir)
}

// MkdirAll implements [FS].
func (f faultFS) MkdirAll(dir string) error {
	if err := f.rule(Op{Kind: OpMkdir, Name: dir}).Err; err != nil {
		return err
	}
	return f.fs.MkdirAll(dir)
}

// SyncDir implements [FS].
func (f faultFS) SyncDir(dir string) error {
	if err := f.rule(Op{Kind: OpSyncDir, Name: dir}).Err; err != nil {
		return err
	}
	return f.fs.SyncDir(dir)
}

// Space implements [FS].
func (f faultFS) Space(dir string) (Space, error) {
	if err := f.rule(Op{Kind: OpSpace, Name: dir}).Err; err != nil {
		return Space{}, err
	}
	return f.fs.Space(dir)
}

type faultFile struct {
	File
	name string
	rule func(Op) Fault
}

// ReadAt implements [File].
func (f faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.rule(Op{OpRead, f.name, off, len(p)}).Err; err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

// WriteAt implements [File].
func (f faultFile) WriteAt(p []byte, off int64) (int, error) {
	fault := f.rule(Op{OpWrite, f.name, off, len(p)})
	if fault.Err == nil {
		return f.File.WriteAt(p, off)
	}
	n, err := f.File.WriteAt(p[:min(fault.Done, len(p))], off)
	if err != nil {
		return n, err
	}
	return n, fault.Err
}

// Sync implements [File].
func (f faultFile) Sync() error {
	if err := f.rule(Op{Kind: OpSync, Name: f.name}).Err; err != nil {
		return err
	}
	return f.File.Sync()
}

// Truncate implements [File].
func (f faultFile) Truncate(size int64) error {
	if err := f.rule(Op{Kind: OpTruncate, Name: f.name, Offset: size}).Err; err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Allocate implements [File].
func (f faultFile) Allocate(size int64) error {
	if err := f.rule(Op{Kind: OpAllocate, Name: f.name, Offset: size}).Err; err != nil {
		return err
	}
	return f.File.Allocate(size)
}

// Reserve implements [File].
func (f faultFile) Reserve(size int64) error {
	if err := f.rule(Op{Kind: OpAllocate, Name: f.name, Offset: size}).Err; err != nil {
		return err
	}
	return f.File.Reserve(size)
}
