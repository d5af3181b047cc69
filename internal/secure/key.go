package secure

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"hash"
)

// The errors for keys that can't be used; a text names the way out.
var (
	errPasswordMissing = errors.New("the key is encrypted, and no password is set")
	errPasswordWrong   = errors.New("the password does not open the key")
	errKeyScheme       = errors.New("the key is encrypted in a way that is not known; `openssl pkcs8 -topk8 -v2 aes-256-cbc` writes one that is")
)

// openKey gives the PEM of a key that is perhaps encrypted by a password (PKCS #8
// with PBES2, which openssl writes).
func openKey(content []byte, password string) ([]byte, error) {
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		legacy := block.Headers["DEK-Info"] != ""
		if !legacy && block.Type != "ENCRYPTED PRIVATE KEY" {
			continue
		}
		switch {
		case password == "":
			return nil, errPasswordMissing
		case legacy:
			return nil, errKeyScheme
		}
		plain, err := decrypt(block.Bytes, password)
		if err != nil {
			return nil, err
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: plain}), nil
	}
	return content, nil
}

// What stands in the encrypted form (RFC 5958, RFC 8018).
type (
	encryptedKey struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	pbes2 struct{ Derivation, Cipher pkix.AlgorithmIdentifier }
	pbkdf struct {
		Salt       []byte
		Iterations int
		KeyLength  int                      `asn1:"optional"`
		PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
	}
)

// iterationsMax bounds the work for one key.
const iterationsMax = 2_000_000

// hashes and ciphers are those of the algorithms that openssl uses, by number.
var (
	oidPBES2  = "1.2.840.113549.1.5.13"
	oidPBKDF2 = "1.2.840.113549.1.5.12"
	hashes    = map[string]func() hash.Hash{
		"":                    sha1.New, // what the standard says for none
		"1.2.840.113549.2.7":  sha1.New,
		"1.2.840.113549.2.9":  sha256.New,
		"1.2.840.113549.2.10": sha512.New384,
		"1.2.840.113549.2.11": sha512.New,
		"1.2.840.113549.2.8":  sha256.New224,
		"1.2.840.113549.2.12": sha512.New512_224,
		"1.2.840.113549.2.13": sha512.New512_256,
	}
	ciphers = map[string]struct {
		keyBytes int
		open     func(key []byte) (cipher.Block, error)
	}{
		"2.16.840.1.101.3.4.1.2":  {16, aes.NewCipher},
		"2.16.840.1.101.3.4.1.22": {24, aes.NewCipher},
		"2.16.840.1.101.3.4.1.42": {32, aes.NewCipher},
		"1.2.840.113549.3.7":      {24, des.NewTripleDESCipher},
	}
)

func decrypt(der []byte, password string) ([]byte, error) {
	var key encryptedKey
	var scheme pbes2
	var kdf pbkdf
	var iv []byte
	if _, err := asn1.Unmarshal(der, &key); err != nil || key.Algorithm.Algorithm.String() != oidPBES2 {
		return nil, errKeyScheme
	}
	if _, err := asn1.Unmarshal(key.Algorithm.Parameters.FullBytes, &scheme); err != nil || scheme.Derivation.Algorithm.String() != oidPBKDF2 {
		return nil, errKeyScheme
	}
	_, kdfErr := asn1.Unmarshal(scheme.Derivation.Parameters.FullBytes, &kdf)
	_, ivErr := asn1.Unmarshal(scheme.Cipher.Parameters.FullBytes, &iv)
	prf := ""
	if kdf.PRF.Algorithm != nil {
		prf = kdf.PRF.Algorithm.String()
	}
	digest, how := hashes[prf], ciphers[scheme.Cipher.Algorithm.String()]
	if kdfErr != nil || ivErr != nil || digest == nil || how.open == nil || kdf.Iterations < 1 || kdf.Iterations > iterationsMax {
		return nil, errKeyScheme
	}
	secret, err := pbkdf2.Key(digest, password, kdf.Salt, kdf.Iterations, how.keyBytes)
	if err != nil {
		return nil, err
	}
	block, err := how.open(secret)
	if err != nil {
		return nil, err
	}
	size := block.BlockSize()
	if len(iv) != size || len(key.Data) == 0 || len(key.Data)%size != 0 {
		return nil, errKeyScheme
	}
	plain := make([]byte, len(key.Data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, key.Data)
	pad := int(plain[len(plain)-1])
	if pad < 1 || pad > size {
		return nil, errPasswordWrong
	}
	plain = plain[:len(plain)-pad]
	if _, err := x509.ParsePKCS8PrivateKey(plain); err != nil {
		return nil, errPasswordWrong
	}
	return plain, nil
}
