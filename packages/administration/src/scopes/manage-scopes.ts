import type { ClientOptions, EntryStore, Runtime, ScopeOptions } from '@grantry/core'
import type { Administrator } from '../audit.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EditOptions, type EntryManager, manageEntries } from '../manage-entries.ts'
import type { Managed } from '../managed-entry.ts'
import { refused } from '../refusal.ts'
import { createNewSecret, type RotatedSecret, rotateSecret } from '../secrets.ts'
import { assertNotConfigured, assertNotStored, withdrawScope } from './clients-with-scope.ts'
import { scopeType } from './scope-type.ts'

/**
 * Seconds after a removal in which servers can still issue tokens with the scope: they read the scopes again within a
 * minute, and their clocks can differ.
 */
const settling = 120

const shownTime = (seconds: number): string => new Date(seconds * 1000).toISOString()

/**
 * Returns a scope in the form in which it is added. Authorizations for an earlier scope with the same name do not have
 * the new one, which can belong to another API.
 *
 * @throws RefusedError `in_use` while servers or clients can still have the removed one.
 */
async function againAdded(
  scope: ScopeOptions,
  { entries, now }: { readonly entries: EntryStore; readonly now: () => number },
): Promise<ScopeOptions> {
  const { name } = scope
  const removedAt = await entries.removedAt('scope', name)
  if (removedAt === undefined) return scope
  if (now() / 1000 < removedAt + settling) {
    const message = `the scope ${name} was removed at ${shownTime(removedAt)}, and servers could still issue tokens with it; add it again after ${shownTime(removedAt + settling)}, or use another name`
    throw refused('in_use', message, { member: 'name' })
  }
  await assertNotStored(
    name,
    entries,
    (clients) =>
      `clients have the scope ${name}, which was removed (${clients}), and would get the new one; remove it from them first, or use another name`,
  )
  // Within this time rather than at its end, because clocks can differ in both directions.
  return { ...scope, grantedSince: Math.max(scope.grantedSince ?? 0, removedAt + settling * 0.75) }
}

/** Every process keeps all scopes in memory. */
export const maxScopes = 1000

/** A scope, and its secret if this change has created one. The secret is not stored, and cannot be shown again. */
export interface ScopeWithSecret {
  readonly scope: Managed<ScopeOptions>
  readonly secret?: string | undefined
}

export interface AddScopeOptions {
  /** Creates a secret, with which the API of the scope calls introspection. */
  readonly withSecret?: boolean | undefined
}

export interface RemoveScopeOptions extends Pick<EditOptions, 'version'> {
  /** Removes the scope although clients in the storage have it, and from each of them before. */
  readonly force?: boolean | undefined
}

export interface ScopeManager extends Omit<EntryManager<ScopeOptions>, 'add' | 'remove'> {
  /** Adds a scope. At most 1,000 can be in the storage. */
  add(scope: ScopeOptions, tags?: readonly string[], options?: AddScopeOptions): Promise<ScopeWithSecret>
  /** Adds a secret. The secrets that the scope has end after `overlap` seconds, or when they end anyway. */
  rotateSecret(
    name: string,
    overlap: number,
    options?: Pick<EditOptions, 'version'>,
  ): Promise<ScopeWithSecret & RotatedSecret>
  /** Removes a scope. Refused (`in_use`) while a client has it: see `force`. */
  remove(name: string, options?: RemoveScopeOptions): Promise<void>
}

type Deps = ManageDeps<ScopeOptions> & {
  readonly runtime: Pick<Runtime, 'randomBytes' | 'base64url'>
  readonly configuredClients: readonly Pick<ClientOptions, 'clientId' | 'scopes'>[]
  /** The clients in the storage. They are not checked: they may have become wrong for another reason. */
  readonly clients: Pick<EntryManager<ClientOptions>, 'page' | 'replace'>
}

/** Manages the scopes in the storage in the name of an administrator. */
export function manageScopes(deps: Deps, by: Administrator): ScopeManager {
  const { entries, now, runtime, configuredClients, clients } = deps
  const manager = manageEntries(scopeType, deps, by)
  const newSecret = createNewSecret(runtime)

  async function assertPlace(): Promise<void> {
    let count = 0
    let after: string | undefined
    do {
      const page = await entries.list('scope', { after, limit: maxScopes })
      count += page.entries.length
      after = page.next
    } while (after !== undefined && count < maxScopes)
    if (count >= maxScopes) throw refused('invalid', `there are ${maxScopes} scopes, which is the maximum; remove one`)
  }

  return {
    ...manager,
    async add(requested, tags, { withSecret = false } = {}) {
      await assertPlace()
      const added = await againAdded(requested, deps)
      if (!withSecret) return { scope: await manager.add(added, tags) }
      const { secret, hash } = newSecret()
      const scope = await manager.add({ ...added, secrets: [...(added.secrets ?? []), hash] }, tags)
      return { scope, secret }
    },
    async rotateSecret(name, overlap, options = {}) {
      const change = { ...options, action: 'scope_secret_rotated' }
      const { rotated, ...secrets } = await rotateSecret(manager, name, overlap, change, { now, newSecret })
      return { scope: rotated, ...secrets }
    },
    async remove(name, { force = false, ...options } = {}) {
      const version = (await entries.get('scope', name))?.version
      // The manager refuses the removal before anything changes.
      if (version === undefined || version !== (options.version ?? version)) return manager.remove(name, options)
      assertNotConfigured(name, configuredClients)
      // Comes before the removal, so that a repetition of the command after a crash removes the rest.
      if (force) await withdrawScope(name, clients)
      else await assertNotStored(name, entries)
      return manager.remove(name, { version })
    },
  }
}
