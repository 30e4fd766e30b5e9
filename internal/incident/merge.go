package incident

import (
	"maps"
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// merged is what an incident knows of its alerts once a group has been heard.
type merged struct {
	alerts []rental.Alert // the newest word on each
	// fired holds the alerts that did not fire before and do now.
	fired    []rental.Alert
	severity rental.Severity // the worst of all that fire
	ended    bool            // an alert that fired does no more
	changed  bool            // anything is new, a text included
}

// merge takes a group's words into an incident's alerts. Words that are older than what is
// known are dropped, so that repeated and late groups change nothing. An alert that a group
// does not list is left as it is: a sender may have cut the list.
func merge(inc *rental.Incident, group rental.AlertGroup) merged {
	m := merged{alerts: slices.Clone(inc.Alerts), severity: rental.Notice}
	index := make(map[string]int, len(m.alerts))
	for i, alert := range m.alerts {
		index[alert.Fingerprint] = i
	}
	heard := lastHeard(inc)
	for _, alert := range group.Alerts {
		alert = normalised(alert, group)
		i, known := index[alert.Fingerprint]
		if !known {
			index[alert.Fingerprint] = len(m.alerts)
			m.alerts = append(m.alerts, alert)
			m.changed = true
			if alert.EndsAt == rental.Forever {
				m.fired = append(m.fired, alert)
			}
			continue
		}
		old := m.alerts[i]
		if stale(old, alert, group.At, heard) {
			continue
		}
		m.alerts[i] = alert
		switch {
		case old.EndsAt == rental.Forever && alert.EndsAt != rental.Forever:
			m.ended, m.changed = true, true
		case old.EndsAt != rental.Forever && alert.EndsAt == rental.Forever:
			m.fired, m.changed = append(m.fired, alert), true
		case !maps.Equal(old.Annotations, alert.Annotations) || !maps.Equal(old.Labels, alert.Labels):
			m.changed = m.changed || alert.EndsAt == rental.Forever
		}
	}
	for _, alert := range m.alerts {
		if severity := rental.Severity(alert.Labels["severity"]); alert.EndsAt == rental.Forever && worse(severity, m.severity) {
			m.severity = severity
		}
	}
	return m
}

// normalised gives an alert that fires no end: senders write when they would give it up.
func normalised(alert rental.Alert, group rental.AlertGroup) rental.Alert {
	if alert.EndsAt <= 0 || alert.Firing(group.At) { // a stock Alertmanager writes year 1 for "no end"
		alert.EndsAt = rental.Forever
	}
	if alert.Labels == nil {
		alert.Labels = map[string]string{}
	}
	if alert.Labels["severity"] == "" && group.Labels["severity"] != "" {
		alert.Labels = maps.Clone(alert.Labels)
		alert.Labels["severity"] = group.Labels["severity"]
	}
	return alert
}

// stale tells whether the word says less than what is known: an end before the known start,
// or a firing of a run whose end had been heard by the time the word was handed over.
func stale(old, alert rental.Alert, at, heard rental.Millis) bool {
	if alert.EndsAt != rental.Forever {
		if old.EndsAt == rental.Forever {
			return alert.EndsAt < old.StartsAt
		}
		return alert.EndsAt <= old.EndsAt
	}
	return old.EndsAt != rental.Forever && alert.StartsAt <= old.EndsAt && at <= heard
}

// lastHeard is when the incident last took in a word of its group.
func lastHeard(inc *rental.Incident) rental.Millis {
	for _, event := range slices.Backward(inc.Events) {
		switch event.Kind {
		case eventOpened, eventWorsened, eventChanged, eventResolved, eventReopened:
			return event.At
		}
	}
	return 0
}

// lastChange is when an incident that is over came to its end.
func lastChange(inc *rental.Incident) rental.Millis {
	for _, event := range slices.Backward(inc.Events) {
		if event.Kind == eventResolved || event.Kind == eventUnknown {
			return event.At
		}
	}
	return inc.ResolvedAt
}

func firing(alerts []rental.Alert) int {
	count := 0
	for _, alert := range alerts {
		if alert.EndsAt == rental.Forever {
			count++
		}
	}
	return count
}

func worse(a, b rental.Severity) bool { return phrase.SeverityRank(a) < phrase.SeverityRank(b) }

func worst(a, b rental.Severity) rental.Severity {
	if worse(b, a) {
		return b
	}
	return a
}

// oldestStart returns when the first of the alerts began, at the latest now.
func oldestStart(alerts []rental.Alert, now rental.Millis) rental.Millis {
	oldest := now
	for _, alert := range alerts {
		if alert.StartsAt > 0 {
			oldest = min(oldest, alert.StartsAt)
		}
	}
	return oldest
}

// evidence returns the first bad sample: the annotation "since" (seconds since 1970, as
// gpu_state_since_timestamp_seconds has it) where a rule gives one within the last day, else
// the first alert's start.
func evidence(alerts []rental.Alert, detected rental.Millis) rental.Millis {
	const day = rental.Millis(24 * 60 * 60 * 1000)
	first := detected
	for _, alert := range alerts {
		seconds, err := strconv.ParseFloat(alert.Annotations["since"], 64)
		if err != nil || !(seconds > 0 && seconds < 1e12) {
			continue
		}
		if at := rental.Millis(seconds * 1000); at < first && at > detected-day {
			first = at
		}
	}
	return first
}

// latestEnd returns the last end of alerts that have ended; 0 where none has.
func latestEnd(alerts []rental.Alert) rental.Millis {
	var latest rental.Millis
	for _, alert := range alerts {
		if alert.EndsAt != rental.Forever {
			latest = max(latest, alert.EndsAt)
		}
	}
	return latest
}

func firstLabel(name string, group map[string]string, alerts []rental.Alert) string {
	if value := group[name]; value != "" {
		return value
	}
	for _, alert := range alerts {
		if value := alert.Labels[name]; value != "" {
			return value
		}
	}
	return ""
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// news tells whether alerts that began to fire are worth a mention: one about another card,
// or about no card, or one that had ended and fires again. One more symptom of a card that is
// already told (its XID, then that it is lost) only changes the message.
func news(known, fired []rental.Alert) bool {
	for _, alert := range fired {
		uuid := alert.Labels["uuid"]
		told := false
		for _, old := range known {
			if old.Fingerprint == alert.Fingerprint {
				return true
			}
			told = told || (uuid != "" && old.Labels["uuid"] == uuid && old.EndsAt == rental.Forever)
		}
		if !told {
			return true
		}
	}
	return false
}
