package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func codeOf(err error) rental.Code { return rental.CodeOf(err) }

func TestAnEnrolmentBecomesOneGuestsPushTokenAndNoOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "2026-05-10T00:00:00Z", "GPU-A"),
			lease("L-2", "globex", "2026-05-01T00:00:00Z", "2026-06-10T00:00:00Z", "GPU-B")))
		ticket := must[string](t)(s.CreateEnrolment(ctx, "vm-3", "L-1", time.Hour))
		who := must[rental.Principal](t)(s.Authenticate(ctx, ticket))
		if who != (rental.Principal{Name: "vm-3", Role: rental.RoleEnroll, Lease: "L-1"}) {
			t.Fatalf("an enrolment is %+v", who)
		}
		const own = "lwt_made-by-the-guest"
		if _, err := s.Authenticate(ctx, own); codeOf(err) != rental.CodeNotFound {
			t.Errorf("before the enrolment the guest's own secret: %v", err)
		}
		guest := rental.Principal{Name: "vm-3", Role: rental.RolePush, Host: "vm-3", Lease: "L-1"}
		for _, again := range []string{"first", "again, after the answer was lost"} {
			if got := must[rental.Principal](t)(s.Enroll(ctx, "vm-3", "vm-3", digest(own))); got != guest {
				t.Errorf("%s: enrolled as %+v", again, got)
			}
		}
		if got := must[rental.Principal](t)(s.Authenticate(ctx, own)); got != guest {
			t.Errorf("the guest's own secret is %+v", got)
		}
		_, err := s.Enroll(ctx, "vm-3", "elsewhere", digest("lwt_of-a-thief"))
		if codeOf(err) != rental.CodeConflict || !strings.Contains(err.Error(), `was used at 2026-05-01T00:00:00Z by host "vm-3"`) {
			t.Errorf("a second use: %v, expected it refused and told", err)
		}
		if _, err := s.Enroll(ctx, "vm-3", "elsewhere", digest(own)); codeOf(err) != rental.CodeConflict {
			t.Errorf("the same secret for another host: %v", err)
		}
		if _, err := s.CreateEnrolment(ctx, "vm-3", "L-1", time.Hour); codeOf(err) != rental.CodeConflict {
			t.Errorf("a name that a guest has: %v", err)
		}
		if all := must[[]rental.Token](t)(s.Tokens(ctx)); len(all) != 2 || all[0].UsedAt+all[1].UsedAt == 0 {
			t.Errorf("tokens %+v, expected the enrolment as used and the guest", all)
		}
		if err := s.RevokeToken(ctx, "vm-3"); err != nil {
			t.Fatal(err)
		}
		for what, secret := range map[string]string{"the enrolment": ticket, "the guest": own} {
			if _, err := s.Authenticate(ctx, secret); !errors.Is(err, rental.ErrNotFound) {
				t.Errorf("%s after the revocation: %v", what, err)
			}
		}
		if _, err := s.Enroll(ctx, "vm-3", "vm-3", digest(own)); codeOf(err) != rental.CodeNotFound {
			t.Errorf("enrolling again after the revocation: %v", err)
		}
	})
}

func TestWhatCannotBeEnrolledIsRefusedWithTheReason(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "2026-05-10T00:00:00Z", "GPU-A"),
			lease("L-2", "globex", "2026-05-01T00:00:00Z", "2026-06-10T00:00:00Z", "GPU-B")))
		must[string](t)(s.CreateToken(ctx, rental.Principal{Name: "a1", Role: rental.RolePush, Host: "gpu-a1"}))
		must[string](t)(s.CreateEnrolment(ctx, "vm-2", "L-2", time.Hour))
		must[rental.Principal](t)(s.Enroll(ctx, "vm-2", "vm-2", digest("two")))
		for _, name := range []string{"fresh", "late", "over"} {
			must[string](t)(s.CreateEnrolment(ctx, name, "L-1", map[bool]time.Duration{true: time.Minute, false: 30 * 24 * time.Hour}[name == "late"]))
		}
		enroll := func(name, host, hash string) error { _, err := s.Enroll(ctx, name, host, hash); return err }
		create := func(lease string, ttl time.Duration) error {
			_, err := s.CreateEnrolment(ctx, "new", lease, ttl)
			return err
		}
		for _, c := range []struct {
			what string
			err  error
			code rental.Code
			says string
		}{
			{"a lease that is not known", create("L-9", time.Hour), rental.CodeNotFound, `"L-9"`},
			{"a time of nothing", create("L-1", 0), rental.CodeInvalid, "1 minute to 30 days"},
			{"a time of years", create("L-1", 999*24*time.Hour), rental.CodeInvalid, "1 minute to 30 days"},
			{"a name that is not known", enroll("nobody", "vm-3", digest("x")), rental.CodeNotFound, `"nobody"`},
			{"a token that is no enrolment", enroll("a1", "vm-3", digest("x")), rental.CodeNotFound, `"a1"`},
			{"no host", enroll("fresh", "", digest("x")), rental.CodeInvalid, "found no host"},
			{"a secret in the hash's place", enroll("fresh", "vm-3", "lwt_secret"), rental.CodeInvalid, "expected a SHA-256"},
			{"a hash in capitals", enroll("fresh", "vm-3", strings.ToUpper(digest("x"))), rental.CodeInvalid, "expected a SHA-256"},
			{"another token's secret", enroll("fresh", "vm-3", digest("two")), rental.CodeConflict, "another token's"},
			{"a host that has a token of its own", enroll("fresh", "gpu-a1", digest("x")), rental.CodeConflict, `writes for host "gpu-a1"`},
			{"another lease's guest", enroll("fresh", "vm-2", digest("x")), rental.CodeConflict, `writes for host "vm-2"`},
		} {
			if codeOf(c.err) != c.code || !strings.Contains(c.err.Error(), c.says) {
				t.Errorf("%s: %v, expected %s with %q", c.what, c.err, c.code, c.says)
			}
			if c.err != nil && strings.Contains(c.err.Error(), "lwt_secret") {
				t.Errorf("%s: the error holds the secret: %v", c.what, c.err)
			}
		}
		s.now = s.now.Add(time.Hour)
		if err := enroll("late", "vm-3", digest("x")); codeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), "2026-05-01T00:01:00Z") {
			t.Errorf("an enrolment that is too old: %v", err)
		}
		s.now = s.now.Add(20 * 24 * time.Hour)
		if err := enroll("over", "vm-3", digest("x")); codeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), `"L-1" ended`) {
			t.Errorf("an enrolment of a lease that ended: %v", err)
		}
		if err := create("L-1", time.Hour); codeOf(err) != rental.CodeRefused {
			t.Errorf("an enrolment for a lease that ended: %v", err)
		}
	})
}
