/** The ids of the three plugins, as their plugin.json say. */
export const APP = 'leasewatch-gpu-app';
export const DATASOURCE = 'leasewatch-gpu-datasource';
export const PANEL = 'leasewatch-gpu-efficiency-panel';

/** Where the pages live. */
export const LEASES = `/a/${APP}/leases`;

/** A reference to the data source that the page's picker chose. */
export const CHOSEN = { type: DATASOURCE, uid: '${ds}' };
