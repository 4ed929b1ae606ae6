// Kind-runtime is runc for machines that withhold CAP_SYS_RESOURCE.
//
// There, a privileged container fails with "unable to apply caps", since Docker asks for every
// capability. This program takes that one out of what Docker wrote, and then becomes runc. A lower
// out-of-memory score needs the same capability, so a negative one is raised to zero.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const withheld = "CAP_SYS_RESOURCE"

type object = map[string]any

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kind-runtime:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	runc, err := exec.LookPath("runc")
	if err != nil {
		return err
	}
	if err := adapt(args); err != nil {
		return err
	}
	return syscall.Exec(runc, append([]string{runc}, args...), os.Environ())
}

// adapt changes the file that says what the new process may do, if this command starts one.
func adapt(args []string) error {
	for i, word := range args {
		rest := args[i+1:]
		switch word {
		case "create", "run", "restore":
			bundle, given := value(rest, "-b", "--bundle")
			if !given {
				bundle = "."
			}
			return rewrite(filepath.Join(bundle, "config.json"), func(spec object) {
				if process, ok := spec["process"].(object); ok {
					restrict(process)
				}
			})
		case "exec":
			if file, given := value(rest, "-p", "--process"); given {
				return rewrite(file, restrict)
			}
			return nil
		}
	}
	return nil
}

// value finds an option's value, written as "--name value" or "--name=value".
func value(args []string, names ...string) (string, bool) {
	for i, word := range args {
		name, inline, equals := strings.Cut(word, "=")
		if !slices.Contains(names, name) {
			continue
		}
		if equals {
			return inline, true
		}
		if i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}

// restrict takes out of a process what this machine cannot give it.
func restrict(process object) {
	if sets, ok := process["capabilities"].(object); ok {
		for name, set := range sets {
			if names, ok := set.([]any); ok {
				sets[name] = slices.DeleteFunc(names, func(c any) bool { return c == withheld })
			}
		}
	}
	if score, ok := process["oomScoreAdj"].(json.Number); ok && strings.HasPrefix(score.String(), "-") {
		process["oomScoreAdj"] = 0
	}
}

// rewrite changes a JSON file in one step; numbers stay as they were written.
func rewrite(file string, change func(object)) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var content object
	if err := decoder.Decode(&content); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	change(content)
	if text, err = json.Marshal(content); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
