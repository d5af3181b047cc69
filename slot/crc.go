package slot

// The checksum is CRC-16 in its XMODEM form: polynomial x^16+x^12+x^5+1, most
// significant bit first, initial value 0, no final inversion.
const polynomial = 0x1021

// lanes is the number of bytes that one step of [CRC16] takes in.
const lanes = 8

// zeros[k][b] is the checksum of byte b followed by k zero bytes. A checksum
// without initial value and inversion is linear, so that of eight bytes is the
// exclusive or of eight independent lookups, which the processor can overlap;
// byte by byte each lookup has to wait for the one before.
var zeros = makeTables()

func makeTables() (t [lanes][256]uint16) {
	for b := range 256 {
		crc := uint16(b) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= polynomial
			}
		}
		t[0][b] = crc
	}
	for k := 1; k < lanes; k++ {
		for b, crc := range t[k-1] {
			t[k][b] = crc<<8 ^ t[0][crc>>8]
		}
	}
	return t
}

// CRC16 returns the CRC-16/XMODEM checksum of b, which is 0x31C3 for
// "123456789" and 0 for nothing. It does not allocate.
func CRC16(b []byte) uint16 {
	var crc uint16
	for len(b) >= lanes {
		crc = zeros[7][b[0]^byte(crc>>8)] ^ zeros[6][b[1]^byte(crc)] ^
			zeros[5][b[2]] ^ zeros[4][b[3]] ^ zeros[3][b[4]] ^
			zeros[2][b[5]] ^ zeros[1][b[6]] ^ zeros[0][b[7]]
		b = b[lanes:]
	}
	for _, c := range b {
		crc = crc<<8 ^ zeros[0][byte(crc>>8)^c]
	}
	return crc
}
