package main

import (
	"fmt"
	"reflect"
)

// state is one waiting call in the sequential model. It is never changed in place.
type state struct {
	// entries are the accepted requests so far: the beginning of the log. Requests must be accepted in the log's order,
	// also those whose replies were lost; so the log tells which of them took effect.
	entries []Entry
	// deadlineMs is the deadline of the wait.
	deadlineMs int64
	// ended is "", "resolved" or "cancelled".
	ended string
	// claimID and holder are those of the newest claim; empty while the call is free.
	claimID, holder string
	// leaseEnd is the earliest time at which the claim may be lost: the call of the request that set the lease, and
	// its length.
	leaseEnd int64
}

func equal(one, other interface{}) bool { return reflect.DeepEqual(one, other) }

func (s state) held() bool { return s.claimID != "" }

// heldByOther follows isHeldByOther (src/core/calls/claim.ts): a holder presents the id of the claim and is its actor.
func (s state) heldByOther(input at) bool {
	return s.held() && (s.claimID != input.ClaimID || s.holder != input.Actor)
}

// find returns the first entry of a kind.
func (s state) find(kind string) *Entry {
	for index := range s.entries {
		if s.entries[index].Kind == kind {
			return &s.entries[index]
		}
	}
	return nil
}

// newest returns the newest entry of a kind with the request id of the input. Of claims, only those of its actor count, and
// no renewal: it is not remembered (claimed, src/core/apply/waits.ts).
func (s state) newest(kind string, input at) *Entry {
	for index := len(s.entries) - 1; index >= 0; index-- {
		entry := &s.entries[index]
		isOwn := kind != "claimed" || entry.Actor == input.Actor && !entry.Renewal
		if input.RequestID != "" && entry.Kind == kind && entry.RequestID == input.RequestID && isOwn {
			return entry
		}
	}
	return nil
}

// recorded adds the next entry of the log, if it is this one. The parts that nobody knows are those of the log: the request
// id that the API made for a request without one, and all that a lost reply would have said.
func (s state) recorded(entry Entry, input at) (state, bool) {
	count := len(s.entries)
	if count == len(input.recorded) {
		return s, false
	}
	logged := input.recorded[count]
	if entry.RequestID == "" {
		entry.RequestID = logged.RequestID
	}
	if entry.Seq == 0 {
		entry.Seq = logged.Seq
	}
	if entry.ClaimID == "" {
		entry.ClaimID = logged.ClaimID
	}
	s.entries = input.recorded[:count+1]
	return s, entry == logged
}

// says: the reply has the fields of this entry.
func (output *Output) says(entry *Entry) bool {
	isSame := output.Seq == entry.Seq && output.ClaimID == entry.ClaimID
	return isSame && output.DeadlineMs == entry.DeadlineMs
}

// free is the state after the loss of the claim.
func (s state) free() state {
	s.claimID, s.holder, s.leaseEnd = "", "", 0
	return s
}

func (s state) leased(input at) state {
	s.leaseEnd = input.call + input.LeaseMs*1_000_000
	return s
}

func (s state) String() string {
	text := s.ended
	if text == "" {
		text = fmt.Sprintf("open until %d", s.deadlineMs)
	}
	if s.held() && s.ended == "" {
		text += fmt.Sprintf(", held by %s under %s", s.holder, s.claimID)
	}
	for _, entry := range s.entries {
		text += fmt.Sprintf("; %d %s %s", entry.Seq, entry.Kind, entry.RequestID)
	}
	return text
}
