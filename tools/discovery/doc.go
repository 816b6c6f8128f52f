// Package discovery finds what a project and a user have to say to an agent:
// instruction files (AGENTS.md) and skills.
//
// There are two scopes. The user's is below a home directory, the project's in
// the directories from a working directory up to the root of its repository. A
// [Discoverer] scans them; [Join] makes the [Snapshot] that an agent works with.
//
// # Instructions
//
// Each root may have the file AGENTS.md and further files AGENTS.*.md. The roots
// of the user are, in this order,
//
//	HOME/.config/agents  HOME/.config/agents.local  HOME/.agents  HOME/.agents.local
//
// and those of a project are, for each directory from the outermost down to the
// working directory, the directory itself and its .agents.local. What comes
// later is more specific.
//
// # Skills
//
// A skill is a file NAME/SKILL.md or NAME.md in a directory of skills: the user
// roots with /skills, and .agents/skills and .agents.local/skills of the
// directories of the project. It begins with YAML front matter, which has a
// description and perhaps a name. A directory below that has no SKILL.md may hold
// further ones of the first form. Of two skills with one name the more specific
// wins.
//
// # What others may plant
//
// All of it may come from somebody who means harm, and every scan is bounded: in
// the size of files, in their number, in depth and in the directory entries that
// are looked at. Nothing but regular files and directories is ever opened, so
// that no FIFO blocks and no device is disturbed. Ancestors of the working
// directory in which everybody can write are passed over. What is skipped is told
// in a [Diagnostic], unless it merely is not there.
//
// Texts are handed on unchanged; names, paths and reasons may hold any
// character, and are escaped by whoever shows them.
package discovery
