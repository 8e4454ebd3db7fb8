package main

// read is the end of a history: all that the log has was accepted, and the call has one result. The tool takes effect after
// an approval alone, and at most once (docs/guarantees.md, "Answers"; effects: 'once').
func read(s state, input at, _ *Output) []state {
	log := input.log
	isWhole := len(s.entries) == len(input.recorded) && s.ended != "" && len(log.Results) == 1
	if !isWhole || !isInOrder(log.Entries) || !hasOneHolder(log.Entries) {
		return nil
	}
	status, allowed := log.Results[0], 0
	winner := s.find("resolution")
	isStatus := winner != nil || status == "cancelled"
	if winner != nil && isOfType(winner.Content, "deny") {
		isStatus = status == "denied"
	}
	if winner != nil && isOfType(winner.Content, "approve") {
		allowed = 1
		isStatus = status != "ok" || log.Effects == 1
	}
	return only(isStatus && log.Effects <= allowed, s)
}

// recordedIn returns the entries that requests have caused.
func recordedIn(log Log) []Entry {
	var recorded []Entry
	for _, entry := range log.Entries {
		if entry.Kind != "lease_lost" {
			recorded = append(recorded, entry)
		}
	}
	return recorded
}

func isInOrder(entries []Entry) bool {
	last := int64(0)
	for _, entry := range entries {
		if entry.Seq <= last {
			return false
		}
		last = entry.Seq
	}
	return true
}

// hasOneHolder: between the claims of two holders the log has the loss of the first.
func hasOneHolder(entries []Entry) bool {
	held := ""
	for _, entry := range entries {
		switch {
		case entry.Kind == "claimed" && !entry.Renewal && held != "",
			entry.Kind == "claimed" && entry.Renewal && held != entry.ClaimID,
			entry.Kind == "lease_lost" && held != entry.ClaimID:
			return false
		case entry.Kind == "claimed":
			held = entry.ClaimID
		case entry.Kind == "lease_lost":
			held = ""
		}
	}
	return true
}
