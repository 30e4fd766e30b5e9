package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// people keeps who is behind the ids that facts hold.
type people struct{ *ledger.Ledger }

// Person returns one with what was done with the entry.
func (p people) Person(ctx context.Context, id string) (api.PersonDetail, error) {
	one, err := p.Ledger.Person(ctx, id)
	if err != nil {
		return api.PersonDetail{}, err
	}
	out := api.PersonDetail{Person: one}
	tokens, err := p.Tokens(ctx)
	if err != nil {
		return out, err
	}
	for _, t := range tokens {
		if t.Person == id && t.RevokedAt == 0 {
			out.Tokens = append(out.Tokens, t.Name)
		}
	}
	facts, err := p.History(ctx, ledger.PersonKind, id)
	if err != nil {
		return out, err
	}
	for _, f := range facts {
		var body struct{ Did string }
		if err := json.Unmarshal(f.Body, &body); err != nil {
			return out, fmt.Errorf("person %s: %w", id, err)
		}
		out.History = append(out.History, api.PersonEntry{At: f.At, By: f.By, ApprovedBy: f.ApprovedBy, Did: body.Did, Why: f.Why})
	}
	return out, nil
}

// AddPerson enters somebody under the next id.
func (p people) AddPerson(ctx context.Context, by rental.Principal, in api.NewPerson) (rental.Person, error) {
	return p.Ledger.AddPerson(ctx, by.Name, rental.Person{Name: in.Name, Mail: in.Mail})
}

// ChangePerson gives a person another name and address.
func (p people) ChangePerson(ctx context.Context, by rental.Principal, id string, in api.NewPerson) (rental.Person, error) {
	return p.Ledger.ChangePerson(ctx, by.Name, rental.Person{ID: id, Name: in.Name, Mail: in.Mail})
}

// ErasePerson erases all of a person but the id, or keeps that for a second person.
func (p people) ErasePerson(ctx context.Context, by rental.Principal, id, why string) (api.ErasedPerson, error) {
	one, held, err := p.Ledger.ErasePerson(ctx, by, why, id)
	return api.ErasedPerson{Person: one, Pending: held}, err
}
