import { isLoopbackHost } from '@grantry/core'
import type { StorageConfiguration } from '../configuration/storage/storage-drivers.ts'
import { localPort } from '../local-address.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'
import { crossesInPlainText } from './plain-text.ts'

/** Seconds by which clocks may differ. More is a problem, because JWTs are valid from the moment they are issued. */
const maxClockSkew = 2

/** Checks the clients and scopes that administrators have added. */
export const checkStoredEntries: Check = ({ storedProblems }) =>
  storedProblems.map(({ where, reason }) => finding('stored-entry-invalid', where, reason))

/** Returns the hosts of the storage to which a connection is not encrypted. A module can set TLS in ways that this does not see. */
function addressesInPlainText(storage: StorageConfiguration): readonly string[] {
  if (storage.driver === 'postgresql') return crossesInPlainText(storage) ? [new URL(storage.url).host] : []
  if (storage.driver !== 'redis') return []
  const urls = [storage.url ?? [], storage.cluster ?? []].flat().map((url) => new URL(url))
  const hosts = urls.filter(({ protocol }) => protocol === 'redis:').map(({ host }) => host)
  // Sentinels have no setting for TLS.
  return [...hosts, ...(storage.sentinels ?? []).map(({ host }) => host)].filter(
    (host) => !isLoopbackHost(host.replace(/:\d+$/u, '')),
  )
}

/** Checks whether the storage is reachable and keeps the records that single use depends on. */
export const checkStorage: Check = ({ configuration, store }) => {
  const { storage, issuer } = configuration
  const findings: Finding[] = []
  if (storage.driver === 'memory' && localPort(issuer) === undefined) {
    findings.push(
      finding(
        'store-forgets',
        'storage.driver',
        'Codes, tokens and revocations are lost when the process ends, and only one process can serve requests',
      ),
    )
  }
  if (storage.driver === 'filesystem' && !storage.fsync) {
    findings.push(
      finding('store-without-fsync', 'storage.fsync', 'A power failure can lose the records of completed requests'),
    )
  }
  if (storage.driver === 'sqlite' && storage.synchronous === 'normal') {
    findings.push(
      finding(
        'store-without-fsync',
        'storage.synchronous',
        'A power failure can lose the records of completed requests',
      ),
    )
  }
  if (storage.driver === 'postgresql' && storage.durability === 'relaxed') {
    findings.push(
      finding('store-without-fsync', 'storage.durability', 'A crash can lose the records of completed requests'),
    )
  }
  if (storage.driver === 'redis' && storage.url === undefined && storage.waitReplicas === 0) {
    findings.push(
      finding(
        'store-without-replicas',
        'storage.waitReplicas',
        'Writes do not wait for replicas: after a failover, a code or token that was just redeemed can be redeemed again',
      ),
    )
  }
  const unencrypted = addressesInPlainText(storage)
  if (unencrypted.length > 0) {
    const reason = `Tokens, codes and the password of the storage cross the network in plain text, to ${unencrypted.join(', ')}`
    findings.push(finding('store-unencrypted', 'storage', reason))
  }
  if (!store.reachable) {
    if (/^keys\b/u.test(store.reason)) return [...findings, finding('keys-unreadable', 'keys', store.reason)]
    const id = store.reason.includes('maxmemory-policy') ? 'store-evicts' : 'store-unusable'
    return [...findings, finding(id, 'storage', store.reason)]
  }
  if (store.hasAsynchronousReplicas) {
    findings.push(
      finding(
        'store-asynchronous-replicas',
        'storage',
        'PostgreSQL does not wait for its replicas: after a failover, a code or token that was just redeemed can be redeemed again',
      ),
    )
  }
  if (store.clockAhead !== undefined && Math.abs(store.clockAhead) > maxClockSkew) {
    const seconds = Math.abs(Math.round(store.clockAhead))
    const way = store.clockAhead > 0 ? 'ahead of' : 'behind'
    findings.push(
      finding(
        'store-clock',
        'storage',
        `Its clock is ${seconds} s ${way} the clock of this machine`,
        seconds > 30 ? 'error' : 'warning',
      ),
    )
  }
  return findings
}
