// A provider whose users are in its storage, with counted reads, and an administrator on the same storage.
import { openAdministration, sampleOfHashes, storedUsers } from '@grantry/administration'
import { type EntryStore, openEntries, type UserService } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { TestClock } from '@grantry/testing'
import { type Derive, hashPassword } from '@grantry/users/password-hash'
import type { ConfiguredUser } from '../../packages/server/src/configuration/users-schema.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'
import { hashRenewal } from '../../packages/server/src/users/users-with-stored.ts'

export const password = 'correct horse battery'

/** A hash of `password` with little work. */
export const quickHash = '$scrypt$ln=10,r=8,p=1$c2FsdCBvZiBhIHRlc3QuLg$9D2mhdi+9HTHtRDRhMW8EcEe/HjbbmixsSlCfndeoek'

interface Provider {
  readonly clock: TestClock
  readonly provider: { revoke(target: object): Promise<void> }
}

export interface StoredUserOptions {
  readonly configured?: readonly ConfiguredUser[]
  readonly derive?: Derive
  /** Replaces operations of the entries that the provider uses. */
  readonly failing?: (entries: EntryStore) => Partial<EntryStore>
}

/** @param create creates the provider on the storage, with the users. */
export async function withStoredUsers<P extends Provider>(
  create: (options: { storage: ReturnType<typeof memoryDriver>; users: UserService }) => Promise<P>,
  { configured = [], derive, failing = () => ({}) }: StoredUserOptions = {},
) {
  const storage = memoryDriver()
  const entries = openEntries({ issuer: 'https://id.example.com', storage })
  const reads: string[] = []
  const replaced: Promise<unknown>[] = []
  const seen: EntryStore = { ...entries, ...failing(entries) }
  const stored = storedUsers({
    entries: {
      get: (kind, id) => {
        reads.push(kind)
        return seen.get(kind, id)
      },
      getWithRevision: (kind, id) => {
        reads.push(`state of ${kind}`)
        return seen.getWithRevision(kind, id)
      },
      replace: (...args) => {
        const written = seen.replace(...args)
        replaced.push(written.catch(() => {}))
        return written
      },
    },
    cacheFor: 5,
    renewHash: hashRenewal(entries),
    now: () => service.clock.now(),
  })
  const users = configuredUsers(configured, { stored, hashes: await sampleOfHashes(entries), derive })
  const service = await create({ storage, users })
  const administration = openAdministration({
    entries,
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword,
    revoke: (target) => service.provider.revoke(target),
  })
  return { ...service, ...administration.as({ who: 'alice' }), entries, reads, replaced }
}
