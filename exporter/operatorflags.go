package exporter

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"
)

// defaultSocket is where the exporter of the unit listens for operators.
const defaultSocket = "/run/leasewatch-exporter/control.sock"

// operatorCommands are the commands that ask a running exporter.
var operatorCommands = []struct{ name, help string }{
	{"release", "Let go of a GPU: the running exporter asks it nothing more, until resume."},
	{"resume", "Take a released GPU back."},
	{"retire", "Forget a GPU that is not there any more."},
}

// operatorFlags are those of the memory of GPUs and of what operators may do to them.
type operatorFlags struct {
	stateFile      string
	stateFileSaid  bool
	socket, gpu    string
	socketSaid     bool
	asksAnExporter bool
	releaseVFIO    bool
}

func (o *operatorFlags) register(app *kingpin.Application) {
	app.Flag("state.file", "File that keeps over a restart what is known of the GPUs; under systemd in the unit's state folder where not given, else off.").
		IsSetByUser(&o.stateFileSaid).StringVar(&o.stateFile)
	app.Flag("control.socket", "Socket for release, resume and retire; under systemd in the unit's runtime folder where not given, else off.").
		IsSetByUser(&o.socketSaid).StringVar(&o.socket)
	app.Flag("release.vfio", "Take a GPU that is bound to vfio-pci for released, not for lost.").Default("true").BoolVar(&o.releaseVFIO)
	for _, command := range operatorCommands {
		app.Command(command.name, command.help).Arg("gpu", "The GPU's uuid, index or PCI address.").Required().StringVar(&o.gpu)
	}
}

// complete fills in what systemd tells.
func (o *operatorFlags) complete(command, source string) error {
	o.asksAnExporter = false
	for _, c := range operatorCommands {
		o.asksAnExporter = o.asksAnExporter || c.name == command
	}
	if o.asksAnExporter {
		if o.socket == "" {
			o.socket = defaultSocket
		}
		return nil
	}
	if source == "replay" { // a simulated GPU must not be missed among real ones later
		if o.stateFile != "" {
			return fmt.Errorf("--state.file is for the driver's GPUs: leave it out with --source=replay")
		}
		return nil
	}
	if folder := os.Getenv("STATE_DIRECTORY"); folder != "" && !o.stateFileSaid {
		o.stateFile = filepath.Join(folder, "state.json")
	}
	if folder := os.Getenv("RUNTIME_DIRECTORY"); folder != "" && !o.socketSaid {
		o.socket = filepath.Join(folder, "control.sock")
	}
	return nil
}
