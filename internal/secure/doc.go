// Package secure makes TLS configurations out of settings and PEM files: which
// certificate to show, whom to trust, which protocols and ciphers to offer.
//
// [Load] reads everything once and gives either a whole configuration or an
// error, so that a new certificate and its key come into use together. An
// [Authority] issues certificates, for development and tests.
//
// Files, chance and the time are given from outside.
package secure
