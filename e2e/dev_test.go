package e2e

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestDevClusterServesRedisCLIOnAllSlots(t *testing.T) {
	_, addrs := startDev(t)
	if len(addrs) != 3 {
		t.Fatalf("nodes %q, want three", addrs)
	}
	port := portOf(t, addrs[0])
	if out := mustRun(t, "redis-cli", "-c", "-p", port, "set", "a", "1"); strings.TrimSpace(out) != "OK" {
		t.Errorf("set a 1: %q", out)
	}
	// One process of redis-cli follows redirects for keys of every node.
	var commands, want strings.Builder
	for i := range 300 {
		n := strconv.Itoa(i)
		commands.WriteString("set key:" + n + " " + n + "\nget key:" + n + "\n")
		want.WriteString("OK\n" + n + "\n")
	}
	redirect := regexp.MustCompile("(?m)^-> Redirected to slot .*\n")
	for _, addr := range addrs {
		got, err := runWith(commands.String(), "redis-cli", "-c", "-p", portOf(t, addr))
		if err != nil {
			t.Fatal(err)
		}
		if redirect.ReplaceAllString(got, "") != want.String() {
			t.Errorf("through %s: unlike what was set: %.200q", addr, got)
		}
		if n := len(redirect.FindAllString(got, -1)); n < 100 {
			t.Errorf("through %s: only %d redirects", addr, n)
		}
		if got := mustRun(t, "redis-cli", "-c", "-p", portOf(t, addr), "get", "a"); strings.TrimSpace(got) != "1" {
			t.Errorf("get a through %s: %q", addr, got)
		}
	}
	// The keys are spread, each on one node.
	total := 0
	for _, addr := range addrs {
		n, err := strconv.Atoi(strings.TrimSpace(mustRun(t, "redis-cli", "-p", portOf(t, addr), "dbsize")))
		if err != nil || n < 50 {
			t.Errorf("dbsize of %s: %d, %v", addr, n, err)
		}
		total += n
	}
	if total != 301 {
		t.Errorf("%d keys in the cluster, want 301", total)
	}
}

func TestRedisCLIFindsTheClusterInOrder(t *testing.T) {
	_, addrs := startDev(t, "--nodes", "4")
	check := mustRun(t, "redis-cli", "--cluster", "check", addrs[0])
	for _, want := range []string{"[OK] All nodes agree about slots configuration.", "[OK] All 16384 slots covered."} {
		if !strings.Contains(check, want) {
			t.Errorf("--cluster check lacks %q:\n%s", want, check)
		}
	}
	if info := mustRun(t, "redis-cli", "--cluster", "info", addrs[1]); !strings.Contains(info, "[OK] 0 keys in 4 masters.") {
		t.Errorf("--cluster info:\n%s", info)
	}
	mustRun(t, "redis-cli", "-c", "-p", portOf(t, addrs[0]), "set", "a", "1")
	call := mustRun(t, "redis-cli", "--cluster", "call", addrs[3], "dbsize")
	ones := 0
	for _, addr := range addrs {
		_, answer, found := strings.Cut(call, "\n"+addr+": ")
		if !found || answer[0] != '0' && answer[0] != '1' {
			t.Errorf("--cluster call dbsize on %s:\n%s", addr, call)
			continue
		}
		ones += int(answer[0] - '0')
	}
	if ones != 1 {
		t.Errorf("--cluster call dbsize finds %d keys, want 1:\n%s", ones, call)
	}
}

func TestRedisBenchmarkRunsOnTheCluster(t *testing.T) {
	_, addrs := startDev(t)
	out := mustRun(t, "redis-benchmark", "--cluster", "-p", portOf(t, addrs[0]), "-t", "set,get", "-q", "-n", "10000", "-r", "10000")
	if lower := strings.ToLower(out); strings.Contains(lower, "error") || strings.Contains(lower, "warning") {
		t.Errorf("redis-benchmark complains:\n%s", out)
	}
	for _, name := range []string{"SET: ", "GET: "} {
		lines := strings.FieldsFunc(out, func(r rune) bool { return r == '\r' || r == '\n' })
		at := slices.IndexFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, name) && strings.Contains(l, "requests per second")
		})
		if at < 0 {
			t.Errorf("no result for %s:\n%s", name, out)
			continue
		}
		rate, err := strconv.ParseFloat(strings.Fields(lines[at])[1], 64)
		if err != nil || rate <= 0 {
			t.Errorf("rate %v, %v in %q", rate, err, lines[at])
		}
		t.Log(strings.TrimSpace(lines[at]))
	}
}

func TestDevPassesOverPortsThatAreTaken(t *testing.T) {
	// A free port above which there are some more, most of the time.
	var taken net.Listener
	for {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if l.Addr().(*net.TCPAddr).Port < 60000 {
			taken = l
			break
		}
	}
	port := taken.Addr().(*net.TCPAddr).Port
	p := start(t, nil, "dev", "--nodes", "2", "--port", strconv.Itoa(port))
	addrs := p.devAddresses(t)
	if len(addrs) != 2 {
		t.Fatalf("nodes %q, want two", addrs)
	}
	for _, addr := range addrs {
		if n, _ := strconv.Atoi(portOf(t, addr)); n <= port {
			t.Errorf("node at %s, although port %d is taken and the first", addr, port)
		}
	}
	if out := mustRun(t, "redis-cli", "-p", portOf(t, addrs[1]), "ping"); out != "PONG\n" {
		t.Errorf("ping: %q", out)
	}
}

func TestDevUsesThePortAndFolderGiven(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var p *process
	var port int
	var addrs []string
	for range 5 { // the ports after a free one can be taken
		port = freePort(t)
		p = start(t, nil, "dev", "--nodes", "2", "--shards", "2", "--dir", dir, "--port", strconv.Itoa(port))
		if addrs = p.devAddresses(t); addrs[0] == "127.0.0.1:"+strconv.Itoa(port) {
			break
		}
	}
	if addrs[0] != "127.0.0.1:"+strconv.Itoa(port) {
		t.Errorf("first node at %s, want port %d", addrs[0], port)
	}
	text, err := os.ReadFile(filepath.Join(dir, "cluster.map"))
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		if !strings.Contains(string(text), addr) {
			t.Errorf("the map lacks %s:\n%s", addr, text)
		}
	}
	if !strings.Contains(string(text), "@1") {
		t.Errorf("the map has no second shard:\n%s", text)
	}
}
