package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bowline-kv/bowline/internal/histogram"
	"github.com/bowline-kv/bowline/resp"
)

// meterMain is the whole life of a meter process: one connection, one thread, one
// GET at a time.
func meterMain(in io.Reader, out io.Writer) error {
	debug.SetGCPercent(-1) // as in loadMain
	orders, results := json.NewDecoder(in), json.NewEncoder(out)
	var spec meterSpec
	if err := orders.Decode(&spec); err != nil {
		return fmt.Errorf("read the meter's specification: %w", err)
	}
	m, err := newMeter(spec)
	if err != nil {
		return err
	}
	defer unix.Close(m.fd)
	if err := results.Encode(meterResult{}); err != nil {
		return fmt.Errorf("report that the meter is ready: %w", err)
	}
	for {
		var o meterOrder
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read an order: %w", err)
		}
		done := make(chan meterResult, 1)
		m.stop.Store(false)
		go func() { done <- m.measure() }()
		err := orders.Decode(&o)
		m.stop.Store(true)
		r := <-done
		if err != nil {
			return fmt.Errorf("read an order: %w", err)
		}
		if err := results.Encode(r); err != nil {
			return fmt.Errorf("report a measurement: %w", err)
		}
	}
}

type meter struct {
	fd      int
	request []byte
	in      []byte
	replies counter
	period  time.Duration
	stop    atomic.Bool

	latency histogram.Histogram
	max     time.Duration
	maxAt   time.Duration
}

// meterTimeout is the longest wait for one reply.
const meterTimeout = 60 // seconds

func newMeter(spec meterSpec) (*meter, error) {
	fd, err := connect(spec.Address)
	if err != nil {
		return nil, err
	}
	if err = unix.SetNonblock(fd, false); err == nil {
		err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: meterTimeout})
	}
	m := &meter{
		fd: fd, request: resp.AppendCommandStrings(nil, "GET", spec.Key),
		in: make([]byte, 4096), period: time.Duration(spec.PeriodNanos),
	}
	if err == nil {
		err = m.get() // the first one pays for the connection
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("start a meter: %w", err)
	}
	return m, nil
}

// measure sends GETs until it is told to stop.
func (m *meter) measure() meterResult {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m.latency, m.max, m.maxAt, m.replies = histogram.Histogram{}, 0, 0, counter{}
	began := time.Now()
	for !m.stop.Load() {
		sent := time.Now()
		if err := m.get(); err != nil {
			return meterResult{Failure: err.Error()}
		}
		took := time.Since(sent)
		m.latency.Add(took)
		if took > m.max {
			m.max, m.maxAt = took, sent.Sub(began)
		}
		if rest := m.period - took; rest > 0 {
			t := unix.NsecToTimespec(int64(rest))
			unix.Nanosleep(&t, nil)
		}
	}
	if m.replies.errors > 0 {
		return meterResult{Failure: "a GET was answered with: " + m.replies.firstErr}
	}
	return meterResult{Latency: m.latency, MaxNanos: int64(m.max), MaxAtNanos: int64(m.maxAt)}
}

// get sends one GET and waits for its reply, whatever it is.
func (m *meter) get() error {
	for {
		// The request is short: a socket whose replies were all read takes it whole.
		_, err := unix.Write(m.fd, m.request)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("send a GET: %w", err)
		}
	}
	for {
		n, err := unix.Read(m.fd, m.in)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for a GET: %w", err)
		case n == 0:
			return fmt.Errorf("wait for a GET: %w", io.ErrUnexpectedEOF)
		}
		if whole, err := m.replies.count(m.in[:n]); err != nil || whole > 0 {
			return err
		}
	}
}
