package exporter_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// certificate makes one for 127.0.0.1, and writes both halves to files.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gpu-a1"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", signed), write("key.pem", "PRIVATE KEY", secret), pool
}

// TLS and a password together, as docs/exporter.md shows the file; the probes are behind
// both, and the page is the same as without.
func TestTLSAndAPasswordGuardThePage(t *testing.T) {
	cert, key, pool := certificate(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("hunter2"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "web.yml")
	text := fmt.Sprintf("tls_server_config:\n  cert_file: %s\n  key_file: %s\nbasic_auth_users:\n  prometheus: %s\n", cert, key, hash)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, newMachine(simulated(t)), "--web.config.file="+config)
	address := strings.TrimPrefix(p.url, "http://")
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	ask := func(password, accept string) (int, string, string) {
		request, err := http.NewRequest(http.MethodGet, "https://"+address+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			request.SetBasicAuth("prometheus", password)
		}
		request.Header.Set("Accept", accept)
		response, err := client.Do(request)
		if err != nil {
			return 0, "", err.Error()
		}
		defer response.Body.Close()
		var body bytes.Buffer
		if _, err := body.ReadFrom(response.Body); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, response.Header.Get("Content-Type"), body.String()
	}
	eventually(t, "the page is served by TLS", func() bool { status, _, _ := ask("", ""); return status == http.StatusUnauthorized })
	if status, _, _ := ask("hunter3", ""); status != http.StatusUnauthorized {
		t.Errorf("a wrong password gets %d, want 401", status)
	}
	for accept, kind := range map[string]string{
		"": "text/plain", "application/openmetrics-text;version=1.0.0": "application/openmetrics-text",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited": "application/vnd.google.protobuf",
	} {
		if status, got, body := ask("hunter2", accept); status != http.StatusOK || !strings.HasPrefix(got, kind) || !strings.Contains(body, "gpu_temperature_celsius") {
			t.Errorf("accepting %q: status %d, type %s", accept, status, got)
		}
	}
	if body, _, status := get(t, p.url+"/metrics"); status == http.StatusOK || strings.Contains(body, "gpu_") {
		t.Errorf("without TLS the page answers %d", status)
	}
	if log := p.log.String(); strings.Contains(log, "hunter") {
		t.Errorf("the log shows a password:\n%s", log)
	}
}

// Liveness must not hang where everything else does: a machine whose driver never answers.
func TestLivenessAnswersWhileTheDriverHangs(t *testing.T) {
	source := newMachine(&gpu.Snapshot{})
	source.hang = true
	p := start(t, source)
	if body, _, status := get(t, p.url+"/-/healthy"); status != http.StatusOK || !strings.Contains(body, "is running") {
		t.Errorf("liveness is %d %q", status, body)
	}
	if _, _, status := get(t, p.url+"/-/ready"); status != http.StatusServiceUnavailable {
		t.Errorf("readiness is %d before the first round, want 503", status)
	}
	if body, _, status := get(t, p.url+"/metrics"); status != http.StatusOK || !strings.Contains(body, "leasewatch_exporter_build_info") {
		t.Errorf("the page answers %d", status)
	}
}
