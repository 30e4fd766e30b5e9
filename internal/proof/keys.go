package proof

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leasewatch/leasewatch/internal/rental"
)

const (
	keyDomain       = "leasewatch-key/1\n"
	signatureDomain = "leasewatch-report/1\n"
	// Algorithm is the one that signatures are made with (RFC 8032).
	Algorithm = "Ed25519"
)

// Key is a public key that reports were signed with.
type Key = rental.SigningKey

// Signature is who signed a report.
type Signature struct {
	Algorithm string `json:"algorithm"`
	// Key is the id of the key that signed, Keys all keys of the signer, the oldest first.
	Key   string `json:"key"`
	Keys  []Key  `json:"keys"`
	Value []byte `json:"value"`
}

// Ring is the signer's keys: one that signs and those before it. It is safe for concurrent use,
// but for Rotate.
type Ring struct {
	path    string
	keys    []Key
	private ed25519.PrivateKey
}

// ringFile is how a Ring lies on disk.
type ringFile struct {
	Keys []Key  `json:"keys"`
	Seed []byte `json:"seed"`
}

// OpenRing reads the keys from a file, or makes the first key and the file, which only its owner
// may read. A file that others may read is refused: whoever read it can sign in our name.
func OpenRing(path string, now rental.Millis) (*Ring, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		r := &Ring{path: path}
		return r, r.Rotate(now)
	}
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, &rental.Error{Code: rental.CodeRefused, Message: fmt.Sprintf(
			"signing key %s: found mode %04o, expected 0600: others may have read it; make a new one (leasewatch proof rotate) after chmod 600", path, info.Mode().Perm())}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	var file ringFile
	if err := json.Unmarshal(text, &file); err != nil || len(file.Seed) != ed25519.SeedSize || len(file.Keys) == 0 {
		return nil, fmt.Errorf("signing key %s: it is damaged: take it from a backup, or move it away to begin with a new key", path)
	}
	r := &Ring{path: path, keys: file.Keys, private: ed25519.NewKeyFromSeed(file.Seed)}
	if last := r.keys[len(r.keys)-1]; !r.public().Equal(ed25519.PublicKey(last.Public)) || !sound(last) {
		return nil, fmt.Errorf("signing key %s: its parts do not belong together: take it from a backup", path)
	}
	return r, nil
}

func (r *Ring) public() ed25519.PublicKey {
	public, _ := r.private.Public().(ed25519.PublicKey)
	return public
}

// Rotate makes a new key that signs from now on, endorsed by the one before, whose private half
// is forgotten.
func (r *Ring) Rotate(now rental.Millis) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("signing key: %w", err)
	}
	next := Key{ID: keyID(public), Public: public, MadeAt: now}
	keys := append([]Key(nil), r.keys...)
	if n := len(keys); n > 0 {
		keys[n-1].RetiredAt = now
		next.EndorsedBy = keys[n-1].ID
		message, err := keyMessage(next)
		if err != nil {
			return err
		}
		next.Endorsement = ed25519.Sign(r.private, message)
	}
	keys = append(keys, next)
	text, err := json.MarshalIndent(ringFile{Keys: keys, Seed: private.Seed()}, "", "  ")
	if err != nil {
		return fmt.Errorf("signing key: %w", err)
	}
	if err := replaceFile(r.path, append(text, '\n')); err != nil {
		return fmt.Errorf("signing key: %w", err)
	}
	r.keys, r.private = keys, private
	return nil
}

// replaceFile writes a file whole or not at all, for its owner alone.
func replaceFile(path string, text []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".signing-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Keys returns the public keys, the oldest first; the last one signs.
func (r *Ring) Keys() []Key { return append([]Key(nil), r.keys...) }

// Sign signs a report's content, which is JSON that Canonical takes.
func (r *Ring) Sign(content []byte) (Signature, error) {
	text, err := Canonical(content)
	if err != nil {
		return Signature{}, fmt.Errorf("signature: %w", err)
	}
	return Signature{
		Algorithm: Algorithm, Key: r.keys[len(r.keys)-1].ID, Keys: r.Keys(),
		Value: ed25519.Sign(r.private, append([]byte(signatureDomain), text...)),
	}, nil
}

func keyID(public []byte) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:16])
}

// keyMessage is what the key before signs of a key.
func keyMessage(k Key) ([]byte, error) {
	text, err := CanonicalOf(struct {
		ID     string        `json:"id"`
		Public []byte        `json:"public"`
		MadeAt rental.Millis `json:"made_at"`
	}{k.ID, k.Public, k.MadeAt})
	return append([]byte(keyDomain), text...), err
}

// sound tells whether a key is one, under its own id.
func sound(k Key) bool { return len(k.Public) == ed25519.PublicKeySize && k.ID == keyID(k.Public) }

// CheckSigned checks the signature over a report's content. trusted are keys that the reader has
// from elsewhere: the key that signed must be one of them or be endorsed, from key to key, by one
// of them; where there are none, the signature only proves that the report is whole.
func CheckSigned(content []byte, s Signature, trusted []Key) *Fault {
	fault := func(where, format string, args ...any) *Fault {
		return &Fault{CheckSignature, where, fmt.Sprintf(format, args...)}
	}
	if s.Algorithm != Algorithm {
		return fault("algorithm", "found %q, expected %s", s.Algorithm, Algorithm)
	}
	text, err := Canonical(content)
	if err != nil {
		return fault("report", "%s", err)
	}
	keys := map[string]Key{}
	for _, k := range s.Keys {
		if !sound(k) {
			return fault("key "+k.ID, "its id is not that of its public key")
		}
		keys[k.ID] = k
	}
	signer, ok := keys[s.Key]
	if !ok {
		return fault("key "+s.Key, "the report does not carry it")
	}
	if !ed25519.Verify(signer.Public, append([]byte(signatureDomain), text...), s.Value) {
		return fault("report", "the signature of key %s is not over this content: something was changed after it was signed", s.Key)
	}
	if len(trusted) > 0 && !leadsTo(signer, keys, trusted) {
		return fault("key "+s.Key, "it is neither a key that you trust nor endorsed by one")
	}
	return nil
}

// leadsTo follows endorsements back from a key to one that is trusted.
func leadsTo(k Key, keys map[string]Key, trusted []Key) bool {
	for range len(keys) + 1 {
		for _, t := range trusted {
			if t.ID == k.ID && sound(t) {
				return true
			}
		}
		before, ok := keys[k.EndorsedBy]
		message, err := keyMessage(k)
		if !ok || err != nil || !ed25519.Verify(before.Public, message, k.Endorsement) {
			return false
		}
		k = before
	}
	return false
}
