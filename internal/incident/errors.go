// Package incident keeps the life of one alert group: opened, told, acknowledged,
// worsened, resolved, reopened; and the outbox that tells it to people.
package incident

import "github.com/leasewatch/leasewatch/internal/rental"

// ErrNotFound says that there is no such incident; a Store's own errors match it by errors.Is.
var ErrNotFound = rental.ErrNotFound
