// Command gpx_leasewatch is the backend of the Leasewatch data source in Grafana.
package main

import (
	"os"

	"github.com/grafana/grafana-plugin-sdk-go/backend/datasource"
	"github.com/grafana/grafana-plugin-sdk-go/backend/log"

	"github.com/leasewatch/leasewatch/plugin/pkg/plugin"
)

func main() {
	if err := datasource.Manage(plugin.ID, plugin.New, datasource.ManageOpts{}); err != nil {
		log.DefaultLogger.Error("the data source ended", "error", err)
		os.Exit(1)
	}
}
