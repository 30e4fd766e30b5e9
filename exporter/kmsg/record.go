package kmsg

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// record is one line of the kernel's log as /dev/kmsg gives it:
// "level and facility,sequence,microseconds since boot,flags[,more];message".
type record struct {
	facility uint64 // 0 for the kernel itself
	sequence uint64
	since    time.Duration // since boot, by the clock that dates the log
	message  []byte
}

// maxSince keeps times in the range of a Duration, and out of it what no machine lives to see.
const maxSince = 1 << 53 // microseconds: 285 years

// parseRecord reads one line without its end. The message is a part of the line.
func parseRecord(line []byte) (record, error) {
	head, message, ok := bytes.Cut(line, []byte(";"))
	if !ok {
		return record{}, fmt.Errorf("no semicolon before the message")
	}
	var numbers [3]uint64
	for i, name := range []string{"priority", "sequence", "time"} {
		var text []byte
		text, head, ok = bytes.Cut(head, []byte(","))
		if !ok {
			return record{}, fmt.Errorf("nothing after the %s", name)
		}
		n, err := strconv.ParseUint(string(text), 10, 64)
		if err != nil {
			return record{}, fmt.Errorf("the %s is %q, want a number", name, text)
		}
		numbers[i] = n
	}
	if numbers[2] > maxSince {
		return record{}, fmt.Errorf("the time is %d us since boot", numbers[2])
	}
	return record{
		facility: numbers[0] >> 3, sequence: numbers[1],
		since: time.Duration(numbers[2]) * time.Microsecond, message: message,
	}, nil
}
