//go:build !unix && !windows

package dirlock

const separators = "/"

// Identities are not known here: only paths are compared.
func rootIdentity(string) Identity { return Identity{} }
func identityOf(string) Identity   { return Identity{} }
