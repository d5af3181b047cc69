package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A record's payload is a run of effects, each a command in canonical form:
//
//	uvarint database, uvarint argument count, then per argument uvarint length and bytes

// EffectsMax is how large, in bytes, the arguments of a command or of a whole transaction may
// be, so that its effects fit a record of the log: those have a little more at times. It is
// for the owner to see to that.
const EffectsMax = 2<<30 - 64<<20

// ErrBadEffect marks a record that can't be decoded.
var ErrBadEffect = errors.New("malformed effect")

// appendEffectHead starts an effect of argc arguments.
func appendEffectHead(dst []byte, db, argc int) []byte {
	dst = binary.AppendUvarint(dst, uint64(db))
	return binary.AppendUvarint(dst, uint64(argc))
}

func appendEffectArg[T string | []byte](dst []byte, arg T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(arg)))
	return append(dst, arg...)
}

// DecodeEffects calls visit for every effect of a record's payload. The
// arguments alias the payload. It returns the first error of visit, or one that
// wraps [ErrBadEffect].
func DecodeEffects(payload []byte, visit func(db int, args [][]byte) error) error {
	return new(EffectDecoder).Decode(payload, visit)
}

// EffectDecoder decodes records one after the other, without allocating for each. It
// belongs to one goroutine.
type EffectDecoder struct{ args [][]byte }

// Decode is [DecodeEffects]; what visit is given it may use until it returns.
func (d *EffectDecoder) Decode(payload []byte, visit func(db int, args [][]byte) error) error {
	rest := payload
	for len(rest) > 0 {
		var db, argc uint64
		var err error
		if db, rest, err = cutUvarint(rest); err != nil {
			return err
		}
		if argc, rest, err = cutUvarint(rest); err != nil {
			return err
		}
		// Each argument takes at least a byte.
		if argc == 0 || argc > uint64(len(rest)) || db > maxDatabase {
			return fmt.Errorf("%w: %d arguments for database %d in %d bytes", ErrBadEffect, argc, db, len(rest))
		}
		d.args = d.args[:0]
		for range argc {
			var n uint64
			if n, rest, err = cutUvarint(rest); err != nil {
				return err
			}
			if n > uint64(len(rest)) {
				return fmt.Errorf("%w: argument of %d bytes, %d are left", ErrBadEffect, n, len(rest))
			}
			d.args = append(d.args, rest[:n:n])
			rest = rest[n:]
		}
		if err := visit(int(db), d.args); err != nil {
			return err
		}
	}
	return nil
}

// maxDatabase is far above what the `databases` setting allows.
const maxDatabase = 1 << 24

func cutUvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, fmt.Errorf("%w: bad number", ErrBadEffect)
	}
	return v, b[n:], nil
}
