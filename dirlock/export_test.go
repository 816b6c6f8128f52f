package dirlock

// SetFault lets a test fail, or end the process, before and after each step of a
// store: "write" and "rename" of the registry, "remove" of a dead lease.
func (f *File) SetFault(fault func(step string) error) { f.fault = fault }

// Die does to a session of a File what the end of its process does.
func Die(s Session) {
	f := s.(*fileSession)
	f.end()
	<-f.done
	f.lease.Close()
}
