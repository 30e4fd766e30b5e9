//go:build linux && cgo

package main

// The Go runtime's watchdog sleeps for 20 microseconds at a time while anything runs, and the
// kernel wakes it 50 microseconds late at most. To let it be a millisecond late saves a good part
// of what this program costs, which works for a moment every five seconds; no time that it keeps
// is that exact. The runtime's threads take the setting over from the first one, so that it must
// be made before they are.

/*
#include <sys/prctl.h>

__attribute__((constructor)) static void may_wake_late(void) {
	prctl(PR_SET_TIMERSLACK, 1000000UL, 0, 0, 0);
}
*/
import "C"
