package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// enrolWithin is how long an enrolment can be used where its maker does not say.
const enrolWithin = 24 * time.Hour

func (r *routes) addTokens() error {
	if err := operation(r, "list-tokens", "List tokens, without their secrets",
		func(ctx context.Context, v view, _ *struct{}) (*body[api.List[rental.Token]], error) {
			return items(v.deps.Tokens.Tokens(ctx))
		}); err != nil {
		return err
	}
	if err := operation(r, "create-token", "Make a token; its secret is in this answer only",
		func(ctx context.Context, v view, in *body[api.NewToken]) (*body[api.CreatedToken], error) {
			token, secret, err := v.createToken(ctx, in.Body)
			return answer(api.CreatedToken{Token: token, Secret: secret}, err)
		},
		func(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }); err != nil {
		return err
	}
	type tokenPath struct {
		Name string `maxLength:"200" path:"name"`
	}
	if err := operation(r, "revoke-token", "End a token at once, and what an enrolment of that name became",
		func(ctx context.Context, v view, in *tokenPath) (*struct{}, error) {
			return nil, v.deps.Tokens.RevokeToken(ctx, v.who, in.Name)
		},
		func(op *huma.Operation) { op.DefaultStatus = http.StatusNoContent }); err != nil {
		return err
	}
	return operation(r, "enroll", "Become the guest of a lease that may push, once",
		func(ctx context.Context, v view, in *body[api.Enroll]) (*body[api.Enrolled], error) {
			guest, err := v.deps.Tokens.Enroll(ctx, v.who, in.Body.Host, in.Body.Hash)
			return answer(api.Enrolled{Name: guest.Name, Lease: guest.Lease, Host: guest.Host, WritePath: api.WritePath}, err)
		},
		func(op *huma.Operation) { op.Errors = append(op.Errors, http.StatusConflict) })
}

// createToken makes what was asked for, where it fits together.
func (v view) createToken(ctx context.Context, in api.NewToken) (rental.Token, string, error) {
	holder := rental.Principal{Name: in.Name, Role: in.Role, Tenant: in.Tenant, Host: in.Host, Lease: in.Lease, Service: in.Service, Person: in.Person}
	switch {
	case in.Host != "" && in.Role != rental.RolePush:
		return rental.Token{}, "", invalid("body.host", "a token of role push may name its host, any other names none", in.Host)
	case (in.Lease != "") != (in.Role == rental.RoleEnroll):
		return rental.Token{}, "", invalid("body.lease", "a token of role enroll names its lease, any other names none", in.Lease)
	case in.ValidForSeconds != 0 && in.Role != rental.RoleEnroll:
		return rental.Token{}, "", invalid("body.valid_for_seconds", "a token of role enroll ends by itself, any other is revoked", in.ValidForSeconds)
	case (in.Name == "") == (in.Person == ""):
		return rental.Token{}, "", invalid("body.name", "either a name, or the person who holds the token is expected", in.Name)
	case in.Person != "" && !holder.ForPeople():
		return rental.Token{}, "", invalid("body.person", "a person holds no token of a program or a machine", in.Person)
	case !valid(holder):
		return rental.Token{}, "", invalid("body.tenant", "a token of role tenant names its tenant, any other names none", in.Tenant)
	case in.Role != rental.RoleEnroll:
		return v.deps.Tokens.CreateToken(ctx, v.who, holder)
	}
	ttl := enrolWithin
	if in.ValidForSeconds != 0 {
		ttl = time.Duration(in.ValidForSeconds) * time.Second
	}
	return v.deps.Tokens.CreateEnrolment(ctx, v.who, in.Name, in.Lease, ttl)
}
