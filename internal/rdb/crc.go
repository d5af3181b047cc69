package rdb

import "hash/crc64"

// jones is the polynomial of the checksum, bits reversed as package crc64 wants it.
var jones = crc64.MakeTable(0x95ac9329ac4bc9b5)

// Checksum continues the CRC-64 of Redis over more bytes; it begins with 0. The
// standard package inverts it before and after, which Redis does not.
func Checksum(crc uint64, b []byte) uint64 { return ^crc64.Update(^crc, jones, b) }
