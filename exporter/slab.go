package exporter

// slab gives out values from one piece of memory, sized by how many the last page took: a
// page has thousands of samples, which live and die together.
type slab[T any] struct {
	free  []T
	taken int
}

// renew begins a page. What was given out before stays as it is.
func (s *slab[T]) renew() { s.free, s.taken = make([]T, s.taken), 0 }

// take returns a new value.
func (s *slab[T]) take() *T {
	if len(s.free) == 0 {
		s.free = make([]T, 64)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	s.taken++
	return v
}
