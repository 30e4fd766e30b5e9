package rental

import (
	"fmt"
	"math/big"
	"slices"
)

// CostStep is what one step of time cost, exactly.
type CostStep struct {
	Span Span
	Cost Money
	// CardMS is the charged time of all cards in the step, in milliseconds.
	CardMS int64
}

// ChargeSteps returns the exact cost of each step; the steps are in order of time and do not
// overlap. Where they have no gaps they sum to ChargeExact of the span that they make.
func ChargeSteps(f Facts, steps []Span) ([]CostStep, error) {
	out := make([]CostStep, len(steps))
	for i, s := range steps {
		out[i] = CostStep{Span: s, Cost: NewMoney(f.Contract.Currency, new(big.Rat))}
		if i > 0 && s.Start < steps[i-1].End {
			return nil, fmt.Errorf("step from %s: expected one that begins after the step before it ends, %s", s.Start, steps[i-1].End)
		}
	}
	if len(steps) == 0 {
		return out, nil
	}
	pieces, err := chargePieces(ChargeInput{Facts: f, Period: Span{Start: steps[0].Start, End: steps[len(steps)-1].End}})
	if err != nil {
		return nil, err
	}
	sums := stepSums{steps: out, time: make([]*big.Rat, len(out))}
	for _, p := range pieces {
		sums.add(p)
	}
	sums.finish()
	return out, nil
}

// stepSums gathers pieces into steps. Within a piece all time costs the same, so steps gather
// integer milliseconds by rate and are multiplied once.
type stepSums struct {
	steps   []CostStep
	time    []*big.Rat // card-time that is no whole number of milliseconds
	rates   []*big.Rat // cost of a millisecond
	charged [][]int64  // milliseconds by rate and step
}

func (s *stepSums) add(p piece) {
	if p.due != 0 {
		if i := s.at(p.due); i < len(s.steps) && s.steps[i].Span.Contains(p.due) {
			s.steps[i].Cost.value.Add(s.steps[i].Cost.value, p.cost())
		}
		s.addTime(p)
		return
	}
	rate := new(big.Rat).Quo(p.cost(), big.NewRat(p.span.Duration(), 1))
	k := slices.IndexFunc(s.rates, func(r *big.Rat) bool { return r.Cmp(rate) == 0 })
	if k < 0 {
		k = len(s.rates)
		s.rates, s.charged = append(s.rates, rate), append(s.charged, make([]int64, len(s.steps)))
	}
	for i := s.at(p.span.Start); i < len(s.steps) && s.steps[i].Span.Start < p.span.End; i++ {
		s.charged[k][i] += p.span.Clip(s.steps[i].Span).Duration()
	}
	s.addTime(p)
}

// addTime adds the card-time of a piece to the steps that its span touches.
func (s *stepSums) addTime(p piece) {
	if p.uuid == "" || p.span.Empty() {
		return
	}
	for i := s.at(p.span.Start); i < len(s.steps) && s.steps[i].Span.Start < p.span.End; i++ {
		ms := p.span.Clip(s.steps[i].Span).Duration()
		if p.time == nil {
			s.steps[i].CardMS += ms
			continue
		}
		if s.time[i] == nil {
			s.time[i] = new(big.Rat)
		}
		s.time[i].Add(s.time[i], new(big.Rat).Mul(p.time, big.NewRat(ms, p.span.Duration())))
	}
}

// at returns the first step that ends after the moment.
func (s *stepSums) at(moment Millis) int {
	i, _ := slices.BinarySearchFunc(s.steps, moment, func(c CostStep, at Millis) int {
		if c.Span.End <= at {
			return -1
		}
		return 1
	})
	return i
}

func (s *stepSums) finish() {
	for k, rate := range s.rates {
		for i, ms := range s.charged[k] {
			if ms > 0 {
				s.steps[i].Cost.value.Add(s.steps[i].Cost.value, new(big.Rat).Mul(rate, big.NewRat(ms, 1)))
			}
		}
	}
	for i, time := range s.time {
		if time != nil {
			s.steps[i].CardMS += wholeMillis(time)
		}
	}
}
