package search

import (
	"context"
	"errors"
	"sync"

	"github.com/taukit/taukit/search/internal/linematch"
	"github.com/taukit/taukit/search/internal/rawfs"
)

// A search is one call of Grep. A goroutine walks the tree and gives each job to
// the workers, which do it in any order, and to the consumer, which waits for
// the results in the order of the walk.
type search struct {
	ctx    context.Context // ends when nothing more is needed
	cancel context.CancelFunc
	caller context.Context
	o      *GrepOptions

	// Of the walk and the workers: ends when what they have done is enough,
	// though the consumer may not have come to it yet.
	work   context.Context
	enough context.CancelFunc

	// Of the consumer.
	shown    int             // matching lines given so far
	reported map[string]bool // paths that could not be searched

	jobs, order chan *job
	help        chan *bigFile // large files to which idle workers may come
	running     sync.WaitGroup
	walkErr     error // to be read when order is closed

	ahead      lookahead
	matches    tally
	sent       int // jobs, counted by the walk
	collectors sync.Pool
}

// A job is a few files that one worker searches.
type job struct {
	number  int // from 0, in the order of the walk
	items   []item
	results []result
	ready   chan int // how many of the results are there, ascending; the last is all of them
}

// A result is what became of an item.
type result struct {
	found *collector // nil if nothing was
	err   error      // why the file could not be searched, or not to its end
	big   *bigFile   // a large file, of which the results come in parts
}

// maxJob is the number of files of the largest job. The first ones are smaller,
// so that all workers have something to do soon.
const maxJob = 16

func newSearch(caller context.Context, o *GrepOptions, w *walker, isFile bool) *search {
	s := &search{
		caller:   caller,
		o:        o,
		reported: make(map[string]bool),
		jobs:     make(chan *job, 2*o.Workers),
		order:    make(chan *job, 4*o.Workers),
		help:     make(chan *bigFile, o.Workers),
		ahead:    lookahead{limit: o.ahead},
	}
	s.ctx, s.cancel = context.WithCancel(caller)
	s.work, s.enough = context.WithCancel(s.ctx)
	s.collectors.New = func() any { return &collector{o: o} }
	s.running.Go(func() {
		defer close(s.order)
		defer close(s.jobs)
		if isFile {
			s.send(&job{items: []item{{full: w.root, at: len(w.root)}}})
		} else {
			s.walkErr = s.walk(w)
		}
	})
	for range o.Workers {
		s.running.Go(newWorker(s, isFile).run)
	}
	return s
}

// close ends all goroutines and waits for them.
func (s *search) close() {
	s.enough()
	s.cancel()
	s.running.Wait()
}

// done notes that all of a job is done. When the jobs up to one hold more
// matches than the limit, nothing behind it is needed.
func (s *search) done(j *job, matches int) {
	if s.o.Limit > 0 && s.matches.add(j.number, matches) > s.o.Limit {
		s.enough()
	}
}

// walk sends all that the walker comes to.
func (s *search) walk(w *walker) error {
	w.ctx = s.work
	size := 1
	j := &job{}
	w.emit = func(i item) bool {
		j.items = append(j.items, i)
		if len(j.items) < size {
			return true
		}
		ok := s.send(j)
		size = min(2*size, maxJob)
		j = &job{items: make([]item, 0, size)}
		return ok
	}
	err := w.walk()
	if len(j.items) > 0 {
		s.send(j)
	}
	return err
}

// send hands a job on. It is false if the search is over.
func (s *search) send(j *job) bool {
	j.results = make([]result, len(j.items))
	j.ready = make(chan int, len(j.items))
	j.number = s.sent
	s.sent++
	for _, to := range [...]chan *job{s.order, s.jobs} {
		select {
		case to <- j:
		case <-s.work.Done():
			return false
		}
	}
	return true
}

// A worker searches files. It is for one goroutine.
type worker struct {
	s        *search
	named    bool // the file to search is the root
	searcher *linematch.Searcher
	buf      []byte
	found    *collector
	reserve  func(bytes int) bool // method room

	// The result at hand, also as the lookahead knows it.
	job   *job // nil when it is published
	index int
	of    any

	// Of the job.
	published int // results
	matches   int
}

func newWorker(s *search, named bool) *worker {
	w := &worker{s: s, named: named, searcher: s.o.Pattern.matcher.Searcher()}
	w.reserve = w.room
	return w
}

// run does jobs until the search is over. Large files come first: the consumer
// is waiting for them already, or will be soon.
func (w *worker) run() {
	defer w.s.o.Pattern.matcher.Release(w.searcher)
	jobs := w.s.jobs
	for {
		select {
		case b := <-w.s.help:
			b.search(w, false)
			continue
		default:
		}
		select {
		case b := <-w.s.help:
			b.search(w, false)
		case j, ok := <-jobs:
			if !ok {
				jobs = nil // there may still be somebody to help
				continue
			}
			w.published, w.matches = 0, 0
			for i := range j.items {
				w.job, w.index, w.of = j, i, &j.results[i]
				w.do(j.items[i])
			}
			w.s.done(j, w.matches)
		case <-w.s.work.Done():
			return
		}
	}
}

// do searches a file and publishes the result.
func (w *worker) do(i item) {
	if i.err != nil {
		w.publish(result{err: i.err})
		return
	}
	if w.s.work.Err() != nil {
		return // nobody waits
	}
	f, err := rawfs.Open(i.full)
	if err != nil {
		w.publish(result{err: err})
		return
	}
	defer f.Close()
	w.searcher.Begin()
	w.collect()
	err = w.searchFile(f, w.named)
	if w.job == nil {
		return // it was published in parts
	}
	w.matches += w.found.matches
	r := result{err: err}
	if len(w.found.lines) > 0 {
		r.found, w.found = w.found, nil
	}
	w.publish(r)
}

// collect prepares w.found for a file.
func (w *worker) collect() {
	if w.found == nil {
		w.found = w.s.collectors.Get().(*collector)
	}
	w.found.begin(w.reserve)
}

// room waits until there is room for more of the result at hand. It is false if
// the search is over before.
func (w *worker) room(bytes int) bool {
	if w.s.ahead.try(bytes, w.of) {
		return true
	}
	if w.job != nil {
		w.ready(w.index) // the consumer may be waiting for what is done
	}
	return w.s.ahead.wait(w.s.work, bytes, w.of)
}

// ready tells the consumer that there are so many results of the job.
func (w *worker) ready(results int) {
	if results > w.published {
		w.published = results
		w.job.ready <- results
	}
}

// publish lets the consumer have the result at hand: at once if more of it is to
// come, and otherwise together with all of the job, which wakes it less often.
func (w *worker) publish(r result) {
	w.job.results[w.index] = r
	if done := w.index + 1; r.big != nil || done == len(w.job.items) {
		w.ready(done)
	}
	w.job = nil
}

// keep keeps a buffer for the next file, unless it is large.
func (w *worker) keep(buf []byte) {
	if cap(buf) <= bufferBytes {
		w.buf = buf
	}
}

// isOver reports whether err is that of a context.
func isOver(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
