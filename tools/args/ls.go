package args

// Ls is the arguments of the tool ls.
type Ls struct {
	Path  Path   `json:"path,omitzero" description:"Directory to list. Default: the working directory."`
	Limit *int64 `json:"limit,omitzero" limits:"minimum=1 maximum=2001" description:"Most entries to return. Default: 500."`
}
