import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const FOLDER = 'deploy/observability';

/** A query of a panel. */
interface Target {
  readonly refId: string;
  readonly expr: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: ReadonlyArray<{ readonly expr: string }> };
  readonly templating: { readonly list: ReadonlyArray<{ readonly name: string; readonly definition?: string }> };
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const ALERTS_FILE = `${FOLDER}/alerts.yaml`;

export function readYaml(name: string): unknown {
  return parse(readFileSync(`${FOLDER}/${name}`, 'utf8'));
}

export const DASHBOARD = JSON.parse(readFileSync(`${FOLDER}/dashboard.json`, 'utf8')) as Dashboard;

const RULES = readYaml('alerts.yaml') as { readonly groups: ReadonlyArray<{ readonly rules: readonly AlertRule[] }> };

export const ALERTS = RULES.groups.flatMap(({ rules }) => rules);

/** The queries of all panels, by the title of the panel. */
export const PANEL_QUERIES: ReadonlyArray<readonly [title: string, query: string]> = DASHBOARD.panels.flatMap((panel) =>
  (panel.targets ?? []).map(({ expr, refId }) => [`${panel.title} ${refId}`, expr] as const),
);
