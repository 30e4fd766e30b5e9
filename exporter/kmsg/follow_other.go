//go:build !linux

package kmsg

import (
	"context"
	"errors"
	"time"
)

func (r *Reader) follow(context.Context) error {
	return errors.New("this system has no /dev/kmsg")
}

func remedy(error) string { return "turn this off with --no-collector.kmsg" }

func uptime() time.Duration { return 0 }

func read(int, []byte) (int, error) { return 0, errors.ErrUnsupported }
