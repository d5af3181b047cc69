// Command rueidis is a program of three lines, for measuring its build.
package main

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
)

func main() {
	c, _ := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:7001"}})
	err := c.Do(context.Background(), c.B().Set().Key("a").Value("1").Build()).Error()
	fmt.Println(err)
}
