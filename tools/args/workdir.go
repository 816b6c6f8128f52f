package args

// Workdir is the arguments of the tool workdir. Without a Path, it asks.
type Workdir struct {
	Path *Path `json:"path,omitzero" description:"Directory to work in from now on; a relative path starts at the present one. Leave it out to ask for that."`
}
