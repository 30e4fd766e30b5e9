// Package incident keeps the life of one alert group: opened, told, acknowledged,
// worsened, resolved, reopened; and the outbox that tells it to people.
package incident

import "errors"

// ErrNotFound says that there is no such incident.
var ErrNotFound = errors.New("no such incident")
