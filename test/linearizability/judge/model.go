package main

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// modelOf is the sequential specification of one call. Each rule names its source: a file of the engine, or a document.
func modelOf(history History) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []interface{} { return []interface{}{state{deadlineMs: history.DeadlineMs}} },
		Step: func(before, input, output interface{}) []interface{} {
			var after []interface{}
			for _, next := range step(before.(state), input.(at), output.(*Output)) {
				after = append(after, next)
			}
			return after
		},
		Equal:             equal,
		DescribeOperation: func(input, output interface{}) string { return describe(input.(at), output.(*Output)) },
		DescribeState:     func(s interface{}) string { return fmt.Sprint(s) },
	}
	return model.ToModel()
}

// step returns the states that the call may be in after an operation with this outcome; none when it may not have it.
//
// A claim may be lost once its lease has ended: docs/tools.md, "Claims and progress". When that happens is up to the watch
// of leases (src/projection/duties/lease-watch.ts), so both are possible from then on. Never before: the lease counts from
// the request that asked for it (docs/tool-workers.md, "Offers").
func step(before state, input at, output *Output) []state {
	possible := []state{before}
	if before.held() && before.ended == "" && input.end >= before.leaseEnd {
		possible = append(possible, before.free())
	}
	rules := map[string]func(state, at, *Output) []state{
		"resolve": resolve, "claim": claim, "extend": extend, "cancel": cancel, "read": read,
	}
	rule, isKnown := rules[input.Op]
	if !isKnown {
		return nil
	}
	var after []state
	for _, one := range possible {
		after = append(after, rule(one, input, output)...)
	}
	return after
}

// only returns the state when the condition holds.
func only(holds bool, after state) []state {
	if holds {
		return []state{after}
	}
	return nil
}

// resolve follows judgeResolution (src/core/judge/resolutions.ts) in the order of judgeCall (src/core/judge/calls.ts); the
// table of verdicts is in src/protocol/calls/resolutions.ts.
func resolve(s state, input at, output *Output) []state {
	first := s.newest("resolution", input)
	if first == nil && s.ended == "" && !s.heldByOther(input) && !input.Misfit {
		return answered(s, input, output)
	}
	switch {
	case output == nil:
		return []state{s}
	case first != nil && first.Content == input.Content:
		// repeatVerdict (src/core/memory/duplicates.ts): the same request is a duplicate with the first verdict, also
		// when the call has ended.
		return only(output.Verdict == "duplicate" && output.says(first), s)
	case first != nil:
		// The same file: another content under a known id is refused.
		return only(output.Verdict == "invalid", s)
	case s.ended != "":
		return alreadyResolved(s, output)
	case s.heldByOther(input):
		// staleVerdict: a held call takes a result from its holder alone.
		return only(output.Verdict == "stale" && output.Why == "not_holder" && output.By == s.holder, s)
	default:
		// A refused answer leaves the call open: docs/guarantees.md, "Answers".
		return only(output.Verdict == "invalid", s)
	}
}

// answered: the first valid answer is accepted. Its own reply may be a duplicate of itself: the API sends it, has no reply in
// time, and finds in the log that it was accepted (endedVerdict, src/client/reading/ended-calls.ts, rule E1). Only a request
// with an id of its sender gets that (withoutOwnDuplicate, src/client/calls/duplicates.ts).
func answered(s state, input at, output *Output) []state {
	entry := Entry{Kind: "resolution", RequestID: input.RequestID, Actor: input.Actor, Content: input.Content}
	if output == nil {
		after, isNext := s.recorded(entry, input)
		after.ended = "resolved"
		return append(only(isNext, after), s)
	}
	entry.Seq = output.Seq
	after, isNext := s.recorded(entry, input)
	after.ended = "resolved"
	isTaken := output.Verdict == "accepted" || output.Verdict == "duplicate" && input.RequestID != ""
	return only(isTaken && output.Seq > 0 && isNext, after)
}

// alreadyResolved follows endedVerdict and resolvedBefore (src/core/judge/calls.ts): the status of the call, and who has
// ended it. A cancel also ends a call that runs after its approval (cancelledResults, src/core/events/turns.ts).
func alreadyResolved(s state, output *Output) []state {
	if output.Verdict != "stale" || output.Why != "already_resolved" {
		return nil
	}
	if output.Status == "cancelled" {
		cancel := s.find("cancel")
		return only(cancel != nil && output.By == cancel.Actor, s)
	}
	winner := s.find("resolution")
	if winner == nil {
		return nil
	}
	isDenied := isOfType(winner.Content, "deny")
	return only(output.By == winner.Actor && isDenied == (output.Status == "denied"), s)
}

func isOfType(content, kind string) bool { return strings.Contains(content, `"type":"`+kind+`"`) }

// extend follows judgeExtension (src/core/judge/extensions.ts). The deadlines of these histories are far away, so no call
// expires.
func extend(s state, input at, output *Output) []state {
	wanted := input.UntilMs
	if input.ByMs > 0 {
		wanted = s.deadlineMs + input.ByMs
	}
	first := s.newest("extended", input)
	switch {
	case first == nil && s.ended == "" && wanted > s.deadlineMs:
		return extended(s, input, output, wanted)
	case output == nil:
		return []state{s}
	case first != nil && isSameMove(first, input):
		return only(output.Verdict == "duplicate" && output.says(first), s)
	case first != nil:
		return only(output.Verdict == "invalid", s)
	case s.ended != "":
		return alreadyResolved(s, output)
	default:
		// endProblems: a deadline only moves to a later time.
		return only(output.Verdict == "invalid", s)
	}
}

func extended(s state, input at, output *Output, wanted int64) []state {
	entry := Entry{Kind: "extended", RequestID: input.RequestID, Actor: input.Actor}
	entry.DeadlineMs, entry.PreviousMs = wanted, s.deadlineMs
	if output == nil {
		after, isNext := s.recorded(entry, input)
		after.deadlineMs = wanted
		return append(only(isNext, after), s)
	}
	entry.Seq = output.Seq
	after, isNext := s.recorded(entry, input)
	after.deadlineMs = wanted
	isMoved := output.Verdict == "accepted" && output.DeadlineMs == wanted && output.Seq > 0
	return only(isMoved && isNext, after)
}

func isSameMove(first *Entry, input at) bool {
	if input.ByMs > 0 {
		return first.DeadlineMs-first.PreviousMs == input.ByMs
	}
	return first.DeadlineMs == input.UntilMs
}

// cancel follows judgeCancel (src/core/judge/cancels.ts). The turn has other calls, too: it may run on when this one has
// ended. A cancel ends every open call at once (cancelEvents, src/core/events/turns.ts).
func cancel(s state, input at, output *Output) []state {
	entry := Entry{Kind: "cancel", RequestID: input.RequestID, Actor: input.Actor}
	first := s.newest("cancel", input)
	switch {
	case output == nil && first != nil:
		return []state{s}
	case output == nil:
		after, isNext := s.recorded(entry, input)
		return append(only(isNext, after.cancelled()), s)
	case output.Verdict == "nothing_to_cancel":
		return only(first == nil && s.ended != "", s)
	case output.Verdict != "cancelled":
		return nil
	case first != nil:
		return only(output.says(first), s)
	case output.Seq == 0:
		// Another cancel ends the turn already.
		return only(s.find("cancel") != nil, s)
	}
	entry.Seq = output.Seq
	after, isNext := s.recorded(entry, input)
	return only(isNext, after.cancelled())
}

func (s state) cancelled() state {
	if s.ended == "" {
		s.ended = "cancelled"
	}
	return s
}
