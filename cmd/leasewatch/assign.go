package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// byHand is the scheduler of assignments that a person makes.
const byHand = "hand"

// assignment is what lease assign and lease unassign read.
type assignment struct {
	connection
	lease, session, at string
	scheduler, cluster string
	gpus               []string
}

// registerAssign adds the commands that say by hand what a scheduler says through the API.
func registerAssign(app *kingpin.Application, actions map[string]action) {
	lease := app.GetCommand("lease")
	assign, unassign := assignment{scheduler: byHand, cluster: byHand}, assignment{}
	cmd := lease.Command("assign", "Give GPUs to a floating lease. Refused where another lease has them, or where it was sold fewer.")
	assign.register(cmd, "Name of this assignment, to end it by; from the time where it is not given.")
	cmd.Flag("gpu", "GPU by uuid; may be given again.").Required().StringsVar(&assign.gpus)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return assign.tell(ctx, io, true)
	}
	cmd = lease.Command("unassign", "Take GPUs back from a floating lease: those named, or all of the session.")
	unassign.register(cmd, "Name of the assignment, as lease assign printed it.").Required()
	cmd.Flag("gpu", "GPU by uuid; may be given again. All of the session's where none is given.").StringsVar(&unassign.gpus)
	cmd.Flag("scheduler", "Whose session it is, where a scheduler made it: kubernetes, slurm...").Default(byHand).StringVar(&unassign.scheduler)
	cmd.Flag("cluster", "Cluster of that scheduler.").Default(byHand).StringVar(&unassign.cluster)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if len(unassign.gpus) == 0 {
			unassign.gpus = []string{""}
		}
		return unassign.tell(ctx, io, false)
	}
}

func (a *assignment) register(cmd *kingpin.CmdClause, session string) *kingpin.FlagClause {
	cmd.Arg("lease", "Lease.").Required().StringVar(&a.lease)
	cmd.Flag("at", "When, in RFC 3339; now where it is not given.").StringVar(&a.at)
	a.flags(cmd)
	flag := cmd.Flag("session", session)
	flag.StringVar(&a.session)
	return flag
}

// tell says the start or the end of each GPU's time.
func (a *assignment) tell(ctx context.Context, io streams, start bool) error {
	at := rental.At(time.Now())
	if a.at != "" {
		if err := at.UnmarshalText([]byte(a.at)); err != nil {
			return usageError{fmt.Errorf("--at: %w", err)}
		}
	}
	if a.session == "" {
		a.session = strings.NewReplacer(":", "", "+", "").Replace(at.String())
	}
	in := api.TellAssignments{Strict: true}
	for _, gpu := range a.gpus {
		s := api.SchedulerSession{Scheduler: a.scheduler, Cluster: a.cluster, Session: a.session, Lease: a.lease, UUID: gpu}
		if start {
			s.Start = at
		} else {
			s.End = at
		}
		in.Sessions = append(in.Sessions, s)
	}
	return a.do(ctx, func(ctx context.Context, c *api.Client) error {
		told, err := c.TellAssignments(ctx, in)
		if err != nil {
			return err
		}
		for _, held := range told.Held {
			return &rental.Error{Code: rental.CodeNotFound, Message: fmt.Sprintf("lease %s: session %s has no GPU %s that was assigned; the end is kept and counts when its start is told", a.lease, held.Session, held.UUID)}
		}
		word := "assigned to"
		if !start {
			word = "taken back from"
		}
		_, err = fmt.Fprintf(io.out, "session %s: %s %s at %s\n", a.session, word, a.lease, at)
		return err
	})
}
