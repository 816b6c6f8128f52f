package args

import (
	"math"
	"strconv"
	"strings"
)

// parseInteger returns the value of a JSON number. It is integral if its value
// is, however it is written (2.0, 20e-1, -0), and fits if that value is within
// 64 bits. The decimal digits decide: nothing goes through a float, and no
// exponent is expanded.
func parseInteger(number string) (v int64, integral, fits bool) {
	sign, digits := "", number
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	scale := 0 // the value is the digits, read as an integer, times ten to this power
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		scale = exponent(digits[i+1:])
		digits = digits[:i]
	}
	if whole, fraction, ok := strings.Cut(digits, "."); ok {
		digits = whole + fraction
		scale -= len(fraction)
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return 0, true, true
	}
	significant := strings.TrimRight(digits, "0")
	scale += len(digits) - len(significant)
	switch {
	case scale < 0:
		return 0, false, false
	case len(significant)+scale > len(strconv.Itoa(math.MaxInt64)):
		return 0, true, false
	}
	v, err := strconv.ParseInt(sign+significant+strings.Repeat("0", scale), 10, 64)
	return v, true, err == nil
}

// exponent returns the value of the exponent of a JSON number, or one of the
// same sign that is larger than any number of digits if it is huge.
func exponent(s string) int {
	const huge = 1 << 30
	v, err := strconv.Atoi(s)
	if err != nil {
		v = huge
		if s[0] == '-' {
			v = -huge
		}
	}
	return min(max(v, -huge), huge)
}
