// Command bowline is a program of three lines, for measuring its build.
package main

import (
	"context"
	"fmt"

	"github.com/bowline-kv/bowline/client"
)

func main() {
	c, _ := client.Open(context.Background(), client.Options{Addrs: []string{"127.0.0.1:7001"}})
	err := c.Do(context.Background(), "SET", "a", "1").Err()
	fmt.Println(err)
}
