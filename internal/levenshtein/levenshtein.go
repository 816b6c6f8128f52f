// Package levenshtein finds the nearest of several names, for suggestions.
package levenshtein

// Nearest returns the one candidate with the smallest distance to name, if
// that distance is at most limit and no other candidate is as near. Distances
// count insertions, deletions and substitutions of characters.
func Nearest(name string, candidates []string, limit int) (nearest string, ok bool) {
	best := limit + 1
	for _, c := range candidates {
		switch d := distance([]rune(name), []rune(c)); {
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

// distance returns the Levenshtein distance of a and b.
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
