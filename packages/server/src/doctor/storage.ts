import { localPort } from '../local-address.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** Seconds by which clocks may differ before somebody notices: JWTs begin at once. */
const tolerated = 2

/** Whether the storage keeps what single use rests on. */
export const checkStorage: Check = ({ configuration, store }) => {
  const { storage, issuer } = configuration
  const findings: Finding[] = []
  if (storage.driver === 'memory' && localPort(issuer) === undefined) {
    findings.push(
      finding(
        'store-forgets',
        'storage.driver',
        'Codes, tokens and revocations are gone when the process ends, and one process only can serve',
      ),
    )
  }
  if (storage.driver === 'filesystem' && !storage.fsync) {
    findings.push(
      finding('store-without-fsync', 'storage.fsync', 'What was answered before a power cut may be forgotten'),
    )
  }
  if (storage.driver === 'redis' && storage.url === undefined && storage.waitReplicas === 0) {
    findings.push(
      finding(
        'store-without-replicas',
        'storage.waitReplicas',
        'There is a failover and nobody waits for replicas: what was redeemed a moment before can be redeemed again after it',
      ),
    )
  }
  if (!store.reachable) {
    if (/^keys\b/u.test(store.reason)) return [...findings, finding('keys-unreadable', 'keys', store.reason)]
    const id = store.reason.includes('maxmemory-policy') ? 'store-evicts' : 'store-unusable'
    return [...findings, finding(id, 'storage', store.reason)]
  }
  if (!store.counts && configuration.abuseControl.enabled) {
    findings.push(
      finding(
        'store-without-counter',
        'storage',
        `The driver ${store.driver.name} cannot count atomically, and abuse control is on`,
      ),
    )
  }
  if (store.clockAhead !== undefined && Math.abs(store.clockAhead) > tolerated) {
    const seconds = Math.abs(Math.round(store.clockAhead))
    const way = store.clockAhead > 0 ? 'ahead of' : 'behind'
    findings.push(
      finding(
        'store-clock',
        'storage',
        `Its clock is ${seconds} s ${way} that of this machine`,
        seconds > 30 ? 'error' : 'warning',
      ),
    )
  }
  return findings
}
