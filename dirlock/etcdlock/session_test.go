package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/taukit/taukit/dirlock"
)

func TestWhatAnErrorSaysOfAChange(t *testing.T) {
	for _, c := range []struct {
		err                error
		transient, refused bool
	}{
		{rpctypes.ErrNoSpace, false, true},
		{rpctypes.ErrRequestTooLarge, false, true},
		{rpctypes.ErrPermissionDenied, false, true},
		{rpctypes.ErrTooManyRequests, false, true},
		{rpctypes.ErrNoLeader, true, false},
		{rpctypes.ErrTimeout, true, false},
		{rpctypes.ErrTimeoutDueToLeaderFail, true, false},
		{status.Error(codes.Unavailable, "the connection is broken"), true, false},
		{status.Error(codes.Internal, "a frame is broken"), true, false},
		{status.Error(codes.ResourceExhausted, "the answer is too large"), false, false},
		{fmt.Errorf("an attempt: %w", context.DeadlineExceeded), true, false},
		{context.Canceled, false, false},
		{errConflict, true, false},
		{dirlock.ErrTable, false, false},
		{errors.New("anything"), false, false},
	} {
		require.Equal(t, c.transient, transient(c.err), c.err)
		require.Equal(t, c.refused, refused(c.err), c.err)
	}
}

// TestAnotherTable: looks may be answered in another order than they were made.
func TestAnotherTable(t *testing.T) {
	s := &session{}
	require.True(t, s.sameTable(5, 0), "there is none yet")
	require.True(t, s.sameTable(7, 7), "and now there is")
	require.True(t, s.sameTable(6, 0), "an older look")
	require.True(t, s.sameTable(9, 7))
	require.False(t, s.sameTable(10, 0), "it was removed")
	require.False(t, s.sameTable(12, 11), "it was replaced")
}
