import { createDataFrame, FieldType } from '@grafana/data';
import { isWaste, LeasePoint, medianCost, readPoints } from './points';

const frame = createDataFrame({
  fields: [
    { name: 'lease', type: FieldType.string, values: ['train', 'idle', 'dark'] },
    { name: 'tenant', type: FieldType.string, values: ['acme', 'acme', 'acme'] },
    { name: 'currency', type: FieldType.string, values: ['USD', 'EUR', 'USD'] },
    { name: 'gpus', type: FieldType.number, values: [8, 2, 1] },
    { name: 'cost', type: FieldType.number, values: [100, 50, 10] },
    { name: 'utilization', type: FieldType.number, values: [0.7, 0.1, null] },
    { name: 'coverage', type: FieldType.number, values: [0.98, null, 0] },
  ],
});

describe('readPoints', () => {
  it('makes a point of every lease whose use was measured, and names the others', () => {
    const { points, unmeasured, currencies } = readPoints([frame]);
    expect(points).toEqual([
      { lease: 'train', tenant: 'acme', currency: 'USD', gpus: 8, cost: 100, utilization: 0.7, coverage: 0.98 },
      { lease: 'idle', tenant: 'acme', currency: 'EUR', gpus: 2, cost: 50, utilization: 0.1, coverage: undefined },
    ]);
    expect(unmeasured).toEqual(['dark']);
    expect(currencies).toEqual(['EUR', 'USD']);
  });

  it('passes over frames of another shape', () => {
    const other = createDataFrame({ fields: [{ name: 'lease', type: FieldType.number, values: [1] }] });
    expect(readPoints([other])).toEqual({ points: [], unmeasured: [], currencies: [] });
  });

  it('takes a use of zero for measured', () => {
    const zero = createDataFrame({
      fields: [
        { name: 'lease', type: FieldType.string, values: ['a'] },
        { name: 'cost', type: FieldType.number, values: [0] },
        { name: 'utilization', type: FieldType.number, values: [0] },
      ],
    });
    expect(readPoints([zero]).points).toHaveLength(1);
  });
});

describe('waste', () => {
  const point = (cost: number, utilization: number): LeasePoint => ({
    lease: 'l', tenant: 't', currency: 'USD', gpus: 1, cost, utilization,
  });

  it('is dear and little used, judged against the middle cost', () => {
    expect(medianCost([point(1, 0), point(9, 0), point(3, 0)])).toBe(3);
    expect(medianCost([point(1, 0), point(3, 0)])).toBe(2);
    expect(medianCost([])).toBe(0);
    expect(isWaste(point(3, 0.49), 0.5, 3)).toBe(true);
    expect(isWaste(point(3, 0.5), 0.5, 3)).toBe(false);
    expect(isWaste(point(2.9, 0.1), 0.5, 3)).toBe(false);
  });
});
