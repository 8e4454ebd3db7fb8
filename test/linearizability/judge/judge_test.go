package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

func planted(t *testing.T, name string) History {
	t.Helper()
	history, err := readHistory(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return history
}

func isLegal(history History) bool {
	result, _ := judge(history)
	return result == porcupine.Ok
}

func TestPlantedHistoriesAreJudgedByTheirNames(t *testing.T) {
	if err := checkPlants("testdata"); err != nil {
		t.Error(err)
	}
}

func TestABadHistoryIsLegalOnceItsFaultIsMended(t *testing.T) {
	mends := map[string]func(*History){
		"bad-two-accepted-answers": func(history *History) {
			history.Operations[1].Output = &Output{Verdict: "stale", Why: "already_resolved", Status: "running", By: "ann"}
			history.Log.Entries = history.Log.Entries[:1]
		},
		"bad-duplicate-of-another-answer": func(history *History) { history.Operations[1].Output.Seq = 6 },
		"bad-accepted-after-cancel": func(history *History) {
			history.Operations[1].Output = &Output{Verdict: "stale", Why: "already_resolved", Status: "cancelled", By: "ann"}
			history.Log = Log{Call: history.Log.Call, Return: history.Log.Return, Entries: history.Log.Entries[:1], Results: []string{"cancelled"}}
		},
		"bad-two-holders":   func(history *History) { history.Operations[0].Input.LeaseMs = 40 },
		"bad-second-effect": func(history *History) { history.Log.Effects = 1 },
		"bad-lost-extension": func(history *History) {
			history.Operations[1].Output.DeadlineMs += 1_000
			history.Log.Entries[1].DeadlineMs += 1_000
			history.Log.Entries[1].PreviousMs += 1_000
		},
	}
	files, _ := filepath.Glob("testdata/bad-*.json")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		history := planted(t, name)
		mend, isThere := mends[name]
		if !isThere {
			t.Fatalf("no mend for %s", name)
		}
		if mend(&history); !isLegal(history) {
			t.Errorf("%s is illegal for another reason", name)
		}
	}
}

// Each reply of a good history is changed in one way at a time.
func TestEveryChangedReplyOfAGoodHistoryIsRejected(t *testing.T) {
	changes := map[string]func(*Output) bool{
		"another verdict": func(output *Output) bool {
			other := map[string]string{"accepted": "stale", "cancelled": "nothing_to_cancel"}
			if output.Verdict = other[output.Verdict]; output.Verdict == "" {
				output.Verdict = "accepted"
			}
			return true
		},
		"another seq":      func(output *Output) bool { output.Seq += 100; return output.Seq > 100 },
		"another actor":    func(output *Output) bool { output.By += "x"; return output.By != "x" },
		"another claim":    func(output *Output) bool { output.ClaimID += "x"; return output.ClaimID != "x" },
		"another deadline": func(output *Output) bool { output.DeadlineMs++; return output.DeadlineMs > 1 },
	}
	files, _ := filepath.Glob("testdata/good-*.json")
	changed := 0
	for _, file := range files {
		history := planted(t, strings.TrimSuffix(filepath.Base(file), ".json"))
		for index, operation := range history.Operations {
			if operation.Output == nil {
				continue
			}
			for name, change := range changes {
				other := *operation.Output
				if !change(&other) {
					continue
				}
				changed++
				bad := history
				bad.Operations = append([]Operation(nil), history.Operations...)
				bad.Operations[index].Output = &other
				if isLegal(bad) {
					t.Errorf("%s: %s in the reply of operation %d is accepted", history.ID, name, index)
				}
			}
		}
	}
	if changed < 40 {
		t.Errorf("only %d replies were changed", changed)
	}
}

func TestTheLogMustHaveWhatWasAccepted(t *testing.T) {
	for name, change := range map[string]func(*Log){
		"a lost answer":    func(log *Log) { log.Entries = log.Entries[:len(log.Entries)-1] },
		"a second answer":  func(log *Log) { log.Entries = append(log.Entries, Entry{Kind: "resolution", Seq: 99}) },
		"another answer":   func(log *Log) { log.Entries[len(log.Entries)-1].Content = `{"type":"deny"}` },
		"two results":      func(log *Log) { log.Results = append(log.Results, "ok") },
		"no effect":        func(log *Log) { log.Effects = 0 },
		"a reverted order": func(log *Log) { log.Entries[0], log.Entries[1] = log.Entries[1], log.Entries[0] },
	} {
		history := planted(t, "good-approval")
		if change(&history.Log); isLegal(history) {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestALostReplyExplainsBothOutcomes(t *testing.T) {
	history := planted(t, "good-approval")
	// The approval took effect, although its reply was lost; so did a request that never did.
	history.Operations = append(history.Operations, Operation{
		Client: 3, Call: 1, Return: 2, Input: Input{Op: "extend", RequestID: "e9", Actor: "cy", ByMs: 5},
	})
	if !isLegal(history) {
		t.Error("a lost request without effect is not explained")
	}
}

func TestAnAnswerMayBeADuplicateOfItselfUnderAnIDOfItsSender(t *testing.T) {
	history := planted(t, "bad-second-effect")
	history.Log.Effects = 1
	history.Operations[0].Output.Verdict = "duplicate"
	if !isLegal(history) || ownDuplicates(history) != 1 {
		t.Error("it is not found, or not allowed")
	}
	history.Operations[0].Input.RequestID = ""
	if isLegal(history) {
		t.Error("it is allowed without an id")
	}
}

func TestARecordedRenewalIsNotRememberedUnderItsID(t *testing.T) {
	renewed := Entry{Kind: "claimed", Seq: 5, RequestID: "k", Actor: "ann", ClaimID: "claim_4", Renewal: true}
	input := at{Input: Input{Op: "claim", RequestID: "k", Actor: "ann"}}
	if (state{entries: []Entry{renewed}}).newest("claimed", input) != nil {
		t.Error("the renewal is remembered")
	}
	renewed.Renewal = false
	if (state{entries: []Entry{renewed}}).newest("claimed", input) == nil {
		t.Error("the claim is not remembered")
	}
}

func TestRacesAreCounted(t *testing.T) {
	pairs, ofAnswers := races(planted(t, "good-approval"))
	if pairs != 3 || ofAnswers != 2 {
		t.Errorf("%d pairs, %d of answers", pairs, ofAnswers)
	}
}
