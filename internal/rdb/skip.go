package rdb

// skipString passes over a string.
func (s *source) skipString() error {
	_, err := s.string()
	return err
}

func (s *source) skipLens(n int) error {
	for range n {
		if _, err := s.len(); err != nil {
			return err
		}
	}
	return nil
}

// skipStream passes over a stream, so that the keys behind it can be read.
func (s *source) skipStream(t Type) error {
	n, err := s.len()
	for ; err == nil && n > 0; n-- { // master ID and listpack
		if err = s.skipString(); err == nil {
			err = s.skipString()
		}
	}
	lens := 3 // length, last ID
	if t >= TypeStreamListpacks2 {
		lens += 5 // first ID, largest deleted ID, entries ever added
	}
	if err == nil {
		err = s.skipLens(lens)
	}
	if err != nil {
		return err
	}
	groups, err := s.len()
	for ; err == nil && groups > 0; groups-- {
		err = s.skipGroup(t)
	}
	return err
}

func (s *source) skipGroup(t Type) error {
	if err := s.skipString(); err != nil { // name
		return err
	}
	lens := 2 // last ID
	if t >= TypeStreamListpacks2 {
		lens++ // entries read
	}
	if err := s.skipLens(lens); err != nil {
		return err
	}
	pending, err := s.len()
	for ; err == nil && pending > 0; pending-- { // raw ID, time, deliveries
		if err = s.skipBytes(16 + 8); err == nil {
			err = s.skipLens(1)
		}
	}
	if err != nil {
		return err
	}
	consumers, err := s.len()
	for ; err == nil && consumers > 0; consumers-- {
		err = s.skipConsumer(t)
	}
	return err
}

func (s *source) skipConsumer(t Type) error {
	if err := s.skipString(); err != nil {
		return err
	}
	times := 8
	if t >= TypeStreamListpacks3 {
		times += 8
	}
	if err := s.skipBytes(times); err != nil {
		return err
	}
	pending, err := s.len()
	for ; err == nil && pending > 0; pending-- {
		err = s.skipBytes(16)
	}
	return err
}

// skipBytes passes over up to 64 bytes.
func (s *source) skipBytes(n int) error {
	var b [64]byte
	return s.read(b[:n])
}

// The parts of what a module has written.
const (
	moduleEOF    = 0
	moduleSigned = 1
	moduleUint   = 2
	moduleFloat  = 3
	moduleDouble = 4
	moduleString = 5
)

// skipModule passes over what a module has written, behind its ID.
func (s *source) skipModule() error {
	for {
		op, err := s.len()
		if err != nil {
			return err
		}
		switch op {
		case moduleEOF:
			return nil
		case moduleSigned, moduleUint:
			err = s.skipLens(1)
		case moduleFloat:
			err = s.skipBytes(4)
		case moduleDouble:
			err = s.skipBytes(8)
		case moduleString:
			err = s.skipString()
		default:
			err = corrupt("module data of unknown form %d", op)
		}
		if err != nil {
			return err
		}
	}
}
