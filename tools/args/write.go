package args

// Write is the arguments of the tool write.
type Write struct {
	Path    Path   `json:"path" description:"File to create or replace; relative paths start at the working directory."`
	Content string `json:"content" description:"The whole content, stored byte for byte; at most 10485760 bytes."`
}
