package args

// Export is the arguments of the tool export.
type Export struct {
	Path     Path   `json:"path" description:"Regular file to store; relative paths start at the working directory."`
	MIMEType string `json:"mime_type,omitzero" description:"Media type to declare. By default it is guessed from the name, never from the content."`
}

// Import is the arguments of the tool import.
type Import struct {
	Key      string `json:"key" limits:"reference" description:"Artifact reference, <tau-artifact:sha256:...>, or bare key, sha256:..."`
	Filename string `json:"filename,omitzero" description:"Name of the original, as a hint for the name of the file; never a destination."`
	MIMEType string `json:"mime_type,omitzero" description:"Media type, as a hint for the extension when the name has none."`
}

// ReadImage is the arguments of the tool read_image. An empty Mode is none.
type ReadImage struct {
	Key    string  `json:"key" limits:"reference" description:"Artifact reference, <tau-artifact:sha256:...>, or bare key, sha256:...; no path."`
	Mode   string  `json:"mode,omitzero" limits:"enum=high|overview" description:"Size of the image; overview is for coarse layout only. Default: high."`
	Region *Region `json:"region,omitzero" description:"Part of the upright image, in its pixels."`
}

// A Region is a part of an image, in pixels from its upper left corner.
type Region struct {
	X      int64 `json:"x" limits:"minimum=0 maximum=4294967295"`
	Y      int64 `json:"y" limits:"minimum=0 maximum=4294967295"`
	Width  int64 `json:"width" limits:"minimum=1 maximum=4294967295"`
	Height int64 `json:"height" limits:"minimum=1 maximum=4294967295"`
}
