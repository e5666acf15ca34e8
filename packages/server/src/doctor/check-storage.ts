import { isLoopbackHost } from '@grantry/core'
import type { RulePart } from '../check-rules/rule.ts'
import type { StorageConfiguration } from '../configuration/storage/storage-drivers.ts'
import { localPort } from '../local-address.ts'
import type { Facts } from './facts.ts'
import { crossesInPlainText } from './plain-text.ts'

/** Seconds by which clocks may differ. More is a problem, because JWTs are valid from the moment they are issued. */
const maxClockSkew = 2

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

/** Returns the setting that lets a driver confirm writes that are not on the disk. */
function relaxedSetting(storage: StorageConfiguration): string | undefined {
  if (storage.driver === 'filesystem' && !storage.fsync) return 'fsync'
  if (storage.driver === 'sqlite' && storage.synchronous === 'normal') return 'synchronous'
  return storage.driver === 'postgresql' && storage.durability === 'relaxed' ? 'durability' : undefined
}

type Cause = 'keys' | 'eviction' | 'other'

/** Returns the reason why the storage cannot be used, if it has this cause. */
function failureOf({ store }: Facts, cause: Cause): string | undefined {
  if (store.reachable) return undefined
  const isOfKeys = /^keys\b/u.test(store.reason)
  const known = isOfKeys ? 'keys' : store.reason.includes('maxmemory-policy') ? 'eviction' : 'other'
  return known === cause ? store.reason : undefined
}

const failure = (facts: Facts, cause: Cause, where = 'storage') => {
  const reason = failureOf(facts, cause)
  return reason !== undefined && { where, reason }
}

/** The rules for the storage: whether it is reachable, and keeps the records that single use depends on. */
export const storageRules: readonly RulePart<Facts>[] = [
  {
    id: 'store-forgets',
    severity: 'warning',
    remedy:
      'use sqlite, postgresql, filesystem or redis; in memory, a restart logs out all users and loses revocations',
    source: 'docs/guides/configuration.md',
    reason: 'Codes, tokens and revocations are lost when the process ends, and only one process can serve requests',
    check: ({ configuration: { storage, issuer } }) =>
      storage.driver === 'memory' && localPort(issuer) === undefined && 'storage.driver',
  },
  {
    id: 'store-without-fsync',
    severity: 'warning',
    remedy:
      'remove fsync: false, synchronous: normal or durability: relaxed; after a power failure, a redeemed code could be redeemed again',
    source: 'RFC 6749 section 4.1.2',
    check({ configuration: { storage } }) {
      const setting = relaxedSetting(storage)
      const event = setting === 'durability' ? 'crash' : 'power failure'
      const reason = `A ${event} can lose the records of completed requests`
      return setting !== undefined && { where: `storage.${setting}`, reason }
    },
  },
  {
    id: 'store-without-replicas',
    severity: 'warning',
    remedy: 'set storage.waitReplicas to 1, so that a failover loses no redemption',
    source: 'RFC 6749 section 4.1.2; docs/guides/redis.md',
    reason:
      'Writes do not wait for replicas: after a failover, a code or token that was just redeemed can be redeemed again',
    check: ({ configuration: { storage } }) =>
      storage.driver === 'redis' && storage.url === undefined && storage.waitReplicas === 0 && 'storage.waitReplicas',
  },
  {
    id: 'store-unencrypted',
    severity: 'warning',
    remedy:
      'use TLS (sslmode=verify-full, rediss://), unless the network itself encrypts; then accept it in check.accept',
    source: 'RFC 9700 section 2.6; docs/guides/deployment.md',
    check({ configuration: { storage } }) {
      const hosts = addressesInPlainText(storage)
      const reason = `Tokens, codes and the password of the storage cross the network in plain text, to ${hosts.join(', ')}`
      return hosts.length > 0 && { where: 'storage', reason }
    },
  },
  {
    id: 'keys-unreadable',
    severity: 'error',
    remedy: 'follow the instructions for this message in docs/guides/keys.md; the server does not start',
    source: 'docs/guides/keys.md',
    check: (facts) => failure(facts, 'keys', 'keys'),
  },
  {
    id: 'store-evicts',
    severity: 'error',
    remedy: 'set maxmemory-policy noeviction; if a spent marker is evicted, a code can be redeemed twice',
    source: 'RFC 6749 section 4.1.2; docs/guides/redis.md',
    check: (facts) => failure(facts, 'eviction'),
  },
  {
    id: 'store-unusable',
    severity: 'error',
    remedy: 'fix the storage, then run grantry check again',
    source: 'docs/guides/configuration.md',
    check: (facts) => failure(facts, 'other'),
  },
  {
    id: 'store-asynchronous-replicas',
    severity: 'warning',
    remedy: 'set synchronous_standby_names in PostgreSQL, and run one replica more than PostgreSQL waits for',
    source: 'RFC 6749 section 4.1.2; docs/guides/postgresql.md',
    reason:
      'PostgreSQL does not wait for its replicas: after a failover, a code or token that was just redeemed can be redeemed again',
    check: ({ store }) => store.reachable && store.hasAsynchronousReplicas === true && 'storage',
  },
  {
    id: 'store-clock',
    severity: 'warning',
    remedy: 'synchronize the clocks of both machines with NTP',
    source: 'RFC 7519 section 4.1.4',
    check({ store }) {
      const ahead = (store.reachable ? store.clockAhead : undefined) ?? 0
      const seconds = Math.abs(Math.round(ahead))
      const reason = `Its clock is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the clock of this machine`
      const severity = seconds > 30 ? 'error' : 'warning'
      return Math.abs(ahead) > maxClockSkew && { where: 'storage', reason, severity }
    },
  },
  {
    id: 'stored-entry-invalid',
    severity: 'error',
    remedy: 'correct it with grantry clients edit or grantry scopes edit, or remove it',
    source: 'docs/guides/administration.md',
    check: ({ storedProblems }) => storedProblems,
  },
]
