// Package e2e holds the end-to-end tests: the real programs, the real go-nvml on the fake
// driver library, the recording Slack and the plugin's backend, joined as a site would join them.
package e2e
