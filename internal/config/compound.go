package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// SavePoint asks for a snapshot when Seconds have passed since the last one and
// at least Changes were made.
type SavePoint struct{ Seconds, Changes int64 }

// LimitClass is a class of clients with output limits of their own.
type LimitClass int

// The classes of client-output-buffer-limit.
const (
	LimitNormal LimitClass = iota
	LimitReplica
	LimitPubSub
	limitClasses
)

// limitWords are the words that CONFIG GET prints.
var limitWords = [limitClasses]string{"normal", "slave", "pubsub"}

// BufferLimit is when a client is disconnected for the replies that wait for it;
// 0 is no limit.
type BufferLimit struct {
	Hard    int64 // bytes, at once
	Soft    int64 // bytes, when it lasts
	Seconds int64 // for how long Soft must last
}

const (
	errTooManyAddresses = reason("Too many bind addresses specified.")
	errPrimaryPort      = reason("Invalid master port")
	errScores           = reason("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
	errSave             = reason("Invalid save parameters")
	errPercentileText   = reason("Invalid latency-tracking-info-percentiles parameters")
	errPercentileRange  = reason("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
	errLimitCount       = reason("Wrong number of arguments in buffer limit configuration.")
	errLimitClass       = reason("Invalid client class specified in buffer limit configuration.")
	errLimitNumber      = reason("Error in hard, soft or soft_seconds setting in buffer limit configuration.")
)

// empty reports whether words are no words: an empty value makes one empty word.
func empty(words []string) bool {
	return len(words) == 0 || len(words) == 1 && words[0] == ""
}

// wordsMax bounds the values that are lists.
const wordsMax = 64

func parseWords(words []string) (value, error) {
	const addressesMax = 16
	if empty(words) {
		return value{}, nil
	}
	if len(words) > addressesMax {
		return value{}, errTooManyAddresses
	}
	return value{n: int64(len(words)), text: strings.Join(words, " "), parts: words}, nil
}

func parseHostPort(words []string) (value, error) {
	if empty(words) {
		return value{}, nil
	}
	if len(words) != 2 {
		return value{}, errArguments
	}
	if strings.EqualFold(words[0], "no") && strings.EqualFold(words[1], "one") {
		return value{}, nil
	}
	port, err := parseInt(words[1])
	if err != nil || port < 1 || port > 65535 {
		return value{}, errPrimaryPort
	}
	return value{text: words[0] + " " + words[1], parts: words}, nil
}

func (p *Param) parseIntegers(words []string) (value, error) {
	if len(words) != 3 {
		return value{}, errArguments
	}
	for _, word := range words {
		if n, err := parseInt(word); err != nil || n < p.Min || n > p.Max {
			return value{}, errScores
		}
	}
	return value{text: strings.Join(words, " "), parts: words}, nil
}

func parseSavePoints(words []string) (value, error) {
	if empty(words) {
		return value{}, nil
	}
	if len(words)%2 != 0 || len(words) > 2*wordsMax {
		return value{}, errSave
	}
	var points []SavePoint
	var text []string
	for i := 0; i < len(words); i += 2 {
		seconds, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil || seconds < 1 {
			return value{}, errSave
		}
		changes, err := strconv.ParseInt(words[i+1], 10, 32)
		if err != nil || changes < 0 {
			return value{}, errSave
		}
		points = append(points, SavePoint{seconds, changes})
		text = append(text, strconv.FormatInt(seconds, 10), strconv.FormatInt(changes, 10))
	}
	return value{text: strings.Join(text, " "), parts: points}, nil
}

func parsePercentiles(words []string) (value, error) {
	if empty(words) {
		return value{}, nil
	}
	if len(words) > wordsMax {
		return value{}, errArguments
	}
	var list []float64
	var text []string
	for _, word := range words {
		f, err := strconv.ParseFloat(word, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f) {
			return value{}, errPercentileText
		}
		if f < 0 || f > 100 {
			return value{}, errPercentileRange
		}
		f += 0 // turns a negative zero into zero
		list = append(list, f)
		s := strconv.FormatFloat(f, 'f', 6, 64)
		text = append(text, strings.TrimSuffix(strings.TrimRight(s, "0"), "."))
	}
	return value{text: strings.Join(text, " "), parts: list}, nil
}

// parseBufferLimits replaces the limits of the classes that are named.
func parseBufferLimits(old value, words []string) (value, error) {
	if empty(words) {
		words = nil
	}
	if len(words)%4 != 0 {
		return value{}, errLimitCount
	}
	limits, _ := old.parts.([limitClasses]BufferLimit)
	for ; len(words) > 0; words = words[4:] {
		class, ok := parseLimitClass(words[0])
		if !ok {
			return value{}, errLimitClass
		}
		hard, ok1 := parseMemory(words[1])
		soft, ok2 := parseMemory(words[2])
		seconds, err := strconv.ParseInt(words[3], 10, 32)
		if !ok1 || !ok2 || err != nil || min(hard, soft, seconds) < 0 {
			return value{}, errLimitNumber
		}
		limits[class] = BufferLimit{hard, soft, seconds}
	}
	var text []string
	for class, l := range limits {
		text = append(text, limitWords[class])
		for _, n := range []int64{l.Hard, l.Soft, l.Seconds} {
			text = append(text, strconv.FormatInt(n, 10))
		}
	}
	return value{text: strings.Join(text, " "), parts: limits}, nil
}

func parseLimitClass(word string) (LimitClass, bool) {
	switch strings.ToLower(word) {
	case "normal":
		return LimitNormal, true
	case "replica", "slave":
		return LimitReplica, true
	case "pubsub":
		return LimitPubSub, true
	}
	return 0, false
}
