package args

// MaxCommand is the most bytes of a command: what Linux takes as one argument of
// a program, its final NUL not counted (execve(2), MAX_ARG_STRLEN).
const MaxCommand = 131071

// Shell is the arguments of the tool shell. A Timeout of 0 and an empty Dir are
// none.
type Shell struct {
	Command string `json:"command" limits:"minLength=1 notBlank noNUL maxLength=131071" description:"Script for sh -c."`
	Timeout int64  `json:"timeout,omitzero" limits:"minimum=0 maximum=86400" description:"Seconds until the command is ended. Default: 120."`
	Dir     Path   `json:"cwd,omitzero" description:"Directory of this command only. Default: the working directory."`
}

// Hint tells what other dialects call otherwise.
func (Shell) Hint(field string) string {
	switch field {
	case "workdir":
		return "use cwd for the directory of this call"
	case "mode":
		return "access follows from dir_lock"
	default:
		return ""
	}
}

// ShellCommand is the arguments of the tool shell_command, the dialect of models
// that were trained on another agent. Timeouts of 0 and an empty Dir are none.
type ShellCommand struct {
	Command   string  `json:"command" limits:"minLength=1 notBlank noNUL maxLength=131071" description:"Script for sh -c."`
	Dir       Path    `json:"workdir,omitzero" description:"Directory of this command only. Default: the working directory."`
	TimeoutMS float64 `json:"timeout_ms,omitzero" limits:"minimum=0 maximum=86400000 rivals=timeout" description:"Milliseconds until the command is ended. Default: 120000."`

	// What is given by habit. Permissions are up to the harness.
	Timeout               int64   `json:"timeout,omitzero" limits:"minimum=0 maximum=86400 hidden"`
	Login                 Ignored `json:"login,omitzero" limits:"hidden"`
	SandboxPermissions    Ignored `json:"sandbox_permissions,omitzero" limits:"hidden"`
	EscalatedPermissions  Ignored `json:"with_escalated_permissions,omitzero" limits:"hidden"`
	Justification         Ignored `json:"justification,omitzero" limits:"hidden"`
	PrefixRule            Ignored `json:"prefix_rule,omitzero" limits:"hidden"`
	AdditionalPermissions Ignored `json:"additional_permissions,omitzero" limits:"hidden"`
}

// Hint tells what other dialects call otherwise.
func (ShellCommand) Hint(field string) string {
	switch field {
	case "cwd":
		return "use workdir for the directory of this call"
	case "mode":
		return "access follows from dir_lock"
	default:
		return ""
	}
}
