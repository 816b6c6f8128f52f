//go:build !race

package tools_test

// raceEnabled says that everything takes several times as long.
const raceEnabled = false
