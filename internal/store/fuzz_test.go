package store

import (
	"testing"
)

// fuzzCommands bounds the commands of one input, some of which take milliseconds.
const fuzzCommands = 40

// FuzzTable runs a table and a map by the bytes of the input: two bytes choose a
// command and a key each, and a number of its kind. The structures are
// checked at the end and on request.
func FuzzTable(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x02\x01\x01\x05\x01\x06\x00"))
	f.Add([]byte("\x07\xff\x07\xf0\x08\x03\x09\x00\x0a\x05\x06\x00\x07\x80"))
	f.Add([]byte("\x02\x01\x02\x01\x02\x01\x03\x01\x04\x01\x0b\x01\x03\x01\x05\x30\x06\x00"))
	f.Add([]byte("\x47\xff\x57\xff\x67\xff\x0a\x01\x08\x02\x09\x00\x0a\x02\x0c\x07"))
	f.Fuzz(func(t *testing.T, input []byte) {
		m := newModel(t.Cleanup)
		input = input[:min(len(input), 2*fuzzCommands)]
		for len(input) >= 2 {
			if err := m.command(input[0]%16, input[0]/16, int(input[1])); err != nil {
				t.Fatal(err)
			}
			input = input[2:]
		}
		for len(m.pins) > 0 {
			if err := m.unpin(0); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.check(); err != nil {
			t.Fatal(err)
		}
	})
}

// command does one command; kind chooses among sizes and times.
func (m *model) command(op, kind byte, n int) error {
	k := keyFor(n%5*int(kind&3), numbered(n))
	size := sizesOfValues[int(kind)%len(sizesOfValues)]
	at := []int64{0, m.now + 1, m.now + 40, m.now + 1<<13, m.now + 1<<20, m.now + 1<<36}[int(kind)%6]
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(i) + op
	}
	switch op {
	case 0:
		m.set(k, String, value, at)
	case 1:
		m.set(k, ZSet, value, 0)
	case 2:
		return m.append(k, value)
	case 3:
		return m.expire(k, at)
	case 4:
		return m.delete(k)
	case 5:
		m.now += int64(n) << (4 * kind % 24)
		return m.due()
	case 6:
		return m.check()
	case 7:
		for i := range n * 8 {
			m.set(keyFor(i%(1+16*int(kind)), numbered(i)), String, value[:min(size, 40)], at)
		}
	case 8:
		for i := range 256 * 8 {
			if i%(int(kind)+1) != 0 || kind == 0 {
				if err := m.delete(keyFor(i%(1+n), numbered(i))); err != nil {
					return err
				}
			}
		}
	case 9:
		m.table.Step(n)
		m.pool.Trim()
	case 10:
		left := 5
		return m.walkTable(n+1, func() error {
			if left--; left > 0 {
				return m.command(7+byte(left%3), kind, n)
			}
			return nil
		})
	case 11:
		return m.pin(k)
	case 12:
		if len(m.pins) > 0 {
			return m.unpin(n % len(m.pins))
		}
	case 13:
		m.table.KeepAccess(n%2 == 0)
	case 14:
		left := 3
		return m.walkSlot(n%4, n+1, func() error {
			if left--; left > 0 {
				return m.command(7+byte(left), kind, n)
			}
			return nil
		})
	case 15:
		if n == 0 {
			m.table.Clear()
			clear(m.keys)
		}
	}
	return nil
}
