package monitor

import "github.com/prometheus/prometheus/model/labels"

func labelsOf(m map[string]string) labels.Labels { return labels.FromMap(m) }
