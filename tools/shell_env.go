package tools

import (
	"cmp"
	"maps"
	"os"

	"github.com/taukit/taukit/tools/proc"
)

// environ returns the environment of a command that runs in dir.
func (c ShellConfig) environ(dir string) []string {
	base := os.Environ()
	set := proc.NonInteractive()
	maps.Copy(set, c.SetEnv)
	if !c.KeepPager {
		maps.Copy(set, proc.NoPager())
	}
	set["PWD"], set["OLDPWD"] = dir, ""
	env := proc.Environ(base, set, c.DropEnv)
	if term, _ := proc.Lookup(env, "TERM"); term == "" {
		env = append(env, "TERM="+cmp.Or(set["TERM"], "dumb"))
	}
	return env
}
