import { isDeepStrictEqual } from 'node:util'
import type { CheckedConfiguration } from '../configuration/schema.ts'

/**
 * The members that a running process cannot change: they belong to the storage, whose connections and, in memory, whose
 * tokens would be lost, to the listeners, or to everything that was issued (`issuer`).
 */
const fixed = [
  'issuer',
  'storage',
  'tls',
  'trustedProxies',
  'clientCertificate',
  'maxRequests',
  'maxBodies',
  'maxConnections',
  'idleTimeout',
  'metrics',
] as const satisfies readonly (keyof CheckedConfiguration)[]

/** What of `tenants` a running process cannot change: requests are routed by it. */
const fixedOf = ({ tenants }: CheckedConfiguration): unknown => tenants && { ...tenants, list: undefined }

/** Returns the paths of the members that differ, and that only a restart can change. */
export function restartOnly(before: CheckedConfiguration, after: CheckedConfiguration): readonly string[] {
  const members = fixed.filter((member) => !isDeepStrictEqual(before[member], after[member]))
  const nested = [
    ...(isDeepStrictEqual(fixedOf(before), fixedOf(after)) ? [] : ['tenants, except for tenants.list']),
    ...(before.log.format === after.log.format ? [] : ['log.format']),
  ]
  return [...members, ...nested]
}
