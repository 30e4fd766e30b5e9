package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// People keeps who is behind the ids that facts hold.
type People interface {
	// Names returns what ids are shown as: of all, or of a tenant's own people where tenant is not "".
	Names(ctx context.Context, tenant string) (rental.Names, error)
	People(ctx context.Context) ([]rental.Person, error)
	// Person returns rental.CodeNotFound where there is none.
	Person(ctx context.Context, id string) (api.PersonDetail, error)
	AddPerson(ctx context.Context, by rental.Principal, in api.NewPerson) (rental.Person, error)
	ChangePerson(ctx context.Context, by rental.Principal, id string, in api.NewPerson) (rental.Person, error)
	// ErasePerson may come back with a Pending: then nothing was erased yet.
	ErasePerson(ctx context.Context, by rental.Principal, id, why string) (api.ErasedPerson, error)
}

// PersonPath is the path of one person.
type PersonPath struct {
	ID string `doc:"The person's id, such as PER-1." maxLength:"200" path:"id"`
}

func (r *routes) addPeople() error {
	if err := operation(r, "list-people", "List the people behind the ids that facts hold",
		func(ctx context.Context, v view, _ *struct{}) (*body[api.List[rental.Person]], error) {
			return items(v.deps.People.People(ctx))
		}); err != nil {
		return err
	}
	if err := operation(r, "get-person", "Show one person, and what was done with the entry",
		func(ctx context.Context, v view, in *PersonPath) (*body[api.PersonDetail], error) {
			d, err := v.deps.People.Person(ctx, in.ID)
			d.Tokens, d.History = orEmpty(d.Tokens), orEmpty(d.History)
			return answer(d, err)
		}); err != nil {
		return err
	}
	if err := operation(r, "add-person", "Add a person, who gets the next id",
		func(ctx context.Context, v view, in *body[api.NewPerson]) (*body[rental.Person], error) {
			return answer(v.deps.People.AddPerson(ctx, v.who, in.Body))
		},
		func(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }); err != nil {
		return err
	}
	type change struct {
		PersonPath

		Body api.NewPerson
	}
	if err := operation(r, "change-person", "Give a person another name and address",
		func(ctx context.Context, v view, in *change) (*body[rental.Person], error) {
			return answer(v.deps.People.ChangePerson(ctx, v.who, in.ID, in.Body))
		}); err != nil {
		return err
	}
	type erase struct {
		PersonPath

		Body api.ErasePerson
	}
	return operation(r, "erase-person", "Erase all of a person but the id, for good, and end the person's tokens",
		func(ctx context.Context, v view, in *erase) (*body[api.ErasedPerson], error) {
			return answer(v.deps.People.ErasePerson(ctx, v.who, in.ID, in.Body.Why))
		})
}
