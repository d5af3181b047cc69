package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

// client asks a server what is not part of a measurement.
type client struct {
	conn   net.Conn
	reader resp.ReplyReader
	buf    []byte // what was read
	used   int    // how much of buf was taken
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
	v, err := c.receive()
	if err != nil {
		return resp.Value{}, fmt.Errorf("read the reply to %s: %w", args[0], err)
	}
	return v.Clone(), nil
}

// receive waits for one reply, whose bytes are good until the next call.
func (c *client) receive() (resp.Value, error) {
	for {
		v, n, err := c.reader.Next(c.buf[c.used:])
		if err == nil {
			c.used += n
			return v, nil
		}
		if !errors.Is(err, resp.ErrIncomplete) {
			return resp.Value{}, err
		}
		// Only the start of one reply is left: moving it is cheap.
		c.buf = c.buf[:copy(c.buf, c.buf[c.used:])]
		c.used = 0
		c.buf = slices.Grow(c.buf, receiveBytes)
		read, err := c.conn.Read(c.buf[len(c.buf):cap(c.buf)])
		if err != nil {
			return resp.Value{}, err
		}
		c.buf = c.buf[:len(c.buf)+read]
	}
}

// receiveBytes is the least room for one read.
const receiveBytes = 16 << 10

// exchange sends a pipeline and hands each of its n replies to use, which must not
// keep it. The pipeline must be small enough for the sockets' buffers.
func (c *client) exchange(pipeline []byte, n int, use func(i int, v resp.Value) error) error {
	c.conn.SetDeadline(time.Now().Add(askTimeout))
	if _, err := c.conn.Write(pipeline); err != nil {
		return fmt.Errorf("send a pipeline: %w", err)
	}
	for i := range n {
		v, err := c.receive()
		if err != nil {
			return fmt.Errorf("read reply %d of a pipeline: %w", i, err)
		}
		if err := use(i, v); err != nil {
			return err
		}
	}
	return nil
}

// setBig stores a value of many bytes without holding it.
func (c *client) setBig(key string, size int64) error {
	c.conn.SetDeadline(time.Now().Add(bigTimeout))
	head := fmt.Sprintf("*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n", len(key), key, size)
	if _, err := io.WriteString(c.conn, head); err != nil {
		return fmt.Errorf("send a big value: %w", err)
	}
	chunk := bytes.Repeat([]byte("v"), 1<<20)
	for left := size; left > 0; {
		n, err := c.conn.Write(chunk[:min(left, int64(len(chunk)))])
		if err != nil {
			return fmt.Errorf("send a big value: %w", err)
		}
		left -= int64(n)
	}
	if _, err := io.WriteString(c.conn, "\r\n"); err != nil {
		return fmt.Errorf("send a big value: %w", err)
	}
	v, err := c.receive()
	if err == nil {
		err = v.Err()
	}
	if err != nil {
		return fmt.Errorf("store a big value: %w", err)
	}
	return nil
}

// bigTimeout bounds the sending of a big value.
const bigTimeout = 3 * time.Minute

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
	c, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.info(section)
}

// usedMemory is a server's used_memory in bytes.
func (c *client) usedMemory() (float64, error) {
	fields, err := c.info("memory")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(fields["used_memory"], 64)
	if err != nil {
		return 0, fmt.Errorf("read used_memory: %w", err)
	}
	return n, nil
}

func (c *client) info(section string) (map[string]string, error) {
	v, err := c.do("INFO", section)
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
