package config

import (
	"slices"
	"strings"
)

const (
	errHostname     = reason("Hostnames may only contain alphanumeric characters, hyphens or dots")
	errHostnameLong = reason("Hostnames must be less than 256 characters")
	errSaveNoSave   = reason("shutdown options SAVE and NOSAVE can't be used simultaneously")
	errTitle        = reason("template format is invalid or contains unknown variables")
	errSnapshotPath = reason("dbfilename can't be a path, just a filename")
	errLogPath      = reason("appendfilename can't be a path, just a filename")
	errLogName      = reason("appendfilename can't be empty")
	errLogDirPath   = reason("appenddirname can't be a path, just a dirname")
	errLogDirName   = reason("appenddirname can't be empty")
	errNodeID       = reason("argument must be 40 lower-case hexadecimal digits")
)

func checkHostname(text string) error {
	if len(text) > 255 {
		return errHostnameLong
	}
	for _, c := range []byte(text) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '.' {
			return errHostname
		}
	}
	return nil
}

func checkShutdown(text string) error {
	words := strings.Split(text, " ")
	if slices.Contains(words, "save") && slices.Contains(words, "nosave") {
		return errSaveNoSave
	}
	return nil
}

// checkName gives a check for the name of a file in dir: path is the error for one
// that is elsewhere, empty that for none, if there must be one.
func checkName(path, empty error) func(text string) error {
	return func(text string) error {
		switch {
		case text == "":
			return empty
		case strings.ContainsAny(text, `/\`), text == ".", text == "..":
			return path
		}
		return nil
	}
}

func checkNodeID(text string) error {
	if text != "" && (len(text) != 40 || strings.Trim(text, "0123456789abcdef") != "") {
		return errNodeID
	}
	return nil
}

// titleVariables are what a title may show; the names are Redis's.
var titleVariables = []string{"title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket", "config-file"}

// checkTitle refuses an empty template, an open brace and an unknown variable.
func checkTitle(text string) error {
	if text == "" {
		return errTitle
	}
	for {
		_, rest, found := strings.Cut(text, "{")
		if !found {
			return nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !slices.Contains(titleVariables, name) {
			return errTitle
		}
		text = after
	}
}
