// Command go-redis is a program of three lines, for measuring its build.
package main

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

func main() {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:7001"}})
	err := c.Set(context.Background(), "a", "1", 0).Err()
	fmt.Println(err)
}
