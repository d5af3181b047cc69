package node

import (
	"io"
	"net"
	"strings"
	"testing"
)

// A node that may not log in to another one says which settings are for that.
func TestRefusedLinkNamesTheSettings(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		io.WriteString(theirs, ":1\r\n-NOAUTH Authentication required.\r\n")
		theirs.Close()
	}()
	err := passReplies(ours)
	if err == nil || !strings.Contains(err.Error(), "masterauth: NOAUTH Authentication required.") {
		t.Errorf("error %v", err)
	}
}
