package rental

// Sample is one value of a series at one moment.
type Sample struct {
	At    Millis
	Value float64
}

// Series is a set of labels (without the metric's name) and its samples in order of time.
type Series struct {
	Labels  map[string]string
	Samples []Sample
}
