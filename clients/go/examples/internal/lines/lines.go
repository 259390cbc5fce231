// Package lines is how the examples are asked: a JSON object a line in, one a line out.
//
//	{"user":"u1","items":["n1","n2",7],"also_seen":["n9"]}
//	{"unseen":["n2","7"],"from":"http"}
package lines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

const lineBytesMax = 4 << 20

// ID is an item's id: a string, or an integer, which is its decimal string.
type ID string

// UnmarshalJSON takes integers beyond 2^53 as they are written.
func (id *ID) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*string)(id))
	}
	if number, err := strconv.ParseInt(string(text), 10, 64); err != nil || strconv.FormatInt(number, 10) != string(text) {
		return fmt.Errorf("id %s: neither a string nor an integer of 64 bits", text)
	}
	*id = ID(text)
	return nil
}

// Request asks which of the items the user has not seen.
type Request struct {
	User     string `json:"user"`
	Items    []ID   `json:"items"`
	AlsoSeen []ID   `json:"also_seen"`
}

// Answer says so, and where it is from.
type Answer struct {
	Unseen []string `json:"unseen"`
	From   string   `json:"from,omitempty"`
	By     string   `json:"by,omitempty"`    // the daemon that answered
	Error  string   `json:"error,omitempty"` // why it isn't from where it should be
}

// Serve answers until the input ends.
func Serve(in io.Reader, out io.Writer, answer func(user string, items, alsoSeen []string) Answer) error {
	input, output := bufio.NewScanner(in), json.NewEncoder(out)
	input.Buffer(nil, lineBytesMax)
	for input.Scan() {
		var request Request
		if err := json.Unmarshal(input.Bytes(), &request); err != nil {
			if err := output.Encode(Answer{Unseen: []string{}, Error: err.Error()}); err != nil {
				return err
			}
			continue
		}
		if err := output.Encode(answer(request.User, texts(request.Items), texts(request.AlsoSeen))); err != nil {
			return err
		}
	}
	return input.Err()
}

func texts(ids []ID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return texts
}
