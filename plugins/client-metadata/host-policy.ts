import type { HostPolicy, Settings } from './options.ts'

/** Returns what clients of a host can do. */
export type PolicyOf = (hostname: string) => HostPolicy

const fits = (pattern: string, hostname: string): boolean =>
  pattern.startsWith('*.') ? hostname.endsWith(pattern.slice(1)) : hostname === pattern

export const createPolicyOf =
  ({ hosts, otherHosts }: Pick<Settings, 'hosts' | 'otherHosts'>): PolicyOf =>
  (hostname) =>
    // A final dot names the same host.
    hosts.find(({ host }) => fits(host, hostname.replace(/\.$/u, '')))?.policy ?? otherHosts
