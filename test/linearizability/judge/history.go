package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"

	"github.com/anishathalye/porcupine"
)

// A History has every operation on one waiting call, and what the log said of the call afterwards. Times are
// nanoseconds of one monotonic clock of the machine.
type History struct {
	ID string `json:"id"`
	// Kind is "approval", "question", "external" or "leased"; only the last two can be claimed.
	Kind string `json:"kind"`
	// DeadlineMs is the deadline of the wait when the race began, in milliseconds since the epoch.
	DeadlineMs int64       `json:"deadlineMs"`
	Operations []Operation `json:"operations"`
	Log        Log         `json:"log"`
}

// An Operation is one HTTP request of one client process.
type Operation struct {
	Client int   `json:"client"`
	Call   int64 `json:"call"`
	// Return is the time at which the client had the reply, or gave up waiting.
	Return int64 `json:"return"`
	Input  Input `json:"input"`
	// Output is absent when the outcome is unknown: the connection was cut, a 5xx, or "queued".
	Output *Output `json:"output,omitempty"`
}

// Input is the request. Op: "resolve", "claim" (with a ClaimID: a renewal), "extend" or "cancel".
type Input struct {
	Op        string `json:"op"`
	RequestID string `json:"requestId,omitempty"`
	Actor     string `json:"actor"`
	// Content is the resolution as JSON.
	Content string `json:"content,omitempty"`
	// Misfit: the value breaks the schema of the answer.
	Misfit    bool   `json:"misfit,omitempty"`
	ClaimID   string `json:"claimId,omitempty"`
	RenewOnly bool   `json:"renewOnly,omitempty"`
	LeaseMs   int64  `json:"leaseMs,omitempty"`
	ByMs      int64  `json:"byMs,omitempty"`
	UntilMs   int64  `json:"untilMs,omitempty"`
}

// Output is the reply. Verdict is that of the API; of a cancel it is "cancelled" or "nothing_to_cancel". Of a duplicate,
// the other fields are those of the first verdict.
type Output struct {
	Verdict    string `json:"verdict"`
	Why        string `json:"why,omitempty"`
	Status     string `json:"status,omitempty"`
	By         string `json:"by,omitempty"`
	Seq        int64  `json:"seq,omitempty"`
	ClaimID    string `json:"claimId,omitempty"`
	DeadlineMs int64  `json:"deadlineMs,omitempty"`
}

// Log is the end of the history: what readers of the event log saw when the turn was over, and the effects of the tool.
type Log struct {
	Call    int64   `json:"call"`
	Return  int64   `json:"return"`
	Entries []Entry `json:"entries"`
	// Results has the statuses of the results of the call; there must be one.
	Results []string `json:"results"`
	// Effects is how often the tool took effect, counted after the end of all histories.
	Effects int `json:"effects"`
}

// An Entry is an accepted request as the log has it. Kind: "resolution", "claimed", "lease_lost", "extended" or "cancel".
type Entry struct {
	Kind       string `json:"kind"`
	Seq        int64  `json:"seq"`
	RequestID  string `json:"requestId,omitempty"`
	Actor      string `json:"actor,omitempty"`
	Content    string `json:"content,omitempty"`
	ClaimID    string `json:"claimId,omitempty"`
	Renewal    bool   `json:"renewal,omitempty"`
	DeadlineMs int64  `json:"deadlineMs,omitempty"`
	PreviousMs int64  `json:"previousMs,omitempty"`
}

// at is an input as the model gets it: with its times, since leases end by time, and with the log.
type at struct {
	Input
	call, end int64
	// recorded are the accepted requests in the log of the history.
	recorded []Entry
	// log is set in the last operation of a history alone.
	log *Log
}

// operationsOf converts a history. An operation with an unknown outcome may take effect at any time after its call, so it
// never returns.
func operationsOf(history History) []porcupine.Operation {
	var operations []porcupine.Operation
	recorded := recordedIn(history.Log)
	clients := 0
	add := func(client int, input at, output *Output) {
		clients = max(clients, client+1)
		operations = append(operations, porcupine.Operation{
			ClientId: client, Input: input, Call: input.call, Output: output, Return: input.end,
		})
	}
	for _, operation := range history.Operations {
		end := operation.Return
		if operation.Output == nil {
			end = math.MaxInt64
		}
		add(operation.Client, at{operation.Input, operation.Call, end, recorded, nil}, operation.Output)
	}
	log := history.Log
	add(clients, at{Input{Op: "read"}, log.Call, log.Return, recorded, &log}, nil)
	return operations
}

// races counts the pairs of requests that were under way at the same time, and those of them in which both wanted to
// end the call.
func races(history History) (pairs int, ofAnswers int) {
	sorted := append([]Operation(nil), history.Operations...)
	sort.Slice(sorted, func(a, b int) bool { return sorted[a].Call < sorted[b].Call })
	ends := func(input Input) bool { return input.Op == "resolve" || input.Op == "cancel" }
	for index, earlier := range sorted {
		for _, later := range sorted[index+1:] {
			if later.Call > earlier.Return {
				break
			}
			pairs++
			if ends(earlier.Input) && ends(later.Input) {
				ofAnswers++
			}
		}
	}
	return pairs, ofAnswers
}

// ownDuplicates counts the requests that were answered as duplicates although no other was sent under their ids before.
func ownDuplicates(history History) int {
	count := 0
	for index, operation := range history.Operations {
		if operation.Output == nil || operation.Output.Verdict != "duplicate" {
			continue
		}
		isFirst := true
		for other, earlier := range history.Operations {
			isSame := earlier.Input.Op == operation.Input.Op && earlier.Input.RequestID == operation.Input.RequestID
			isFirst = isFirst && (other == index || !isSame || earlier.Call > operation.Return)
		}
		if isFirst {
			count++
		}
	}
	return count
}

// parse refuses unknown fields: a field that the recorder adds must have a rule here.
func parse(text []byte) (History, error) {
	var history History
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&history)
	return history, err
}

func describe(input at, output *Output) string {
	if input.log != nil {
		text, _ := json.Marshal(input.log)
		return "log: " + string(text)
	}
	asked, _ := json.Marshal(input.Input)
	if output == nil {
		return fmt.Sprintf("%s %s -> unknown", input.Op, asked)
	}
	said, _ := json.Marshal(output)
	return fmt.Sprintf("%s %s -> %s", input.Op, asked, said)
}
