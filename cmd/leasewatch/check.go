package main

import (
	"context"
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/server"
)

func registerCheck(app *kingpin.Application, actions map[string]action) {
	check := app.Command("check", "Check files without starting anything.")
	var file string
	cmd := check.Command("config", "Check a configuration file, its rule files and its routing.")
	cmd.Arg("file", "Configuration file.").Required().StringVar(&file)
	actions[cmd.FullCommand()] = func(_ context.Context, io streams) error {
		if err := server.CheckConfig(file); err != nil {
			return inputError{err}
		}
		_, err := fmt.Fprintf(io.out, "%s: ok\n", file)
		return err
	}
}
