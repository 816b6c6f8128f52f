package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

const (
	rereadIt = " — re-read the file, then retry"
	readIt   = " — read the file, then retry"
)

// guarded is a directory whose files are changed by two agents under the guard
// and by somebody else, and a model of what must be so.
type guarded struct {
	ws     *workspace.Workspace
	policy *guard.Policy
	set    *tools.Set

	files map[string]string            // path to content
	seen  map[string]map[string]string // agent, path: the content last seen, or lost
}

// What was seen of a file beside its content; no file ever holds it.
const (
	lostContent   = "\x00lost"   // it was there, and is gone
	absentContent = "\x00absent" // the agent has removed it
)

func newGuarded(t rapid.TB, dir string) *guarded {
	ws, err := workspace.New(dir)
	require.NoError(t, err)
	g := &guarded{
		ws: ws, policy: new(guard.Policy),
		files: map[string]string{}, seen: map[string]map[string]string{"A": {}, "B": {}},
	}
	env := tools.Env{Workspace: ws, Guard: g.policy}
	g.set, err = tools.NewSet(tools.NewRead(env), tools.NewEdit(env), tools.NewWrite(env), renamed{tools.NewLineEdit(env)}, tools.NewApplyPatch(env, patch.Atomic))
	require.NoError(t, err)
	return g
}

func (g *guarded) at(path string) string { return filepath.Join(g.ws.Dir(), path) }

func (g *guarded) call(t rapid.TB, agent, tool string, arguments map[string]any) tools.Outcome {
	text, err := json.Marshal(arguments)
	require.NoError(t, err)
	return g.set.Call(context.Background(), tools.Call{Agent: agent, Tool: tool, Arguments: text})
}

// requireCode checks what became of a call.
func requireCode(t rapid.TB, out tools.Outcome, code, advice string) {
	if code == "" {
		require.Nil(t, out.Error, out.Text)
		return
	}
	require.NotNil(t, out.Error, out.Text)
	require.Equal(t, code, out.Error.Code, out.Text)
	if advice != "" {
		require.Contains(t, out.Text, advice)
	} else {
		require.NotContains(t, out.Text, "then retry")
	}
}

// expect returns how a change is refused by what the agent has seen, and
// whether the answer is that the file is gone.
func (g *guarded) expect(agent, path string, creates bool) (code, advice string) {
	seen, ok := g.seen[agent][path]
	content, exists := g.files[path]
	switch {
	case (!ok || seen == absentContent) && creates && !exists:
		return "", ""
	case seen == absentContent && !creates:
		return framing.CodeNotFound, ""
	case !ok || seen == absentContent:
		return framing.CodeNotObserved, readIt
	case !exists:
		g.seen[agent][path] = lostContent
		return framing.CodeStaleVersion, rereadIt
	case content != seen:
		return framing.CodeStaleVersion, rereadIt
	default:
		return "", ""
	}
}

func (g *guarded) read(t *rapid.T, agent, path string) {
	arguments := map[string]any{"path": path}
	if rapid.Bool().Draw(t, "window") {
		arguments["end_line"] = 1
	}
	out := g.call(t, agent, "read", arguments)
	if content, exists := g.files[path]; exists {
		requireCode(t, out, "", "")
		g.seen[agent][path] = content
	} else {
		requireCode(t, out, framing.CodeNotFound, "")
	}
}

func (g *guarded) write(t *rapid.T, agent, path, content string) {
	code, advice := g.expect(agent, path, true)
	out := g.call(t, agent, "write", map[string]any{"path": path, "content": content})
	requireCode(t, out, code, advice)
	if code == "" {
		g.files[path], g.seen[agent][path] = content, content
	}
}

func (g *guarded) edit(t *rapid.T, agent, path, oldText, newText string) {
	code, advice := g.expect(agent, path, false)
	content := g.files[path]
	if code == "" && !strings.Contains(content, oldText+"\n") {
		code = framing.CodeNoMatch
	}
	out := g.call(t, agent, "edit", map[string]any{
		"path": path, "edits": []map[string]any{{"oldText": oldText + "\n", "newText": newText + "\n"}},
	})
	requireCode(t, out, code, advice)
	if code == "" {
		content = strings.Replace(content, oldText+"\n", newText+"\n", 1)
		g.files[path], g.seen[agent][path] = content, content
	}
}

// append adds a line with the line editor, which also creates files.
func (g *guarded) append(t *rapid.T, agent, path string) {
	content := g.files[path]
	lines := strings.Split(content, "\n")
	n := len(lines)
	before := ""
	if n > 1 {
		before = lines[n-2]
	}
	code, advice := g.expect(agent, path, true)
	out := g.call(t, agent, "line edit", map[string]any{"path": path, "edits": []map[string]any{
		{"start_line": n, "end_line_exclusive": n, "newText": "more\n", "context_line": before},
	}})
	requireCode(t, out, code, advice)
	if code == "" {
		g.files[path], g.seen[agent][path] = content+"more\n", content+"more\n"
	}
}

func (g *guarded) patch(t *rapid.T, agent, section string) tools.Outcome {
	return g.call(t, agent, "apply_patch", map[string]any{"input": "*** Begin Patch\n" + section + "\n*** End Patch"})
}

// remove deletes a file with a patch.
func (g *guarded) remove(t *rapid.T, agent, path string) {
	code, advice := g.expect(agent, path, false)
	requireCode(t, g.patch(t, agent, "*** Delete File: "+path), code, advice)
	if code == "" {
		delete(g.files, path)
		g.seen[agent][path] = absentContent
	}
}

// add makes a file with a patch.
func (g *guarded) add(t *rapid.T, agent, path string) {
	code, advice := framing.CodeExists, ""
	if _, exists := g.files[path]; !exists {
		code, advice = g.expect(agent, path, true)
	}
	requireCode(t, g.patch(t, agent, "*** Add File: "+path+"\n+more"), code, advice)
	if code == "" {
		g.files[path], g.seen[agent][path] = "more\n", "more\n"
	}
}

// move renames a file with a patch, with a change or as it is.
func (g *guarded) move(t *rapid.T, agent, from, to string) {
	section := "*** Update File: " + from + "\n*** Move to: " + to
	content := g.files[from]
	if rapid.Bool().Draw(t, "change") {
		section += "\n@@\n+and more"
		content += "and more\n"
	}
	var code, advice string
	if _, exists := g.files[to]; exists {
		code = framing.CodeExists
	} else if code, advice = g.expect(agent, from, false); code == "" {
		code, advice = g.expect(agent, to, true)
	}
	requireCode(t, g.patch(t, agent, section), code, advice)
	if code == "" {
		delete(g.files, from)
		g.files[to], g.seen[agent][to] = content, content
		g.seen[agent][from] = absentContent
	}
}

// renamed is the line editor under a name of its own.
type renamed struct{ tools.Tool }

func (r renamed) Definition() tools.Definition {
	d := r.Tool.Definition()
	d.Name = "line edit"
	return d
}

// check compares the directory and the store with the model.
func (g *guarded) check(t *rapid.T) {
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(g.ws.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(g.ws.Dir(), path)
		found[filepath.ToSlash(name)] = string(data)
		return err
	}))
	require.Equal(t, g.files, found, "nothing but the files of the model")
	for agent, paths := range g.seen {
		for path, content := range paths {
			got, ok := g.policy.Store.Lookup(agent, workspace.Target{Key: g.at(path)})
			require.True(t, ok)
			want := guard.Observation{Present: true, Version: workspace.VersionOf([]byte(content))}
			switch content {
			case lostContent:
				want.Version = ""
			case absentContent:
				want = guard.Observation{}
			}
			require.Equal(t, want, got, "%s %s", agent, path)
		}
	}
}

func TestGuardAgreesWithModel(t *testing.T) {
	root := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(root, strconv.Itoa(runs))
		require.NoError(t, os.Mkdir(dir, 0o777))
		g := newGuarded(t, dir)
		agent := rapid.SampledFrom([]string{"A", "B"})
		path := rapid.SampledFrom([]string{"f", "g", "d/f"})
		text := rapid.SampledFrom([]string{"one", "two", "six", "three"})
		exists := func(t *rapid.T) (string, bool) {
			p := path.Draw(t, "path")
			_, ok := g.files[p]
			return p, ok
		}
		t.Repeat(map[string]func(*rapid.T){
			"read": func(t *rapid.T) { g.read(t, agent.Draw(t, "agent"), path.Draw(t, "path")) },
			"write": func(t *rapid.T) {
				g.write(t, agent.Draw(t, "agent"), path.Draw(t, "path"), text.Draw(t, "content")+"\n")
			},
			"edit": func(t *rapid.T) {
				g.edit(t, agent.Draw(t, "agent"), path.Draw(t, "path"), text.Draw(t, "old"), text.Draw(t, "new"))
			},
			"append": func(t *rapid.T) { g.append(t, agent.Draw(t, "agent"), path.Draw(t, "path")) },
			"remove": func(t *rapid.T) { g.remove(t, agent.Draw(t, "agent"), path.Draw(t, "path")) },
			"add":    func(t *rapid.T) { g.add(t, agent.Draw(t, "agent"), path.Draw(t, "path")) },
			"move": func(t *rapid.T) {
				g.move(t, agent.Draw(t, "agent"), path.Draw(t, "from"), path.Draw(t, "to"))
			},
			"others write": func(t *rapid.T) {
				p, content := path.Draw(t, "path"), text.Draw(t, "content")+"\n"
				require.NoError(t, os.MkdirAll(filepath.Dir(g.at(p)), 0o777))
				info, err := os.Stat(g.at(p))
				require.NoError(t, os.WriteFile(g.at(p), []byte(content), 0o666))
				if err == nil { // the time tells nothing
					require.NoError(t, os.Chtimes(g.at(p), info.ModTime(), info.ModTime()))
				}
				g.files[p] = content
			},
			"others remove": func(t *rapid.T) {
				if p, ok := exists(t); ok {
					require.NoError(t, os.Remove(g.at(p)))
					delete(g.files, p)
				}
			},
			"others touch": func(t *rapid.T) {
				if p, ok := exists(t); ok {
					require.NoError(t, os.Chtimes(g.at(p), time.Time{}, time.Now().Add(time.Hour)))
				}
			},
			"others chmod": func(t *rapid.T) {
				if p, ok := exists(t); ok {
					require.NoError(t, os.Chmod(g.at(p), 0o640))
				}
			},
			"others write the same": func(t *rapid.T) {
				if p, ok := exists(t); ok {
					require.NoError(t, os.WriteFile(g.at(p)+"~", []byte(g.files[p]), 0o666))
					require.NoError(t, os.Rename(g.at(p)+"~", g.at(p)))
				}
			},
			"": g.check,
		})
	})
}

// TestNoIncrementIsLost lets agents count in one file, each by reading the
// number and writing the next one, again and again until nobody was faster.
func TestNoIncrementIsLost(t *testing.T) {
	g := newGuarded(t, t.TempDir())
	require.NoError(t, os.WriteFile(g.at("n"), []byte("0"), 0o666))
	const agents, increments = 4, 15
	var all sync.WaitGroup
	for i := range agents {
		all.Go(func() {
			agent := strconv.Itoa(i)
			for done := 0; done < increments; {
				out := g.call(t, agent, "read", map[string]any{"path": "n"})
				n, err := strconv.Atoi(strings.TrimPrefix(out.Text, "1(no_nl) "))
				if err != nil {
					t.Error(out.Text)
					return
				}
				out = g.call(t, agent, "write", map[string]any{"path": "n", "content": strconv.Itoa(n + 1)})
				switch {
				case out.Error == nil:
					done++
				case out.Error.Code != framing.CodeStaleVersion:
					t.Error(out.Text)
					return
				}
			}
		})
	}
	all.Wait()
	data, err := os.ReadFile(g.at("n"))
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(agents*increments), string(data))
}

func TestAdviceIsOnTopOfTheError(t *testing.T) {
	g := newGuarded(t, t.TempDir())
	require.NoError(t, os.WriteFile(g.at("f"), []byte("x"), 0o666))
	out := g.call(t, "A", "write", map[string]any{"path": "f", "content": "y"})
	requireFailure(t, out, framing.CodeNotObserved, `cannot overwrite existing "f" without reading it first`+readIt)
	require.ErrorIs(t, out.Error, workspace.ErrNotObserved)
	below := &framing.Error{}
	require.ErrorAs(t, errors.Unwrap(errors.Unwrap(out.Error)), &below)
	require.Equal(t, `cannot overwrite existing "f" without reading it first`, below.Message)

	own := tools.Fail(t.Context(), workspace.ErrStaleVersion, tools.Display{})
	require.Contains(t, own.Text, rereadIt, "a tool of the harness's own gets it too")
}

func TestMissingReadsMayBeTrusted(t *testing.T) {
	g := newGuarded(t, t.TempDir())
	g.policy.TrustMissingReads = true
	write := map[string]any{"path": "f", "content": "x"}
	requireCode(t, g.call(t, "A", "write", write), "", "")
	require.NoError(t, os.Remove(g.at("f")))
	requireCode(t, g.call(t, "A", "write", write), framing.CodeStaleVersion, "file no longer exists"+rereadIt)
	requireCode(t, g.call(t, "A", "read", map[string]any{"path": "f"}), framing.CodeNotFound, "")
	requireCode(t, g.call(t, "A", "write", write), "", "")
}
