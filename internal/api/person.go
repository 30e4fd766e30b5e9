package api

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// NewPerson is what is told of a person: of one who is added, and of one whose name or address changes.
type NewPerson struct {
	Name string `json:"name" maxLength:"200" minLength:"1"`
	Mail string `json:"mail,omitempty" maxLength:"200"`
}

// ErasePerson says why a person is erased. The reason is kept for good: it names nobody.
type ErasePerson struct {
	Why string `doc:"The reason. It is kept for good: name nobody in it." json:"why" maxLength:"1000" minLength:"1"`
}

// ErasedPerson is a person who was erased, or one whose erasure waits for a second person.
type ErasedPerson struct {
	rental.Person
	// Pending is set where it waits; the person then stands as before.
	Pending *rental.Pending `json:"pending,omitempty"`
}

// PersonDetail is a person with what was done with the entry.
type PersonDetail struct {
	rental.Person
	// Tokens are the names of the person's valid tokens.
	Tokens []string `json:"tokens"`
	// History is when the person was added, changed and erased, by whom and why; the oldest first.
	History []PersonEntry `json:"history"`
}

// PersonEntry is one thing that was done with a person's entry.
type PersonEntry struct {
	At         rental.Millis `json:"at"`
	By         string        `json:"by"`
	ApprovedBy string        `json:"approved_by,omitempty"`
	// Did is added, changed or erased.
	Did string `json:"did"`
	Why string `json:"why,omitempty"`
}

// People returns everybody who was entered, the erased too.
func (c *Client) People(ctx context.Context) ([]rental.Person, error) {
	return list[rental.Person](ctx, c, "people")
}

// Person returns one person.
func (c *Client) Person(ctx context.Context, id string) (PersonDetail, error) {
	var out PersonDetail
	return out, c.get(ctx, nil, &out, "people", id)
}

// AddPerson enters somebody, who gets the next id.
func (c *Client) AddPerson(ctx context.Context, in NewPerson) (rental.Person, error) {
	var out rental.Person
	return out, c.post(ctx, in, &out, "people")
}

// ChangePerson gives a person another name and address.
func (c *Client) ChangePerson(ctx context.Context, id string, in NewPerson) (rental.Person, error) {
	var out rental.Person
	return out, c.post(ctx, in, &out, "people", id, "change")
}

// ErasePerson erases all of a person but the id, and ends the person's tokens.
func (c *Client) ErasePerson(ctx context.Context, id string, in ErasePerson) (ErasedPerson, error) {
	var out ErasedPerson
	return out, c.post(ctx, in, &out, "people", id, "erase")
}
