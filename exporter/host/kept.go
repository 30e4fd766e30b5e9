//go:build linux

package host

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
)

// kept is a small file that is read again and again. It stays open and is read from its
// beginning into the same memory: to open a file of procfs costs more than to read it.
type kept struct {
	path string
	file *os.File
	buf  []byte
}

func keep(path string) *kept { return &kept{path: path} }

// read returns what the file holds now. That is good until the next call.
func (k *kept) read() ([]byte, error) {
	if k.file != nil {
		if raw, err := k.fromStart(); err == nil {
			return raw, nil
		}
		k.close() // what it told of went, and perhaps something else has come in its place
	}
	file, err := os.Open(k.path)
	if err != nil {
		return nil, err
	}
	k.file = file
	return k.fromStart()
}

func (k *kept) fromStart() ([]byte, error) {
	if k.buf == nil {
		k.buf = make([]byte, 2<<10)
	}
	for {
		n, err := k.file.ReadAt(k.buf, 0)
		if err == io.EOF {
			return k.buf[:n], nil
		}
		if err != nil {
			return nil, err
		}
		k.buf = make([]byte, 2*len(k.buf))
	}
}

func (k *kept) close() {
	if k.file != nil {
		k.file.Close()
		k.file = nil
	}
}

// columns reads the numbers at the beginning of a line into as many places and returns how many
// there were.
func columns(line []byte, into []uint64) (int, error) {
	for i := range into {
		line = bytes.TrimLeft(line, " \t\n")
		if len(line) == 0 {
			return i, nil
		}
		end := bytes.IndexAny(line, " \t\n")
		if end < 0 {
			end = len(line)
		}
		n, err := strconv.ParseUint(string(line[:end]), 10, 64)
		if err != nil {
			return i, fmt.Errorf("column %d: want a number, found %q", i+1, line[:end])
		}
		into[i], line = n, line[end:]
	}
	return len(into), nil
}
