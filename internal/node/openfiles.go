package node

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/bowline-kv/bowline/internal/config"
)

const (
	// filesReserved is how many open files are left to the node at least, as in Redis.
	filesReserved = 32
	// filesOfItsOwn are those of a node with a log while it writes a snapshot.
	filesOfItsOwn = 24
)

// ownFiles is how many open files a node needs besides one for each client: two more for
// each event loop, and for each other node of the cluster.
func ownFiles(loops, others int) int64 {
	return max(filesReserved, int64(filesOfItsOwn+2*loops+2*others))
}

// fitClients lowers maxclients to what the system's limit of open files leaves room for,
// and refuses more later. Go has raised the limit as far as it can be when the process began.
func fitClients(cfg *config.Config, others int, log *slog.Logger) error {
	own := ownFiles(runtime.GOMAXPROCS(0), others)
	files, limited := openFilesMax()
	asked := cfg.Int(config.MaxClients)
	if limited && files <= own {
		return fmt.Errorf("the system lets the process open %d files: at least %d are needed, see ulimit -n", files, own+1)
	}
	if limited && asked > files-own {
		log.Warn("the system lets the process open too few files, so maxclients is lowered: see ulimit -n",
			"asked", asked, "maxclients", files-own, "files", files)
		if err := cfg.Load(config.MaxClients.Name, []string{fmt.Sprint(files - own)}, "ulimit -n"); err != nil {
			return err
		}
	}
	cfg.OnChange(config.MaxClients, func() error {
		files, limited := openFilesMax()
		if limited && cfg.Int(config.MaxClients) > files-own {
			return clientsError(files - own)
		}
		return nil
	})
	return nil
}

// clientsError refuses more clients than it says, in Redis's words.
type clientsError int64

// Error is what a client gets to read.
func (e clientsError) Error() string {
	return fmt.Sprintf("The operating system is not able to handle the specified number of clients, try with %d", int64(e))
}
