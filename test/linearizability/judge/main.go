// judge reads recorded histories of waiting calls, and says of each whether its replies are linearizable.
//
//	judge plants <folder>             every bad-*.json must be illegal, every good-*.json legal
//	judge histories <file> <folder>   one history a line; writes each illegal one to the folder, and prints a summary
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const patience = 30 * time.Second

// A Summary is printed as JSON.
type Summary struct {
	Judged  int       `json:"judged"`
	Illegal []Illegal `json:"illegal"`
	// Undecided has the ids of histories that took too long to judge.
	Undecided []string `json:"undecided"`
	// Raced counts histories in which two requests at least were under way at the same time; Contested those in which
	// two of them wanted to end the call.
	Raced     int `json:"raced"`
	Contested int `json:"contested"`
	Pairs     int `json:"pairs"`
	// OwnDuplicates counts answers that are duplicates of themselves.
	OwnDuplicates int `json:"ownDuplicates"`
}

// Illegal is a history that no order of its operations explains.
type Illegal struct {
	// Path has no extension: the history is in .json, its drawing in .html.
	Path string `json:"path"`
	// Suspects are single operations without which the history would be legal.
	Suspects []string `json:"suspects"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 && args[0] == "plants" {
		return checkPlants(args[1])
	}
	if len(args) == 3 && args[0] == "histories" {
		summary, err := judgeAll(args[1], args[2])
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(summary)
	}
	return errors.New("usage: judge plants <folder> | judge histories <file> <folder>")
}

func judge(history History) (porcupine.CheckResult, porcupine.LinearizationInfo) {
	return porcupine.CheckOperationsVerbose(modelOf(history), operationsOf(history), patience)
}

// checkPlants fails when a planted history gets the wrong judgement, or none is there.
func checkPlants(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	seen := map[string]int{}
	for _, file := range files {
		history, err := readHistory(file)
		if err != nil {
			return err
		}
		name := filepath.Base(file)
		kind, _, _ := strings.Cut(name, "-")
		want, isKnown := map[string]porcupine.CheckResult{"good": porcupine.Ok, "bad": porcupine.Illegal}[kind]
		if !isKnown {
			return fmt.Errorf("%s is neither good- nor bad-", name)
		}
		if result, _ := judge(history); result != want {
			return fmt.Errorf("%s was judged %s", name, result)
		}
		seen[kind]++
		fmt.Printf("%s: %s, as it must be\n", name, want)
	}
	if seen["good"] == 0 || seen["bad"] < 3 {
		return fmt.Errorf("%s has too few planted histories", folder)
	}
	return nil
}

func readHistory(file string) (History, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return History{}, err
	}
	history, err := parse(text)
	if err != nil {
		return history, fmt.Errorf("%s: %w", file, err)
	}
	return history, nil
}

func judgeAll(file, folder string) (Summary, error) {
	summary := Summary{Illegal: []Illegal{}, Undecided: []string{}}
	input, err := os.Open(file)
	if err != nil {
		return summary, err
	}
	defer input.Close()
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		history, err := parse(lines.Bytes())
		if err != nil {
			return summary, fmt.Errorf("line %d: %w", summary.Judged+1, err)
		}
		if err := summary.add(history, folder); err != nil {
			return summary, err
		}
	}
	return summary, lines.Err()
}

func (summary *Summary) add(history History, folder string) error {
	summary.Judged++
	pairs, ofAnswers := races(history)
	summary.Pairs += pairs
	summary.OwnDuplicates += ownDuplicates(history)
	if pairs > 0 {
		summary.Raced++
	}
	if ofAnswers > 0 {
		summary.Contested++
	}
	result, info := judge(history)
	if result == porcupine.Unknown {
		summary.Undecided = append(summary.Undecided, history.ID)
	}
	if result != porcupine.Illegal {
		return nil
	}
	path := filepath.Join(folder, strings.ReplaceAll(history.ID, "/", "-"))
	summary.Illegal = append(summary.Illegal, Illegal{Path: path, Suspects: suspectsIn(history)})
	text, err := json.MarshalIndent(history, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".json", text, 0o644); err != nil {
		return err
	}
	return porcupine.VisualizePath(modelOf(history), info, path+".html")
}

func suspectsIn(history History) []string {
	suspects := []string{}
	operations := operationsOf(history)
	for index, operation := range operations {
		others := append(append([]porcupine.Operation(nil), operations[:index]...), operations[index+1:]...)
		if porcupine.CheckOperationsTimeout(modelOf(history), others, patience) == porcupine.Ok {
			suspects = append(suspects, describe(operation.Input.(at), operation.Output.(*Output)))
		}
	}
	return suspects
}
