package main

// claim follows judgeClaim (src/core/judge/claims.ts) and claimCall (src/client/calls/claim.ts), which asks the store first
// when the request is a renewal.
func claim(s state, input at, output *Output) []state {
	if output == nil {
		return unknownClaim(s, input)
	}
	if output.Verdict == "accepted" && output.Seq == 0 {
		return renewedInStore(s, input, output)
	}
	switch first := s.newest("claimed", input); {
	case s.repeats(first):
		// rules.repeated: the first claim again, unless it has been lost. The client then renews it in the store, where
		// it can.
		if output.Verdict != "duplicate" || !output.says(first) {
			return nil
		}
		return []state{s, s.leased(input)}
	case s.ended != "":
		return alreadyResolved(s, output)
	case !s.held() && input.RenewOnly:
		return only(output.Verdict == "stale" && output.Why == "not_holder", s)
	case s.heldByOther(input):
		return only(output.Verdict == "stale" && output.Why == "held" && output.By == s.holder, s)
	}
	after, isNext := s.claimed(input, Entry{Seq: output.Seq, ClaimID: output.ClaimID})
	return only(output.Verdict == "accepted" && output.ClaimID != "" && isNext, after)
}

// repeats: a request with the id of this claim gets its verdict again.
func (s state) repeats(first *Entry) bool {
	return first != nil && (s.ended != "" || s.held() && s.claimID == first.ClaimID)
}

// claimed adds a claim, or its renewal, to the log. A new claim has an id that no claim of the call had before.
func (s state) claimed(input at, as Entry) (state, bool) {
	as.Kind, as.RequestID, as.Actor, as.Renewal = "claimed", input.RequestID, input.Actor, s.held()
	after, isNext := s.recorded(as, input)
	if !isNext {
		return s, false
	}
	given := input.recorded[len(s.entries)].ClaimID
	if s.held() {
		isNext = given == s.claimID
	}
	for _, entry := range s.entries {
		isNext = isNext && (s.held() || entry.ClaimID != given)
	}
	after.claimID, after.holder = given, input.Actor
	return after.leased(input), isNext
}

// renewedInStore: a renewal that costs no history (docs/tools.md, "Claims and progress"). The store follows the log, so a
// renewal may be accepted shortly after the call has ended; never once the claim is lost.
func renewedInStore(s state, input at, output *Output) []state {
	isOwn := input.ClaimID != "" && s.claimID == input.ClaimID && s.holder == input.Actor
	if output.ClaimID != input.ClaimID || !isOwn {
		return nil
	}
	if s.ended != "" {
		return []state{s}
	}
	return []state{s.leased(input)}
}

// unknownClaim: nothing has happened, or the claim was recorded, or it was renewed in the store.
func unknownClaim(s state, input at) []state {
	after := []state{s}
	if s.ended != "" {
		return after
	}
	isRepeat := s.repeats(s.newest("claimed", input))
	if isRepeat || s.held() && !s.heldByOther(input) {
		after = append(after, s.leased(input))
	}
	if isRepeat || s.heldByOther(input) || !s.held() && input.RenewOnly {
		return after
	}
	recorded, isNext := s.claimed(input, Entry{})
	return append(after, only(isNext, recorded)...)
}
