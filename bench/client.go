package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

// client asks a server what is not part of a measurement.
type client struct {
	conn   net.Conn
	reader resp.ReplyReader
	buf    []byte
}

// askTimeout bounds one question.
const askTimeout = 10 * time.Second

func dial(address string) (*client, error) {
	conn, err := net.DialTimeout("tcp", address, askTimeout)
	if err != nil {
		return nil, fmt.Errorf("connect to a server: %w", err)
	}
	return &client{conn: conn}, nil
}

func (c *client) close() { c.conn.Close() }

// do sends one command and waits for its reply, which may be an error reply. The
// value stands on its own.
func (c *client) do(args ...string) (resp.Value, error) {
	c.conn.SetDeadline(time.Now().Add(askTimeout))
	if _, err := c.conn.Write(resp.AppendCommandStrings(nil, args...)); err != nil {
		return resp.Value{}, fmt.Errorf("send %s: %w", args[0], err)
	}
	chunk := make([]byte, 16<<10)
	for {
		v, n, err := c.reader.Next(c.buf)
		if err == nil {
			v = v.Clone()
			c.buf = c.buf[n:]
			return v, nil
		}
		if !errors.Is(err, resp.ErrIncomplete) {
			return resp.Value{}, fmt.Errorf("read the reply to %s: %w", args[0], err)
		}
		read, err := c.conn.Read(chunk)
		if err != nil {
			return resp.Value{}, fmt.Errorf("read the reply to %s: %w", args[0], err)
		}
		c.buf = append(c.buf, chunk[:read]...)
	}
}

// ask is do with a connection of its own.
func ask(address string, args ...string) (resp.Value, error) {
	c, err := dial(address)
	if err != nil {
		return resp.Value{}, err
	}
	defer c.close()
	return c.do(args...)
}

// info gives the fields of a section of INFO.
func info(address, section string) (map[string]string, error) {
	v, err := ask(address, "INFO", section)
	if err == nil {
		err = v.Err()
	}
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.SplitSeq(string(v.Str), "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// infoNumber gives one field of INFO; ok is false when there is no such number.
func infoNumber(address, section, name string) (n float64, ok bool) {
	fields, err := info(address, section)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseFloat(fields[name], 64)
	return n, err == nil
}

// knows says whether a server has a command.
func knows(address string, w *workload) (bool, error) {
	args := make([]string, len(w.words))
	numbers := strings.NewReplacer("{value}", "1", "{key}", "probe", "{member}", "1", "{score}", "1")
	for i, word := range w.words {
		args[i] = numbers.Replace(word)
	}
	v, err := ask(address, args...)
	if err != nil {
		return false, err
	}
	return !v.IsError() || !strings.Contains(strings.ToLower(string(v.Str)), "unknown command"), nil
}
