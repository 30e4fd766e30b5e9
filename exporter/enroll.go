package exporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/exporter/enrol"
)

// enrolWaits bounds the wait for the server's answer.
const enrolWaits = 30 * time.Second

// guestFolder is where the unit's exporter finds what an enrolment left.
const guestFolder = "/var/lib/leasewatch-exporter/guest"

// enrolFlags are those of the command enroll.
type enrolFlags struct{ server, tokenFile, folder string }

func (e *enrolFlags) register(app *kingpin.Application) {
	command := app.Command("enroll", "Inside a lease: become one that may push, with a one-time token; then end.")
	command.Flag("server", "Address of the Leasewatch server: https://HOST, or http:// on loopback.").Required().StringVar(&e.server)
	command.Flag("token-file", "File with the token that leasewatch token create --role=enroll printed.").Required().ExistingFileVar(&e.tokenFile)
	command.Flag("folder", "Folder for the push token, the exporter's arguments and the spool.").Default(guestFolder).StringVar(&e.folder)
}

// complete checks what the request is made of.
func (e enrolFlags) complete() error { return enrol.CheckAddress(e.server) }

// enroll is the command enroll. It prints how to go on and returns the exit code.
func enroll(ctx context.Context, f *flags, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, enrolWaits)
	defer cancel()
	result, err := enrol.Do(ctx, enrol.Request{Server: f.enrol.server, TokenFile: f.enrol.tokenFile, Host: f.labels.Host, Folder: f.enrol.folder})
	if err != nil {
		fmt.Fprintf(stderr, "leasewatch-exporter enroll: %v\n", err)
		var refused *enrol.RefusedError
		switch {
		case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
			return exitNotFound
		case errors.As(err, &refused):
			return exitRefused
		case errors.Is(err, enrol.ErrToken):
			return exitConfig
		}
		return exitFailure
	}
	fmt.Fprintf(stdout, "enrolled as %s, a guest of lease %s, host %s\nThe token file %s is used up: remove it.\nStart the exporter with: %s @%s\n",
		result.Name, result.Lease, f.labels.Host, f.enrol.tokenFile, filepath.Base(os.Args[0]), result.Args)
	return exitOK
}
