package redistest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// differencesPath is seen from the folder of a package, where its tests run.
const differencesPath = "../../testdata/differences.json"

// Differences say where Bowline and redis-server differ. Every row has its
// reason.
type Differences struct {
	About []string `json:"about"`
	// Replies are commands whose replies are not compared byte by byte, and how
	// they are instead. Those about what is newer than 7.0 are not for newer servers.
	Replies []ReplyDifference `json:"replies"`
	// Newer are those of newer servers, beside or instead of the others.
	Newer []ReplyDifference `json:"newer"`
	// Commands are those of which COMMAND INFO says something else, in the fields
	// named.
	Commands []struct {
		Command string   `json:"command"`
		Fields  []string `json:"fields"`
		Reason  string   `json:"reason"`
	} `json:"commands"`
	// Keys are requests in which COMMAND GETKEYS finds other keys.
	Keys []struct {
		Request string `json:"request"`
		Reason  string `json:"reason"`
	} `json:"keys"`
	// Parameters are those of CONFIG GET that Redis does not list.
	Parameters []struct {
		Name   string `json:"name"`
		Reason string `json:"reason"`
	} `json:"parameters"`
	// Values are those that CONFIG SET treats otherwise.
	Values []ValueDifference `json:"values"`
}

// ReplyDifference is about the replies to a command. Only70 says that no newer server
// differs so.
type ReplyDifference struct {
	Command string `json:"command"`
	Compare string `json:"compare"`
	Only70  bool   `json:"only_7_0"`
	Reason  string `json:"reason"`
}

// ValueDifference is about values of parameters. Names, Effect and Kind choose the
// parameters; a name may end in '*'.
type ValueDifference struct {
	Names  []string `json:"names"`
	Effect string   `json:"effect"`
	Kind   string   `json:"kind"`
	// Values are those concerned; none: all, with ExceptDefault all but the
	// default.
	Values        []string `json:"values"`
	ExceptDefault bool     `json:"except_default"`
	Reason        string   `json:"reason"`
}

// ReadDifferences reads the file.
func ReadDifferences() (*Differences, error) {
	content, err := os.ReadFile(differencesPath)
	if err != nil {
		return nil, fmt.Errorf("read differences: %w", err)
	}
	d := &Differences{}
	rows := json.NewDecoder(bytes.NewReader(content))
	rows.DisallowUnknownFields()
	if err := rows.Decode(d); err != nil {
		return nil, fmt.Errorf("parse %s: %w", differencesPath, err)
	}
	return d, nil
}
