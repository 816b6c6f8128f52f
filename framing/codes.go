package framing

// Codes of an [Error] that tools have in common. They are for programs
// (retries, permissions, routing in a user interface), stable, and never shown
// to a model. Tools add codes for conditions of their own only.
const (
	CodeInvalidArguments = "INVALID_ARGUMENTS" // not JSON, an unknown, duplicate, missing or ill-typed field, a value out of range
	CodeUnknownTool      = "UNKNOWN_TOOL"      // the session does not expose that name

	CodeNotFound      = "FS_NOT_FOUND"
	CodePermission    = "FS_PERMISSION"
	CodeNotDirectory  = "FS_NOT_DIRECTORY"
	CodeIsDirectory   = "FS_IS_DIRECTORY"
	CodeNotRegular    = "FS_NOT_REGULAR" // a FIFO, a socket, a device
	CodeExists        = "FS_EXISTS"
	CodeLoop          = "FS_LOOP"          // too many symbolic links
	CodeTooLarge      = "FS_TOO_LARGE"     // over a size limit
	CodeInvalidUTF8   = "FS_INVALID_UTF8"  // text required, other bytes found
	CodeStaleVersion  = "FS_STALE_VERSION" // the file changed since it was read
	CodeNotObserved   = "FS_NOT_OBSERVED"  // guarded change of a file that was never read
	CodeSandboxDenied = "FS_SANDBOX_DENIED"
	CodeIO            = "FS_IO"        // any other failure of the file system
	CodeEditDamaged   = "EDIT_DAMAGED" // a write in place failed and the old bytes could not be put back

	CodeNoMatch         = "NO_MATCH"
	CodeAmbiguousMatch  = "AMBIGUOUS_MATCH"
	CodeOverlap         = "OVERLAP"
	CodeContextMismatch = "CONTEXT_MISMATCH"

	CodeArtifactUnavailable = "ARTIFACT_UNAVAILABLE"
	CodeArtifactIntegrity   = "ARTIFACT_INTEGRITY"
	CodeImageUnsupported    = "IMAGE_UNSUPPORTED"
	CodeImageInvalid        = "IMAGE_INVALID"
	CodeImageTooLarge       = "IMAGE_TOO_LARGE"
	CodeFrameTooLarge       = "FRAME_TOO_LARGE"

	CodeWorkdirPending    = "WORKDIR_PENDING"
	CodeDiscoveryDegraded = "DISCOVERY_DEGRADED"

	CodeBusy      = "BUSY"      // a bounded resource is in use: retrying is right
	CodeTimeout   = "TIMEOUT"   // the caller's deadline
	CodeCancelled = "CANCELLED" // the caller's cancellation
	CodeInternal  = "INTERNAL"  // a recovered panic, or an error that is none of the others
)
