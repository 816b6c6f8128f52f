// Package confine starts a command whose view of some directories is read-only.
//
// A [Plan] names the directories. A [Method] is one way in which a system can
// enforce it, and a [Chain] takes the first of several that works here:
//
//	confined, err := chain.Start(ctx, cmd, confine.Plan{ReadOnly: []string{dir}})
//	if err != nil {
//		return err
//	}
//	defer confined.Close()
//	state, err := cmd.Process.Wait()
//
// Nothing is written in a protected directory by any path that leads there: not
// by a symbolic link, not by another mount of the same file system, and not by
// way of the program that started the command. That program itself, and
// everything else that runs, can write there all the while.
//
// This is protection against accidents, not a sandbox. Whatever is outside the
// directories stays as writable as it was; the network, sockets, other processes
// and device files are untouched, and so is a file in a protected directory that
// has a second hard link outside, under that name, or that lies in a layer of an
// overlay file system which is mounted elsewhere. Set-user-id programs do not
// gain their rights in a confined command.
//
// # Methods
//
// All need Linux; elsewhere they report that they are unavailable. In the order
// in which [Default] tries them:
//
//	MountNS     CAP_SYS_ADMIN, Linux 5.12                      bind
//	UserNS      unprivileged user namespaces, [RunHelper]      bind
//	Landlock    Landlock ABI 3 (Linux 6.2)                     landlock
//	Bubblewrap  the program bwrap                              bind
//
// The last column is what a command meets. With [ByBind] the directories are
// read-only mounts: every change fails with EROFS. With [ByLandlock] what would
// change content or names fails with EACCES; modes, owners, times and extended
// attributes are not guarded. In addition new names directly in a directory that
// contains a protected one are refused, and so are writes in whatever appears
// there after the start.
//
// # Commands
//
// What the methods start is the [exec.Cmd] as it stands: its path, arguments,
// environment, directory, files and session, with an empty signal mask. They do
// not call its Start method, so the caller waits with Process.Wait, and:
//
//   - Stdin, Stdout and Stderr must be nil or an [*os.File];
//   - SysProcAttr may ask for a session, a process group, a terminal, a control
//     group or a pidfd, and nothing else ([ErrAttributes]). Above all no
//     Pdeathsig: the thread that starts the command ends while it runs;
//   - a context of [exec.CommandContext] is not watched.
package confine
