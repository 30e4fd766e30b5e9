import { DataFrame, FieldType } from '@grafana/data';

/** One lease in the picture. */
export interface LeasePoint {
  lease: string;
  tenant: string;
  currency: string;
  gpus: number;
  /** copy for show, in the lease's currency */
  cost: number;
  /** 0 to 1 */
  utilization: number;
  /** 0 to 1; undefined where nothing was allocated */
  coverage?: number;
}

export interface Points {
  points: LeasePoint[];
  /** leases that cannot be placed because their use was not measured */
  unmeasured: string[];
  currencies: string[];
}

/** Reads the frames of a "leases" query; frames of another shape are passed over. */
export function readPoints(frames: DataFrame[]): Points {
  const points: LeasePoint[] = [];
  const unmeasured: string[] = [];
  for (const frame of frames) {
    const column = (name: string, type: FieldType) => frame.fields.find((f) => f.name === name && f.type === type)?.values;
    const lease = column('lease', FieldType.string);
    const cost = column('cost', FieldType.number);
    const utilization = column('utilization', FieldType.number);
    if (!lease || !cost || !utilization) {
      continue;
    }
    const tenant = column('tenant', FieldType.string);
    const currency = column('currency', FieldType.string);
    const gpus = column('gpus', FieldType.number);
    const coverage = column('coverage', FieldType.number);
    for (let i = 0; i < frame.length; i++) {
      if (utilization[i] == null || cost[i] == null) {
        unmeasured.push(lease[i]);
        continue;
      }
      points.push({
        lease: lease[i],
        tenant: tenant?.[i] ?? '',
        currency: currency?.[i] ?? '',
        gpus: gpus?.[i] ?? 1,
        cost: cost[i],
        utilization: utilization[i],
        coverage: coverage?.[i] ?? undefined,
      });
    }
  }
  return { points, unmeasured, currencies: [...new Set(points.map((p) => p.currency))].sort() };
}

/** The middle cost of the points of one currency; waste is judged against it. */
export function medianCost(points: LeasePoint[]): number {
  const costs = points.map((p) => p.cost).sort((a, b) => a - b);
  const middle = Math.floor(costs.length / 2);
  return costs.length === 0 ? 0 : costs.length % 2 ? costs[middle] : (costs[middle - 1] + costs[middle]) / 2;
}

export function isWaste(point: LeasePoint, wasteBelow: number, middleCost: number): boolean {
  return point.utilization < wasteBelow && point.cost >= middleCost;
}
