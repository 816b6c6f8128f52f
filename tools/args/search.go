package args

// Grep is the arguments of the tool grep. An empty Path or Glob is none.
type Grep struct {
	Pattern    string `json:"pattern" limits:"minLength=1 noNUL" description:"Regular expression (RE2 syntax), or plain text with literal."`
	Path       string `json:"path,omitzero" limits:"noNUL" description:"File or directory to search. Default: the working directory."`
	Glob       string `json:"glob,omitzero" limits:"noNUL" description:"Only files that match, such as *.go or src/**; with ! in front all but these."`
	IgnoreCase bool   `json:"ignoreCase,omitzero" description:"Ignore case. Default: false."`
	Literal    bool   `json:"literal,omitzero" description:"Take the pattern as plain text. Default: false."`
	Context    *int64 `json:"context,omitzero" limits:"minimum=0 maximum=20" description:"Lines to show before and after each match. Default: 0."`
	Limit      *int64 `json:"limit,omitzero" limits:"minimum=1 maximum=2000" description:"Most matching lines. Default: 100."`
}

// Find is the arguments of the tool find. An empty Path is none.
type Find struct {
	Pattern string `json:"pattern" limits:"minLength=1 noNUL" description:"Glob that files match: *.go by name, src/**/*.go by path."`
	Path    string `json:"path,omitzero" limits:"noNUL" description:"Directory to search. Default: the working directory."`
	Limit   *int64 `json:"limit,omitzero" limits:"minimum=1 maximum=2000" description:"Most paths. Default: 1000."`
}
