// Package harness drives the built plugin in a real browser without a Grafana server: its
// tests start the plugin's real executable by Grafana's own handshake and open the page of
// this folder, which stands in for Grafana's front end, in Chromium. It shows that our
// components and the way of the data work, not Grafana's panels, routing or permissions.
package harness
