package main

import (
	"errors"

	"github.com/leasewatch/leasewatch/internal/server"
)

// startError marks what a person wrote wrongly among the errors that keep a server from starting.
func startError(err error) error {
	var bad *server.ConfigError
	if errors.As(err, &bad) {
		return inputError{err}
	}
	return err
}
