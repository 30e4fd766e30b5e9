import { useId, useMemo, useState } from 'react';
import { PanelProps, textUtil } from '@grafana/data';
import { useTheme2 } from '@grafana/ui';
import { isWaste, LeasePoint, medianCost, readPoints } from './points';
import { PanelOptions } from './options';

const MARGIN = { top: 12, right: 28, bottom: 44, left: 76 };
/** Okabe-Ito, told apart by colour-blind eyes; one a currency. */
const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00'];

/** A step of 1, 2 or 5 times a power of ten that gives about five marks. */
export function niceStep(max: number): number {
  if (!(max > 0)) {
    return 1;
  }
  const rough = max / 5;
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const factor = [1, 2, 5, 10].find((f) => f * power >= rough) ?? 10;
  return factor * power;
}

export function EfficiencyPanel({ data, width, height, options }: PanelProps<PanelOptions>) {
  const theme = useTheme2();
  const hatch = useId();
  const [active, setActive] = useState<string>();
  const { points, unmeasured, currencies } = useMemo(() => readPoints(data.series), [data.series]);

  if (points.length === 0) {
    return (
      <div role="note" style={{ padding: theme.spacing(2) }}>
        {unmeasured.length > 0
          ? `Use was not measured for ${unmeasured.join(', ')}: without it a lease has no place here.`
          : 'No lease in this span. The panel shows the query type "Leases" of the Leasewatch data source.'}
      </div>
    );
  }

  const plotWidth = Math.max(width - MARGIN.left - MARGIN.right, 10);
  const plotHeight = Math.max(height - MARGIN.top - MARGIN.bottom, 10);
  const step = niceStep(Math.max(...points.map((p) => p.cost)));
  const top = step * Math.max(1, Math.ceil(Math.max(...points.map((p) => p.cost)) / step));
  const x = (utilization: number) => MARGIN.left + Math.min(Math.max(utilization, 0), 1) * plotWidth;
  const y = (cost: number) => MARGIN.top + (1 - cost / top) * plotHeight;
  const middle = new Map(currencies.map((c) => [c, medianCost(points.filter((p) => p.currency === c))]));
  // Waste reaches down to the middle cost; several currencies have several, so it is half the picture.
  const wasteHeight = (currencies.length === 1 ? y(middle.get(currencies[0]) ?? 0) : MARGIN.top + plotHeight / 2) - MARGIN.top;
  const radius = (p: LeasePoint) => 4 + 3 * Math.sqrt(p.gpus);
  const grid = theme.colors.border.weak;
  const text = theme.colors.text.secondary;
  const axis = currencies.length === 1 ? `Cost, ${currencies[0]}` : 'Cost, each in its own currency';
  const marks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);

  return (
    <svg width={width} height={height} role="group" aria-label="Leases by cost against utilisation" fontSize={12}>
      <defs>
        <pattern id={hatch} width="8" height="8" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">
          <line x1="0" y1="0" x2="0" y2="8" stroke={theme.colors.text.disabled} strokeWidth="1.5" opacity="0.5" />
        </pattern>
      </defs>
      {marks.map((mark) => (
        <g key={mark}>
          <line x1={MARGIN.left} x2={MARGIN.left + plotWidth} y1={y(mark)} y2={y(mark)} stroke={grid} />
          <text x={MARGIN.left - 8} y={y(mark) + 4} textAnchor="end" fill={text} style={{ fontVariantNumeric: 'tabular-nums' }}>
            {mark.toLocaleString('en-US', { maximumFractionDigits: 2 })}
          </text>
        </g>
      ))}
      {[0, 0.25, 0.5, 0.75, 1].map((mark) => (
        <text key={mark} x={x(mark)} y={MARGIN.top + plotHeight + 16} textAnchor="middle" fill={text}>
          {`${mark * 100} %`}
        </text>
      ))}
      <rect
        x={MARGIN.left}
        y={MARGIN.top}
        width={plotWidth * options.wasteBelow}
        height={wasteHeight}
        fill={`url(#${hatch})`}
        stroke={theme.colors.border.medium}
        strokeDasharray="4 4"
      />
      <text x={MARGIN.left + 8} y={MARGIN.top + wasteHeight + 16} fill={theme.colors.text.primary}>
        Waste: dear and little used
      </text>
      <text x={MARGIN.left + plotWidth / 2} y={height - 8} textAnchor="middle" fill={text}>
        Utilisation of measured time
      </text>
      <text transform={`translate(14 ${MARGIN.top + plotHeight / 2}) rotate(-90)`} textAnchor="middle" fill={text}>
        {axis}
      </text>
      {points.map((p) => (
        <Point
          key={p.lease}
          point={p}
          cx={x(p.utilization)}
          cy={y(p.cost)}
          r={radius(p)}
          colour={COLOURS[currencies.indexOf(p.currency) % COLOURS.length]}
          waste={isWaste(p, options.wasteBelow, middle.get(p.currency) ?? 0)}
          named={options.labels || active === p.lease}
          ink={theme.colors.text.primary}
          link={linkOf(p, options.leaseLink)}
          onActive={(on) => setActive(on ? p.lease : undefined)}
        />
      ))}
      {unmeasured.length > 0 && (
        <text x={MARGIN.left + plotWidth} y={MARGIN.top + 14} textAnchor="end" fill={text}>
          {`not measured: ${unmeasured.join(', ')}`}
        </text>
      )}
    </svg>
  );
}

/** The address of a lease's page; one that would run a script leads nowhere. */
function linkOf(point: LeasePoint, leaseLink: string): string | undefined {
  if (!leaseLink || textUtil.sanitizeUrl(leaseLink) === 'about:blank') {
    return undefined;
  }
  return leaseLink.replaceAll('${lease}', encodeURIComponent(point.lease));
}

interface PointProps {
  point: LeasePoint;
  cx: number;
  cy: number;
  r: number;
  colour: string;
  waste: boolean;
  named: boolean;
  ink: string;
  link?: string;
  onActive: (on: boolean) => void;
}

function Point({ point, cx, cy, r, colour, waste, named, ink, link, onActive }: PointProps) {
  const seen = point.coverage === undefined ? 'coverage unknown' : `${(point.coverage * 100).toFixed(1)} % seen`;
  const title =
    `${point.lease} (${point.tenant}), ${point.gpus} GPUs: ${point.cost.toFixed(2)} ${point.currency}, ` +
    `${(point.utilization * 100).toFixed(1)} % used, ${seen}${waste ? ', waste' : ''}`;
  const mark = (
    <g
      role="img"
      aria-label={title}
      tabIndex={link ? undefined : 0}
      onFocus={() => onActive(true)}
      onBlur={() => onActive(false)}
      onMouseEnter={() => onActive(true)}
      onMouseLeave={() => onActive(false)}
    >
      <title>{title}</title>
      <circle cx={cx} cy={cy} r={r} fill={colour} fillOpacity={0.35 + 0.5 * (point.coverage ?? 0)} stroke={colour} strokeWidth={waste ? 3 : 1.5} />
      {waste && <path d={`M${cx - r / 2} ${cy - r / 2}L${cx + r / 2} ${cy + r / 2}M${cx + r / 2} ${cy - r / 2}L${cx - r / 2} ${cy + r / 2}`} stroke={ink} strokeWidth={1.5} />}
      {named && (
        <text x={cx + r + 4} y={cy + 4} fill={ink}>
          {point.lease}
        </text>
      )}
    </g>
  );
  return link ? <a href={link}>{mark}</a> : mark;
}
