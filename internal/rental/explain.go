package rental

import (
	"fmt"
	"math/big"
	"strings"
)

// Explain says the verdict's arithmetic in words, so that a reader can redo it with a pencil, in
// English or Chinese ("zh"): "43,200 min in the period - 60 maintenance = 43,140; down 217,
// unknown 0: 99.4969 %, under 99.5".
func (v Verdict) Explain(lang string) string {
	zh := lang == "zh"
	if v.Low.Denominator == 0 {
		return pick(zh, "no time to judge in the period", "本期内没有可判定的时间")
	}
	u := unitFor(zh, v.PeriodMS, v.ExcludedMS, v.DownMS, v.UnknownMS, v.UnmeasuredMS, v.MeasuredDownMS)
	var b strings.Builder
	if len(v.PerGPU) > 1 {
		fmt.Fprintf(&b, pick(zh, "worst of %d cards, %s: ", "%d 张卡中最差的 %s："), len(v.PerGPU), v.Worst)
	}
	whole := pick(zh, "%s %s in the period", "本期 %s %s")
	if v.Denominator == DenominatorLease {
		whole = pick(zh, "%s %s of the lease", "租约时间 %s %s")
	}
	fmt.Fprintf(&b, whole, u.of(v.PeriodMS), u.name)
	if v.Cards > 1 {
		fmt.Fprintf(&b, pick(zh, " over %d cards", "（%d 张卡合计）"), v.Cards)
	}
	if v.ExcludedMS > 0 {
		what := v.excludedWord(zh)
		if v.ExcludedLeaves {
			fmt.Fprintf(&b, " - %s %s = %s", u.of(v.ExcludedMS), what, u.of(v.Low.Denominator))
		} else {
			fmt.Fprintf(&b, pick(zh, " (%s %s stays in)", "（其中 %s %s计入分母）"), u.of(v.ExcludedMS), what)
		}
	}
	fmt.Fprintf(&b, pick(zh, "; down %s, unknown %s: ", "；停机 %s，无数据 %s："), u.of(v.DownMS), u.of(v.UnknownMS))
	b.WriteString(v.explainShare(zh))
	if v.UnmeasuredMS > 0 {
		fmt.Fprintf(&b, pick(zh, "; of the unknown, %s %s could not be measured from the host and count as down under no contract", "；无数据中有 %s %s无法从主机采集，任何合同都不按停机计"),
			u.of(v.UnmeasuredMS), u.name)
	}
	if v.MeasuredDownMS != v.DownMS {
		fmt.Fprintf(&b, pick(zh, "; measured down %s %s, counted by the contract's rule (%s)", "；实测停机 %s %s，按合同规则（%s）计入"),
			u.of(v.MeasuredDownMS), u.name, outageWord(v.OutageRule, zh))
	}
	return b.String()
}

// explainShare says the share against the target; with unknown time, both bounds.
func (v Verdict) explainShare(zh bool) string {
	target := v.Target
	against := func(b Bound) string {
		if b.Under(target) {
			return fmt.Sprintf(pick(zh, "under %s", "低于 %s"), target)
		}
		return fmt.Sprintf(pick(zh, "not under %s", "不低于 %s"), target)
	}
	if v.UnknownMS == 0 {
		return fmt.Sprintf(pick(zh, "%s %%, %s", "%s %%，%s"), v.Low.Percent(target), against(v.Low))
	}
	text := fmt.Sprintf(pick(zh, "at least %s %% (unknown as down, %s), at most %s %% (unknown as up, %s)",
		"最低 %s %%（无数据按停机计，%s），最高 %s %%（无数据按可用计，%s）"),
		v.Low.Percent(target), against(v.Low), v.High.Percent(target), against(v.High))
	if v.UnknownRule == string(Down) && v.Outcome != NotProven {
		return text + pick(zh, "; the contract judges at the low bound", "；合同按最低值判定")
	}
	if v.Outcome == NotProven {
		return text + pick(zh, "; not proven", "；无法证明")
	}
	return text
}

func (v Verdict) excludedWord(zh bool) string {
	words := map[string]string{
		ReasonMaintenance: pick(zh, "maintenance", "维护"),
		ReasonStopped:     pick(zh, "stopped", "停用"),
		ReasonTenant:      pick(zh, "caused by the tenant", "租户原因"),
		ReasonNotAssigned: pick(zh, "no GPU asked for", "未申请 GPU"),
	}
	if len(v.ExcludedBy) == 1 {
		for reason := range v.ExcludedBy {
			if word, ok := words[reason]; ok {
				return word
			}
		}
	}
	return pick(zh, "excluded", "排除")
}

func outageWord(rule string, zh bool) string {
	switch rule {
	case OutageWholeMinutes:
		return pick(zh, "whole minutes of each run", "每次停机按整分钟计")
	case OutageClockMinutes:
		return pick(zh, "clock minutes wholly down", "整个时钟分钟均停机才计")
	default:
		return pick(zh, "minimum outage and flap merge", "最短停机与抖动合并")
	}
}

func pick(zh bool, english, chinese string) string {
	if zh {
		return chinese
	}
	return english
}

// timeUnit is the largest unit in which several lengths are whole numbers.
type timeUnit struct {
	name string
	ms   int64
}

func unitFor(zh bool, lengths ...int64) timeUnit {
	units := []timeUnit{{pick(zh, "min", "分钟"), 60_000}, {pick(zh, "s", "秒"), 1000}, {pick(zh, "ms", "毫秒"), 1}}
	for _, u := range units {
		whole := true
		for _, l := range lengths {
			whole = whole && l%u.ms == 0
		}
		if whole {
			return u
		}
	}
	return units[len(units)-1]
}

func (u timeUnit) of(ms int64) string { return GroupDigits(big.NewInt(ms / u.ms).String()) }
