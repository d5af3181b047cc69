// Command redigo is a program of three lines, for measuring its build.
package main

import (
	"fmt"

	"github.com/gomodule/redigo/redis"
)

func main() {
	c, _ := redis.Dial("tcp", "127.0.0.1:7001")
	_, err := c.Do("SET", "a", "1")
	fmt.Println(err)
}
