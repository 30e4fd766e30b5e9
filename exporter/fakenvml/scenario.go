package fakenvml

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Return codes of NVML, as nvml.h numbers them, for Return.
const (
	Success          = 0
	Uninitialized    = 1
	InvalidArgument  = 2
	NotSupported     = 3
	NoPermission     = 4
	NotFound         = 6
	DriverNotLoaded  = 9
	CorruptedInfoROM = 14
	GPUIsLost        = 15
	ResetRequired    = 16
	VersionMismatch  = 18 // library and kernel driver
	ArgumentVersion  = 25
	UnknownError     = 999
	Forever          = time.Duration(-1) // for Delay: hangs until the scenario says otherwise
)

// Scenario is what the fake driver is to answer: settings that Write turns into its file.
// Setters change the scenario and return it.
type Scenario struct {
	keys   []string // in the order of their first setting
	values map[string]string
	events []string
	hidden []string
}

// New returns a scenario of a host without GPUs.
func New() *Scenario {
	return (&Scenario{values: map[string]string{}}).
		Set("driver.version", "550.54.15").
		Set("driver.nvml", "12.550.54.15").
		Set("driver.cuda", 12040).
		Set("device_count", 0)
}

// Set sets one key of the scenario file; testdata/fakenvml/README.md lists them.
func (s *Scenario) Set(key string, value any) *Scenario {
	if _, known := s.values[key]; !known {
		s.keys = append(s.keys, key)
	}
	s.values[key] = fmt.Sprint(value)
	return s
}

// Unset removes a key.
func (s *Scenario) Unset(key string) *Scenario {
	delete(s.values, key)
	for i, k := range s.keys {
		if k == key {
			s.keys = append(s.keys[:i:i], s.keys[i+1:]...)
			break
		}
	}
	return s
}

// DeviceCount lists the GPUs 0 to n-1.
func (s *Scenario) DeviceCount(n int) *Scenario {
	return s.Unset("order").Set("device_count", n)
}

// Order lists these GPUs instead, in this order.
func (s *Scenario) Order(gpus ...int) *Scenario {
	texts := make([]string, len(gpus))
	for i, g := range gpus {
		texts[i] = fmt.Sprint(g)
	}
	return s.Set("order", strings.Join(texts, ","))
}

// Return makes a function answer with a code for all GPUs; "driver" stands for every function.
func (s *Scenario) Return(function string, code int) *Scenario {
	return s.Set(function+".return", code)
}

// Delay makes a function take that long for all GPUs; "driver" stands for every function.
func (s *Scenario) Delay(function string, d time.Duration) *Scenario {
	return s.Set(function+".delay_ms", milliseconds(d))
}

// Event adds an XID event of a GPU.
func (s *Scenario) Event(gpu int, xid uint64) *Scenario {
	s.events = append(s.events, fmt.Sprintf("%d gpu=%d xid=%d", len(s.events)+1, gpu, xid))
	return s
}

// Without leaves functions out of the library that Install builds.
func (s *Scenario) Without(functions ...string) *Scenario {
	s.hidden = append(s.hidden, functions...)
	return s
}

// Hidden returns the functions that Without named.
func (s *Scenario) Hidden() []string { return s.hidden }

// GPU gives access to the settings of one GPU.
func (s *Scenario) GPU(index int) Card {
	return Card{scenario: s, prefix: fmt.Sprintf("gpu.%d.", index)}
}

// Text returns the scenario file.
func (s *Scenario) Text() string {
	var b strings.Builder
	for _, key := range s.keys {
		fmt.Fprintf(&b, "%s = %s\n", key, s.values[key])
	}
	for _, event := range s.events {
		fmt.Fprintf(&b, "event = %s\n", event)
	}
	return b.String()
}

// Write replaces the scenario file in one step; the library sees it within some 10 ms.
func (s *Scenario) Write(path string) error {
	fresh, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return fmt.Errorf("scenario file: %w", err)
	}
	_, err = fresh.WriteString(s.Text())
	if closeErr := fresh.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("scenario file %s: %w", path, err)
	}
	return nil
}

// Card is one GPU of a scenario.
type Card struct {
	scenario *Scenario
	prefix   string
}

// Set sets a number or text of the GPU: "power_mw", "uuid", "ecc.corrected.volatile.dram".
func (c Card) Set(key string, value any) Card {
	c.scenario.Set(c.prefix+key, value)
	return c
}

// Unset makes a number unsupported, or takes a return code or a delay back.
func (c Card) Unset(key string) Card {
	c.scenario.Unset(c.prefix + key)
	return c
}

// Return makes one function of the GPU answer with a code; "" stands for every function.
func (c Card) Return(function string, code int) Card {
	return c.Set(join(function, "return"), code)
}

// Delay makes one function of the GPU take that long; "" stands for every function.
func (c Card) Delay(function string, d time.Duration) Card {
	return c.Set(join(function, "delay_ms"), milliseconds(d))
}

// Lost makes every call of the GPU answer "GPU is lost".
func (c Card) Lost() Card { return c.Return("", GPUIsLost) }

// Heal takes Lost and a Return for every function back, as after a reset: handles from before
// stay lost.
func (c Card) Heal(generation int) Card {
	return c.Unset("return").Unset("delay_ms").Set("generation", generation)
}

func join(function, what string) string {
	if function == "" {
		return what
	}
	return function + "." + what
}

func milliseconds(d time.Duration) int64 {
	if d == Forever {
		return -1
	}
	return d.Milliseconds()
}
