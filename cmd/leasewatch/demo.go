package main

import (
	"context"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"

	"github.com/leasewatch/leasewatch/cmd/leasewatch/demo"
)

func registerDemo(app *kingpin.Application, actions map[string]action) {
	var o demo.Options
	log := promslog.Config{Level: promslog.NewLevel(), Format: promslog.NewFormat()}
	cmd := app.Command("demo", "The main job on simulated hosts: two providers, five leases, faults on a script.")
	cmd.Flag("for", "End by itself after this time.").Default("0s").DurationVar(&o.For)
	cmd.Flag("data-dir", "Keep what it writes here.").StringVar(&o.DataDir)
	cmd.Flag("web.listen-address", "Address of the portal.").Default("127.0.0.1:8080").StringVar(&o.ListenAddress)
	cmd.Flag("slack.bot-token-file", "Send to a real workspace: file with the bot's token (xoxb-...).").StringVar(&o.Slack.BotTokenFile)
	cmd.Flag("slack.app-token-file", "File with the app-level token (xapp-...), for the Ack button.").StringVar(&o.Slack.AppTokenFile)
	cmd.Flag("slack.channel", "Id of the channel in the real workspace.").StringVar(&o.Slack.Channel)
	cmd.Flag("log.level", "Least severity of the log lines that are shown: debug, info, warn or error.").Default("error").SetValue(log.Level)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		log.Writer = io.err
		o.Out, o.Log, o.Version = io.out, promslog.New(&log), version
		return startError(demo.Run(ctx, o))
	}
}
