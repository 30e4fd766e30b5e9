package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts compare with anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"leasewatch": func() {
			os.Exit(run(context.Background(), os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
		},
	})
}

// TestTheCommandLineDoesAsItsScriptsSay runs every script with the program itself. Scripts have
// two commands more: "refused CODE ERRORS args..." runs leasewatch and expects that exit code and
// that many lines on stderr, the first of which begins with the program's name, and nothing on
// stdout; "same FILE args..." expects what an earlier call wrote.
func TestTheCommandLineDoesAsItsScriptsSay(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refused": refused,
			"same":    same,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("TZ", "UTC")
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: refused CODE ERRORS args...")
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	count, err := strconv.Atoi(args[1])
	ts.Check(err)
	var exit *exec.ExitError
	if err := ts.Exec("leasewatch", args[2:]...); !errors.As(err, &exit) {
		ts.Fatalf("leasewatch %s: %v, expected exit code %d", strings.Join(args[2:], " "), err, code)
	}
	if exit.ExitCode() != code {
		ts.Fatalf("exit code %d, expected %d: %s", exit.ExitCode(), code, ts.ReadFile("stderr"))
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("a refused command wrote to stdout: %s", out)
	}
	said := strings.Split(strings.TrimSuffix(ts.ReadFile("stderr"), "\n"), "\n")
	if len(said) != count || !strings.HasPrefix(said[0], "leasewatch: ") {
		ts.Fatalf("%d lines on stderr, expected %d, the first of which begins with \"leasewatch: \":\n%s", len(said), count, strings.Join(said, "\n"))
	}
}

func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: same FILE args...")
	}
	ts.Check(ts.Exec("leasewatch", args[1:]...))
	if want, got := ts.ReadFile(args[0]), ts.ReadFile("stdout"); want != got {
		ts.Fatalf("something changed.\nbefore:\n%s\nnow:\n%s", want, got)
	}
}
