package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/server"
)

// configurationSchema is the word for the schema of the server's configuration file.
const configurationSchema = "configuration"

func registerSchema(app *kingpin.Application, actions map[string]action) {
	var kind string
	cmd := app.Command("schema", "Print the JSON Schema of the YAML files, for editors to complete and check them.")
	cmd.Arg("kind", "A kind of resource, or configuration; of all resources where it is not given.").StringVar(&kind)
	actions[cmd.FullCommand()] = func(_ context.Context, io streams) error {
		if strings.EqualFold(kind, configurationSchema) {
			return printJSON(io.out, server.ConfigSchema())
		}
		of := ""
		if kind != "" {
			var known bool
			if of, known = manifest.KindNamed(kind); !known {
				return usageError{fmt.Errorf("schema %q: expected %s or %s", kind, strings.ToLower(strings.Join(manifest.Kinds(), ", ")), configurationSchema)}
			}
		}
		schema, err := manifest.Schema(of)
		if err != nil {
			return err
		}
		return printJSON(io.out, schema)
	}
}
