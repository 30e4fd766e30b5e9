package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// releaser is a source whose GPUs can be let go of. Errors are gpu.ErrNotFound and
// gpu.ErrRefused.
type releaser interface {
	// Release asks nothing more of a GPU and has the driver close it.
	Release(ctx context.Context, uuid string) error
	// Resume asks a released GPU again.
	Resume(ctx context.Context, uuid string) error
	// Retire forgets a GPU that the driver does not list.
	Retire(ctx context.Context, uuid string) error
}

const (
	// actFor bounds one act: waiting for a call under way, and for the driver to start anew.
	actFor = 20 * time.Second
	// answersFor is how long a GPU that was taken back may take until its first answer.
	answersFor = 10 * time.Second
)

// control is the door for the host's operators: a socket in the file system, which only the
// exporter's own user and root may open. Nothing of it can be reached over the network.
type control struct {
	source gpu.Source
	acts   releaser // nil where the source cannot let go
	memory *memory
	log    *slog.Logger
}

// outcome is the answer to an act.
type outcome struct {
	Index      int       `json:"index"`
	UUID       string    `json:"uuid"`
	Serial     string    `json:"serial,omitempty"`
	PCIAddress string    `json:"pci_address,omitempty"`
	State      gpu.State `json:"state"`
	// Kept tells whether the act outlives a restart of the exporter.
	Kept bool `json:"kept"`
	// Error says why the act was not done, or not wholly.
	Error string `json:"error,omitempty"`
}

// openControl opens the socket. One that an exporter left behind is replaced, one that answers is not.
func openControl(path string) (net.Listener, error) {
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		conn.Close()
		return nil, fmt.Errorf("--control.socket %s: another exporter answers there", path)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("--control.socket %s is there and no socket: name another path, or remove it", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("removing the old --control.socket: %w", err)
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("opening --control.socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("closing --control.socket to others: %w", err)
	}
	return listener, nil
}

// serveOperators answers on the socket until the returned function is called. Without a socket
// the exporter does all the rest of its work.
func serveOperators(path string, source *around, kept *memory, log *slog.Logger) (end func()) {
	if path == "" {
		return func() {}
	}
	c := &control{source: source, memory: kept, log: log}
	c.acts, _ = source.Source.(releaser)
	listener, err := openControl(path)
	if err != nil {
		log.Error("GPUs cannot be released or resumed", "err", err)
		return func() {}
	}
	server := &http.Server{Handler: c.handler(), ReadTimeout: 5 * time.Second, WriteTimeout: actFor + answersFor,
		ErrorLog: slog.NewLogLogger(c.log.Handler(), slog.LevelWarn)}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			c.log.Error("GPUs cannot be released or resumed any more", "err", err)
		}
	}()
	return func() { server.Close() }
}

func (c *control) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/{act}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), actFor)
		defer cancel()
		out, err := c.act(ctx, r.PathValue("act"), r.FormValue("gpu"))
		status := http.StatusOK
		switch {
		case errors.Is(err, gpu.ErrNotFound):
			status = http.StatusNotFound
		case err != nil:
			status = http.StatusConflict
		}
		if err != nil {
			out.Error = err.Error()
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(out); err != nil {
			c.log.Warn("an operator does not get his answer", "err", err)
		}
	})
	return mux
}

// act does what an operator asks for, and keeps it in the state file before it returns.
func (c *control) act(ctx context.Context, act, name string) (outcome, error) {
	found, err := c.source.Snapshot().Find(name)
	if err != nil {
		return outcome{}, err
	}
	id := found.Identity
	out := outcome{Index: id.Index, UUID: id.UUID, Serial: id.Serial, PCIAddress: id.PCIAddress, State: found.Status.State}
	switch {
	case c.acts == nil:
		return out, fmt.Errorf("%w: only the driver's GPUs can be let go of, not those of another --source", gpu.ErrRefused)
	case id.UUID == "":
		return out, fmt.Errorf("%w: the GPU has never said who it is", gpu.ErrRefused)
	}
	c.log.Info("an operator asks", "act", act, "gpu", id.Index, "uuid", id.UUID, "serial", id.Serial)
	switch act {
	case "release":
		err = c.acts.Release(ctx, id.UUID)
	case "resume":
		if err = c.acts.Resume(ctx, id.UUID); err == nil {
			c.answered(ctx, id.UUID)
		}
	case "retire":
		err = c.acts.Retire(ctx, id.UUID)
	default:
		return out, fmt.Errorf("%w: %q is nothing that can be done to a GPU", gpu.ErrRefused, act)
	}
	out.Kept = c.memory.save()
	if now, findErr := c.source.Snapshot().Find(id.UUID); findErr == nil {
		out.State = now.Status.State
	}
	return out, err
}

// answered waits until a GPU that was taken back has another state than released.
func (c *control) answered(ctx context.Context, uuid string) {
	ctx, cancel := context.WithTimeout(ctx, answersFor)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		if g, err := c.source.Snapshot().Find(uuid); err != nil || g.Status.State != gpu.Released {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}
