package discovery_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/taukit/taukit/tools/discovery"
)

func ExampleFinder() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		".git/HEAD":                     "",
		"AGENTS.md":                     "Run the tests.\n",
		".agents/skills/build/SKILL.md": "---\ndescription: How to build\nlicense: MIT\n---\nmake\n",
		"sub/AGENTS.md":                 "Here, too.\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}

	ctx := context.Background()
	finder := discovery.New(discovery.Options{}) // no home: no user scope
	user, err := finder.User(ctx)
	if err != nil {
		log.Fatal(err)
	}
	project, err := finder.Project(ctx, filepath.Join(dir, "sub"))
	if err != nil {
		log.Fatal(err)
	}
	snapshot := discovery.Join(1, filepath.Join(dir, "sub"), user, project)
	for _, i := range snapshot.Instructions() {
		fmt.Printf("%q\n", i.Text)
	}
	for _, s := range snapshot.Skills() {
		fmt.Println(s.Name, "-", s.Description)
		for key, value := range s.Fields() {
			fmt.Println(key, value)
		}
	}
	// Output:
	// "Run the tests.\n"
	// "Here, too.\n"
	// build - How to build
	// license MIT
}
