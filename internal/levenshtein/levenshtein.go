// Package levenshtein finds the nearest of several names, for suggestions.
package levenshtein

// Nearest returns the one candidate with the smallest distance to name, if no
// other candidate is as near and the distance is at most a third of the length
// of name, or 2 for a short one. Distances and lengths are in characters.
func Nearest(name string, candidates []string) (nearest string, ok bool) {
	runes := []rune(name)
	limit := max(2, len(runes)/3)
	best := limit + 1
	for _, c := range candidates {
		switch d := distance(runes, []rune(c)); {
		case d < best:
			best, nearest, ok = d, c, true
		case d == best:
			ok = false
		}
	}
	if best > limit {
		return "", false
	}
	return nearest, ok
}

// distance returns the number of insertions, deletions and substitutions that
// turn a into b (the Levenshtein distance).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			substituted := diagonal
			if ra != rb {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
