package lines

import (
	"fmt"
	"strings"
	"testing"
)

func TestALineInALineOut(t *testing.T) {
	in := `{"user":"u1","items":["n1",9007199254740993,"7"],"also_seen":[-7]}
{"user":"u2","items":[1.5]}
{"user":"u3"}
`
	var out strings.Builder
	err := Serve(strings.NewReader(in), &out, func(user string, items, alsoSeen []string) Answer {
		return Answer{Unseen: []string{fmt.Sprint(user, items, alsoSeen)}, From: "here"}
	})
	want := `{"unseen":["u1[n1 9007199254740993 7] [-7]"],"from":"here"}
{"unseen":[],"error":"id 1.5: neither a string nor an integer of 64 bits"}
{"unseen":["u3[] []"],"from":"here"}
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}
