package seen

import (
	"errors"
	"fmt"
)

var (
	// ErrMalformed: the bytes break a rule of the format. They were cut, damaged, or never a snapshot or an update.
	ErrMalformed = errors.New("malformed")

	// ErrUnsupported: a version, format, hash, flag or watermark version that this reader doesn't know. The bytes may
	// well be right, written by a newer program: update the reader.
	ErrUnsupported = errors.New("not supported by this reader")
)

// ParseError says why bytes were refused. errors.Is tells the two reasons there are apart: ErrMalformed and
// ErrUnsupported.
type ParseError struct {
	Field   string // as schemas/*.md names it, such as "checksum", "payload.buckets" or "update.to"
	Problem string // its value, and what it should be
	Reason  error  // ErrMalformed or ErrUnsupported
}

func (e *ParseError) Error() string { return fmt.Sprintf("seen: %s: %s", e.Field, e.Problem) }

// Unwrap lets errors.Is find the reason.
func (e *ParseError) Unwrap() error { return e.Reason }

func malformed(field, format string, args ...interface{}) error {
	return &ParseError{field, fmt.Sprintf(format, args...), ErrMalformed}
}

func unsupported(field, format string, args ...interface{}) error {
	return &ParseError{field, fmt.Sprintf(format, args...) + "; update the reader", ErrUnsupported}
}
