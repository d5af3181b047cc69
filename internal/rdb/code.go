package rdb

import (
	"errors"
	"fmt"
)

// Version is the newest version that is read, and VersionWritten the one that is
// written unless a hash has fields that expire.
const (
	Version        = 12
	VersionWritten = 10
)

// Type is how a value is encoded.
type Type byte

// The encodings.
const (
	TypeString              Type = 0
	TypeList                Type = 1
	TypeSet                 Type = 2
	TypeZSet                Type = 3
	TypeHash                Type = 4
	TypeZSet2               Type = 5
	TypeModule              Type = 6
	TypeModule2             Type = 7
	TypeHashZipmap          Type = 9
	TypeListZiplist         Type = 10
	TypeSetIntset           Type = 11
	TypeZSetZiplist         Type = 12
	TypeHashZiplist         Type = 13
	TypeListQuicklist       Type = 14
	TypeStreamListpacks     Type = 15
	TypeHashListpack        Type = 16
	TypeZSetListpack        Type = 17
	TypeListQuicklist2      Type = 18
	TypeStreamListpacks2    Type = 19
	TypeSetListpack         Type = 20
	TypeStreamListpacks3    Type = 21
	TypeHashMetadataPreGA   Type = 22
	TypeHashListpackExPreGA Type = 23
	TypeHashMetadata        Type = 24
	TypeHashListpackEx      Type = 25
)

// The marks between keys.
const (
	opSlotInfo      = 244
	opFunction      = 245
	opFunctionPreGA = 246
	opModuleAux     = 247
	opIdle          = 248
	opFreq          = 249
	opAux           = 250
	opResizeDB      = 251
	opExpireMillis  = 252
	opExpireSeconds = 253
	opSelectDB      = 254
	opEOF           = 255
)

// Kind is what a value is, whatever its encoding.
type Kind uint8

// The kinds.
const (
	String Kind = iota + 1
	List
	Set
	ZSet
	Hash
)

// kindOf gives the kind of an encoding; false for those that have none here.
func kindOf(t Type) (Kind, bool) {
	switch t {
	case TypeString:
		return String, true
	case TypeList, TypeListZiplist, TypeListQuicklist, TypeListQuicklist2:
		return List, true
	case TypeSet, TypeSetIntset, TypeSetListpack:
		return Set, true
	case TypeZSet, TypeZSet2, TypeZSetZiplist, TypeZSetListpack:
		return ZSet, true
	case TypeHash, TypeHashZipmap, TypeHashZiplist, TypeHashListpack, TypeHashMetadataPreGA, TypeHashListpackExPreGA, TypeHashMetadata, TypeHashListpackEx:
		return Hash, true
	}
	return 0, false
}

// Errors that callers tell apart.
var (
	// ErrCorrupt: the bytes are damaged, or made to look like a snapshot.
	ErrCorrupt = errors.New("corrupt snapshot data")
	// ErrUnsupported: they hold what this version has no place for.
	ErrUnsupported = errors.New("not supported")
)

// corrupt makes an error of what was found.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
