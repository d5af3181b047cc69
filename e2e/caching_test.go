package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

// TestRueidisCachesOnItsSide: the client keeps what it has read until the server
// says that it has changed.
func TestRueidisCachesOnItsSide(t *testing.T) {
	_, addr := startServer(t, nil)
	for name, options := range map[string]rueidis.ClientOption{
		"opt-in":    {},
		"broadcast": {ClientTrackingOptions: []string{"PREFIX", "k:", "BCAST"}},
	} {
		t.Run(name, func(t *testing.T) { cacheAndChange(t, []string{addr}, options) })
	}
}

func TestRueidisCachesOnItsSideOfACluster(t *testing.T) {
	_, addrs := startDev(t)
	cacheAndChange(t, addrs[:1], rueidis.ClientOption{})
}

func cacheAndChange(t *testing.T, addrs []string, options rueidis.ClientOption) {
	options.InitAddress = addrs
	reader, err := rueidis.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	writer, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	ctx := deadline(t)
	read := func(key string) (string, bool) {
		r := reader.DoCache(ctx, reader.B().Get().Key(key).Cache(), time.Hour)
		v, err := r.ToString()
		if err != nil {
			t.Errorf("get %s: %v", key, err)
		}
		return v, r.IsCacheHit()
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			key := fmt.Sprintf("k:%d", i)
			for round := range 5 {
				want := fmt.Sprint(round)
				if err := writer.Do(ctx, writer.B().Set().Key(key).Value(want).Build()).Error(); err != nil {
					t.Error(err)
					return
				}
				for { // until the client has heard of the change
					v, hit := read(key)
					if v == want {
						break
					}
					if !hit {
						t.Errorf("%s: the server says %s, want %s", key, v, want)
						return
					}
				}
				read(key)
				if _, hit := read(key); !hit {
					t.Errorf("%s is not cached", key)
				}
			}
		})
	}
	all.Wait()
}
