package server

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// zipFile is one file of an archive.
type zipFile struct {
	name string
	body []byte
}

// writeZip writes the files in their order, and SHA256SUMS of them as the last. The same files
// and moment give the same bytes. what names the archive in errors.
func writeZip(w io.Writer, what string, made rental.Millis, files []zipFile) error {
	var sums strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.body)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), f.name)
	}
	archive := zip.NewWriter(w)
	for _, f := range append(files[:len(files):len(files)], zipFile{"SHA256SUMS", []byte(sums.String())}) {
		out, err := archive.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: made.Time()})
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if _, err := out.Write(f.body); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
