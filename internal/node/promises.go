package node

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/config"
)

// promiseError is a setting that would make data safe, or be another's copy, if there were
// replication. To pass over it would lose data.
type promiseError struct{ setting, value, why string }

// Error names the setting.
func (e *promiseError) Error() string {
	return fmt.Sprintf("%s %q can't be kept: %s", e.setting, e.value, e.why)
}

// Hint says how to start all the same.
func (e *promiseError) Hint() string {
	return fmt.Sprintf("remove %s from the configuration; the node then is a primary without replicas", e.setting)
}

// checkPromises refuses settings of which a user's data depends and that mean nothing yet.
func checkPromises(cfg *config.Config) error {
	if of := cfg.String(config.ReplicaOf); of != "" {
		return &promiseError{config.ReplicaOf.Name, of, "there is no replication yet, and the node would take writes as a primary"}
	}
	return checkReplicas(cfg)
}

// checkReplicas refuses to wait for replicas, as there are none.
func checkReplicas(cfg *config.Config) error {
	if cfg.Int(config.MinReplicasToWrite) > 0 && cfg.Int(config.MinReplicasMaxLag) > 0 {
		return &promiseError{config.MinReplicasToWrite.Name, cfg.String(config.MinReplicasToWrite), "there is no replication yet"}
	}
	return nil
}
