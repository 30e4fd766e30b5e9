export interface PanelOptions {
  /** utilisation under which a lease counts as waste, 0 to 1 */
  wasteBelow: number;
  labels: boolean;
  /** address of a lease's page, with ${lease} */
  leaseLink: string;
}
