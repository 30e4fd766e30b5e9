package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Exit codes; docs/cli.md lists them.
const (
	exitOK       = 0
	exitFailure  = 1 // something went wrong while running
	exitUsage    = 2 // flags or arguments do not fit
	exitInput    = 3 // a configuration or an input file is wrong
	exitRefused  = 4 // a conflict, a closed month, or not allowed
	exitNotFound = 5 // what was named does not exist
	exitDiffers  = 6 // lease diff: there is something to do
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// inputError marks an error of a file that a person wrote.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// usageError marks flags or arguments that do not fit.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// action is a command once its flags are parsed.
type action func(ctx context.Context, io streams) error

// run is the whole program as a function: it parses args, runs one command, says its error
// once and returns the exit code.
func run(ctx context.Context, args []string, io streams) int {
	app := kingpin.New("leasewatch", "Monitoring, alerting and SLA proof for rented GPUs.")
	app.Version(version)
	app.HelpFlag.Short('h')
	terminated := -1
	app.Terminate(func(code int) { terminated = code })
	app.UsageWriter(io.out)
	app.ErrorWriter(io.err)

	actions := map[string]action{}
	for _, register := range []func(*kingpin.Application, map[string]action){
		registerServe, registerDemo, registerCheck, registerLease, registerApply, registerSchema, registerInventory, registerPending,
		registerBill, registerInvoice, registerFocus, registerPrice, registerOwn, registerUsage, registerSLA, registerDowntime, registerCredit, registerMaintenance, registerIncident, registerBackups, registerRecovery, registerOnCall, registerPerson, registerHold, registerRetention, registerToken, registerBackfill, registerBackup, registerRestore,
		registerProof, registerProfile,
		registerAssign, registerGPU, registerRMA, registerUse,
	} {
		register(app, actions)
	}

	command, err := app.Parse(keepDashes(args))
	if terminated >= 0 {
		return terminated
	}
	if err != nil {
		fmt.Fprintf(io.err, "leasewatch: %v (see leasewatch --help)\n", err)
		return exitUsage
	}
	switch err := actions[command](ctx, io); {
	case errors.Is(err, errDiffers):
		return exitDiffers
	case err != nil:
		fmt.Fprintf(io.err, "leasewatch: %v\n", err)
		return exitCode(err)
	}
	return exitOK
}

// dash carries a lone "-", standard input, through the parser, which would make nothing of it.
// No file has such a name.
const dash = "\x00"

func keepDashes(args []string) []string {
	kept := slices.Clone(args)
	for i, arg := range kept {
		if arg == "-" {
			kept[i] = dash
		}
	}
	return kept
}

// named takes keepDashes back.
func named(file string) string {
	if file == dash {
		return "-"
	}
	return file
}

// exitCode tells what kind of error ended a command.
func exitCode(err error) int {
	var (
		input inputError
		usage usageError
		wire  *api.Error
	)
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &input):
		return exitInput
	case errors.As(err, &wire):
		return exitOfStatus(wire.Status)
	}
	switch rental.CodeOf(err) {
	case rental.CodeNotFound:
		return exitNotFound
	case rental.CodeInvalid:
		return exitInput
	case rental.CodeConflict, rental.CodeRefused:
		return exitRefused
	}
	return exitFailure
}

func exitOfStatus(status int) int {
	switch status {
	case http.StatusNotFound:
		return exitNotFound
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return exitInput
	case http.StatusConflict, http.StatusForbidden, http.StatusUnauthorized, http.StatusLocked:
		return exitRefused
	}
	return exitFailure
}
