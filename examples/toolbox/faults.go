package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/discovery"
)

// The faults that the option of that name can inject.
const (
	faultDiscovery = "discovery" // scans of projects after the first fail
	faultSave      = "save"      // a working directory cannot be saved
)

// checkFaults refuses a fault that there is not.
func (o options) checkFaults() error {
	for _, name := range slices.Sorted(maps.Keys(o.Faults)) {
		if name != faultDiscovery && name != faultSave {
			return usageError{fmt.Sprintf("options: unknown fault: %s", name)}
		}
	}
	return nil
}

// discoverer looks in the home that the options name, not in that of whoever
// runs the program: what a call answers depends on its options alone.
func (o options) discoverer() discovery.Discoverer {
	var d discovery.Discoverer = discovery.New(discovery.Options{Home: o.Home})
	if reason, ok := o.Faults[faultDiscovery]; ok {
		d = &failingDiscoverer{Discoverer: d, fault: errors.New(reason)}
	}
	return d
}

// A failingDiscoverer scans one project and no more.
type failingDiscoverer struct {
	discovery.Discoverer
	fault error

	mu    sync.Mutex
	first bool // has been scanned
}

func (d *failingDiscoverer) Project(ctx context.Context, dir string) (discovery.Scope, error) {
	d.mu.Lock()
	first := !d.first
	d.first = true
	d.mu.Unlock()
	if !first {
		return discovery.Scope{}, d.fault
	}
	return d.Discoverer.Project(ctx, dir)
}

// workdirs remembers no directory, and may fail to.
func (o options) workdirs() tools.WorkdirStore {
	if reason, ok := o.Faults[faultSave]; ok {
		return failingStore{errors.New(reason)}
	}
	return nil
}

type failingStore struct{ fault error }

func (failingStore) Load(string) (string, bool, error) { return "", false, nil }
func (s failingStore) Save(string, string) error       { return s.fault }
